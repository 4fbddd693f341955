"""People whose model lives elsewhere: a server that fails is never a person who is rejected."""

import json
from pathlib import Path

import pytest

from app.adapters.catalog import load_catalog
from app.adapters.predictors.failures import PredictorUnavailable
from app.answering.service import Service
from app.cohorts.solving.one_by_one import ask
from app.settings import Settings
from tests.support.live_server import ROOT
from tests.support.predictors import FakePredictor, onnx_scores, write_remote

PERSON = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())


@pytest.mark.parametrize("honest", [0, 1])
def test_a_predictor_that_fails_before_or_in_a_search_ends_the_run(tmp_path: Path, honest: int):
    fake, asked = FakePredictor(onnx_scores(), 10), iter(range(honest))

    def fail(status: int, answer: dict, behind: bytes) -> tuple[int, dict, bytes]:
        return (status, answer, behind) if next(asked, None) is not None else (500, {}, b"")

    with fake.running() as url:
        write_remote(tmp_path / "models/hcv", url, retries=0)
        service = Service(Settings(), load_catalog(tmp_path / "models", ROOT / "normal_ranges"))
        body = {**PERSON, "limits": {"engine": "cemsp"}}
        assert ask(service, service.model("hcv"), body).answers
        fake.spoil = fail
        with pytest.raises(PredictorUnavailable):
            ask(service, service.model("hcv"), body)
        service.close()
