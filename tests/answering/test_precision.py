"""What is printed is what was scored: an answer sent back gets its printed score, to the last bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.asking.parsing import parse_json
from app.settings import Settings
from tests.support.answers import lines_of
from tests.support.live_server import ROOT

PEOPLE = 200
# Plausible and less plausible values around the ranges: the spread of each feature.
SPREAD = {
    "hcv": {
        "ALB": (25, 55), "ALP": (20, 180), "ALT": (5, 150), "AST": (10, 160), "BIL": (1, 60),
        "CHE": (2, 14), "CHOL": (2, 9), "CREA": (40, 150), "GGT": (5, 200), "PROT": (50, 90),
    },
    "thyroid": {"FTI": (20, 180), "TSH": (0.1, 60), "T3": (0.3, 5), "TT4": (20, 200)},
    "synthetic": dict.fromkeys("ABCD", (-2.0, 1.0)),
    "mortgage": {
        "pirat": (0.2, 0.7), "hirat": (0.1, 0.5), "lvrat": (0.5, 1.2), "chist": (1, 6), "mhist": (1, 4),
        "phist": (0, 1), "unemp": (2, 10), "selfemp": (0, 1), "condomin": (0, 1), "hschool": (0, 1),
    },
}  # fmt: skip
SPREAD |= {f"{name}@2": SPREAD[name] for name in ("hcv", "mortgage")}


@pytest.fixture(scope="module")
def service() -> Service:
    settings = Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def people(service: Service, model: str) -> list[dict[str, Any]]:
    rng = np.random.default_rng(11)
    whole = {feature.name: feature.whole for feature in service.catalog.models[model].features}
    return [
        {
            name: int(rng.integers(low, high + 1)) if whole[name] else float(np.round(rng.uniform(low, high), 3))
            for name, (low, high) in SPREAD[model].items()
        }
        for _ in range(PEOPLE)
    ]


def ask(service: Service, model: str, body: bytes) -> list[dict[str, Any]]:
    return lines_of(service, parse_json(body), model)


@pytest.mark.parametrize("model", list(SPREAD))
def test_a_printed_answer_scores_as_it_is_printed(service: Service, model: str):
    sent_back = 0
    for person in people(service, model):
        body: dict[str, Any] = {"instance": person, "context": {"sex": "female", "age": 47}}
        for line in ask(service, model, json.dumps(body).encode()):
            if line["type"] == "counterfactual":
                again = ask(service, model, json.dumps({**body, "instance": line["instance"]}).encode())
                assert again[0]["prediction"] == line["prediction"]
                assert again[-1]["outcome"] == "already_favourable"
                sent_back += 1
    assert sent_back > 50


def test_the_models_are_those_that_are_shipped():
    assert set(SPREAD) == {folder.name for folder in Path(ROOT / "models").iterdir()}
