"""Answers through every door are recorded, and the same when they are asked for again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.describing.reasons import Reasons
from app.api.records.described import RecordDetails
from tests.live.asking import refused
from tests.live.cds_hooks.test_cards import PANEL, asked
from tests.support.live_server import ROOT, LiveServer, live_server
from tests.support.waiting import eventually

FHIR = "application/fhir+json"
LOAN = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())
LIVER = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())

HELD_AGAINST = {"noise": {"pirat": {"sd": 0.01}}, "draws": 20}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("doors")
    with live_server(records=f"sqlite:///{folder}/r.db", record_all="true") as server:
        yield server


@pytest.fixture
def client(recording: LiveServer) -> Iterator[httpx.Client]:
    with recording.client() as client:
        yield client


def kept(client: httpx.Client, name: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found = client.get(f"/v1/records/{name}")
        return found.json() if found.status_code == 200 and found.json()["state"] == "kept" else None

    record = eventually(look)
    RecordDetails.model_validate(record)
    return record


def post(path: str, body: Any, **headers: str) -> tuple[str, Any, dict[str, str]]:
    return path, body, headers


DOORS = {
    "plans": post("/v1/models/hcv/counterfactuals", LIVER),
    "the way to each": post("/v1/models/mortgage/counterfactuals", {**LOAN, "registry": "mortgage-steps"}),
    "how little": post("/v1/models/mortgage/counterfactuals", {**LOAN, "least": True}),
    "relations": post(
        "/v1/models/mortgage/counterfactuals", {**LOAN, "constraints": {"relations": ["hirat <= pirat"]}}
    ),
    "robustness": post(
        "/v1/models/mortgage/counterfactuals",
        {**LOAN, "robustness": {**HELD_AGAINST, "models": ["mortgage@2"], "more": "tell", "order": "stability"}},
    ),
    "in German": post("/v1/models/mortgage/counterfactuals", LOAN, **{"Accept-Language": "de"}),
    "reasons": post("/v1/models/mortgage/reasons", LOAN),
    "reasons in German": post("/v1/models/mortgage/reasons", LOAN, **{"Accept-Language": "de"}),
    "a Bundle": post("/v1/models/hcv/counterfactuals", PANEL, **{"Content-Type": FHIR}),
    "a RiskAssessment": post("/v1/models/hcv/counterfactuals", PANEL, **{"Content-Type": FHIR, "Accept": FHIR}),
    "reasons of a Bundle": post("/v1/models/hcv/reasons", PANEL, **{"Content-Type": FHIR}),
    "a card": post("/cds-services/hcv", asked()),
    "KServe": post("/v1/models/hcv:explain", {"instances": [LIVER["instance"]], "context": LIVER.get("context", {})}),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_comes_through_a_door_is_recorded_and_replayed(client: httpx.Client, door: str):
    path, body, headers = DOORS[door]
    content, headers = json.dumps(body), {"Content-Type": "application/json", **headers}

    def asks() -> httpx.Response | None:
        """A card has so little time that a busy machine may come too late."""
        answer = client.post(path, content=content, headers=headers)
        return None if answer.status_code == 503 else answer

    answer = eventually(asks)
    assert answer.status_code == 200, answer.text
    name = answer.headers["Flipset-Record"]
    record = kept(client, name)
    assert record["request"]["instance"]
    said = client.post(f"/v1/records/{name}/replay").json()
    assert (said["same"], said["differences"]) == (True, [])
    assert said["compared"] == ("plans" if record["sealed"]["answer"]["stopped_by"] == "deadline" else "answer")


def test_an_answer_about_reasons_is_kept_whole(client: httpx.Client):
    said = client.post("/v1/models/mortgage/reasons", json={**LOAN, "record": {"subject": "loan-1"}}).json()
    Reasons.model_validate(said)
    assert said["recorded"] is True
    record = kept(client, said["record"])
    assert (record["outcome"], record["start"], record["plans"]) == ("found", None, [])
    ours = ("record", "recorded", "elapsed_ms")
    assert record["summary"] == {name: value for name, value in said.items() if name not in ours}
    assert record["sealed"]["answer"] == {"kind": "reasons", "sent": 0, "stopped_by": None}
    tried = {"plan": 1, "outcome": "tried"}
    assert "had none" in refused(client.post(f"/v1/records/{record['id']}/feedback", json=tried), 422)["plan"]
    refused(client.post("/v1/models/mortgage/reasons", json={"record": {"subject": "a b"}, **LOAN}), 422)


def test_all_subsets_are_not_recorded(client: httpx.Client):
    assert "Flipset-Record" not in client.post("/v1/models/hcv/subsets", json=LIVER).headers
    asked_for = client.post("/v1/models/hcv/subsets", json={**LIVER, "record": {}})
    assert "nothing is recorded of all subsets" in refused(asked_for, 422)["record"]


@pytest.mark.slow
def test_an_answer_that_has_no_summary_says_in_a_header_that_its_record_may_be_missing(tmp_path: Path):
    folder = tmp_path / "store"
    folder.mkdir()
    with live_server(records=f"sqlite:///{folder}/r.db", record_all="true") as server, server.client() as client:
        folder.rename(tmp_path / "elsewhere")
        path, body, headers = DOORS["a RiskAssessment"]

        def says_so() -> bool:
            answer = client.post(path, content=json.dumps(body), headers=headers)
            assert answer.status_code == 200
            return answer.headers.get("Flipset-Recorded") == "false"

        eventually(says_so)
        said = client.post("/v1/models/mortgage/reasons", json=LOAN).json()
        assert said["recorded"] is False
        (tmp_path / "elsewhere").rename(folder)
        kept(client, said["record"])
