"""A live service whose model lives elsewhere: its answers, and what it says when the other server does not answer."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.live_server import FLIPSET, ROOT, LiveServer, live_server
from tests.support.predictors import FakePredictor, onnx_scores, write_remote

PATH = "/v1/models/hcv/counterfactuals"
PATIENT = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
PEOPLE = [json.loads(file.read_text()) for file in sorted((ROOT / "models/hcv/examples").glob("*.json"))]


@pytest.fixture(scope="module")
def fake() -> Iterator[FakePredictor]:
    predictor = FakePredictor(onnx_scores(), 10)
    with predictor.running():
        yield predictor


@pytest.fixture(scope="module")
def remote(fake: FakePredictor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    models = tmp_path_factory.mktemp("remote") / "models"
    write_remote(models / "hcv", f"http://127.0.0.1:{fake.port}", retries=0)
    with live_server(models) as running:
        yield running


@pytest.fixture(autouse=True)
def honest(fake: FakePredictor) -> Iterator[None]:
    yield
    fake.spoil = None


def answers(client: httpx.Client, person: dict) -> dict:
    answer = client.post(PATH, json=person, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    found["summary"].pop("elapsed_ms")
    for changing in ("engine", "proof", "model_calls", "model_rows"):
        found["summary"].pop(changing)
    found["start"].pop("model")
    return found


def test_the_answers_are_those_of_the_model_at_home(remote: LiveServer, client: httpx.Client):
    with remote.client() as elsewhere:
        for person in PEOPLE:
            assert answers(elsewhere, person) == answers(client, person)


def test_start_and_the_listings_claim_no_digest(remote: LiveServer):
    with remote.client() as client:
        start = json.loads(client.post(PATH, json=PEOPLE[0]).text.splitlines()[0])
        assert start["model"]["sha256"] is None
        assert start["model"]["description_sha256"]
        described = client.get("/v1/models/hcv").json()
        assert described["sha256"] is None
        assert described["structure"]["kind"] == "opaque"
        assert "lives elsewhere" in described["structure"]["why"]
        refused = client.post(PATH, json={**PEOPLE[0], "limits": {"engine": "through"}})
        assert refused.status_code == 422


def test_rows_and_seconds_are_counted(remote: LiveServer):
    with remote.client() as client:
        client.post("/v1/models/hcv/predictions", json={"instance": PEOPLE[0]["instance"]})
        page = client.get("/metrics").text
    assert 'flipset_model_rows_total{model="hcv"}' in page
    assert 'flipset_model_seconds_total{model="hcv"}' in page
    assert 'sha256="elsewhere"' in page


@pytest.mark.parametrize("path", [PATH, "/v1/models/hcv/predictions", "/v1/models/hcv/subsets"])
def test_a_predictor_that_fails_before_the_first_byte_is_a_503_that_says_when_to_come_back(
    fake: FakePredictor, remote: LiveServer, path: str
):
    fake.spoil = lambda status, answer, behind: (500, {"error": "boom"}, b"")
    with remote.client() as client:
        refused = client.post(path, json={"instance": PEOPLE[0]["instance"]})
    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.json()["type"] == "urn:flipset:problem:predictor-unavailable"
    assert "127.0.0.1" not in refused.text


def test_one_that_lies_in_the_middle_of_a_search_ends_it_with_an_error_line(fake: FakePredictor, remote: LiveServer):
    """The first question is about the instance; from the second on no reply can be trusted."""
    asked = iter(range(1))

    def lie(status: int, answer: dict, behind: bytes) -> tuple[int, dict, bytes]:
        return (status, answer, behind) if next(asked, None) is not None else (status, {"outputs": []}, b"")

    fake.spoil = lie
    with remote.client() as client:
        answer = client.post(PATH, json={**PATIENT, "limits": {"engine": "cemsp"}})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [lines[0]["type"], lines[-1]["type"]] == ["start", "error"]
    assert lines[-1]["problem"]["type"] == "urn:flipset:problem:predictor-unavailable"
    assert remote.logs("The predictor of hcv cannot be trusted")


def test_a_slow_one_is_given_up_at_the_deadline(fake: FakePredictor, remote: LiveServer):
    fake.delay = 30
    try:
        with remote.client() as client:
            refused = client.post(PATH, json={**PEOPLE[0], "limits": {"deadline_ms": 100}})
    finally:
        fake.delay = 0
    assert refused.json()["type"] == "urn:flipset:problem:model-too-slow"


def test_a_service_whose_predictor_is_not_there_says_so_and_does_not_start(tmp_path: Path):
    write_remote(tmp_path / "models/hcv", "http://127.0.0.1:9", retries=0)
    environment = {**os.environ, "FLIPSET_MODELS_DIR": str(tmp_path / "models")}
    told = subprocess.run([FLIPSET, "validate"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode != 0
    assert "predictor: cannot be reached" in told.stdout + told.stderr
