"""Bundles over HTTP: the answer of the plain request in every form, and refusals that name the Observation."""

import json
from typing import Any

import httpx
import pytest
from fhir.resources.R4B.riskassessment import RiskAssessment

from app.api.describing.reasons import Reasons
from app.api.describing.start import Start
from tests.live.asking import lines_of, refused
from tests.support.bundles import UCUM, made_bundle
from tests.support.live_server import ROOT, live_server
from tests.support.waiting import eventually

PANEL = (ROOT / "docs/examples/liver-panel.fhir.json").read_text()
FHIR = {"Content-Type": "application/fhir+json"}


def send(client: httpx.Client, bundle: Any, path: str = "counterfactuals", **headers: str) -> httpx.Response:
    content = bundle if isinstance(bundle, str) else json.dumps(bundle)
    return client.post(f"/v1/models/hcv/{path}", content=content, headers={**FHIR, **headers})


def test_lines_say_where_each_value_and_range_is_from(client: httpx.Client):
    start, *rest = lines_of(send(client, PANEL))
    Start.model_validate(start)
    used = {entry["feature"]: entry for entry in start["observations"]}
    assert len(used) == 10
    assert used["AST"] == {
        "feature": "AST",
        "observation": "Observation/ast",
        "effective": "2024-11-02T08:15:00+01:00",
        "unit": "U/L",
        "range": "observation",
    }
    held = {feature["name"]: (feature["low"], feature["high"]) for feature in start["features"]}
    assert held["AST"] == (10, 31)
    assert rest[-1]["type"] == "summary"


@pytest.mark.parametrize("seed", range(25_200_000, 25_200_005))
def test_a_bundle_and_its_plain_request_get_the_same_lines(client: httpx.Client, seed: int):
    made = made_bundle(seed)
    if made.refused is not None:
        assert any(field.startswith(made.refused) for field in refused(send(client, made.bundle), 422))
        return
    start, *lines = lines_of(send(client, made.bundle))
    plain, *expected = lines_of(client.post("/v1/models/hcv/counterfactuals", json=made.request))
    assert {key: value for key, value in start.items() if key != "observations"} == plain
    for line in (*lines, *expected):
        line.pop("elapsed_ms", None)
    assert lines == expected


def test_a_long_bundle_is_read_too(client: httpx.Client):
    """Long bodies are parsed and read in threads."""
    bundle = json.loads(PANEL)
    bundle["entry"] += [{"resource": {"resourceType": "Condition", "note": [{"text": "x" * 100}]}}] * 1_000
    assert lines_of(send(client, bundle))[0]["observations"]


def test_an_assessment_comes_as_fhir(client: httpx.Client):
    answer = send(client, PANEL, Accept="application/fhir+json")
    assert answer.headers["content-type"] == "application/fhir+json"
    resource = RiskAssessment.model_validate(answer.json())
    assert resource.subject.reference == "Patient/anna"
    assert len(resource.basis) == 10


def test_reasons_take_a_bundle_too(client: httpx.Client):
    told = send(client, PANEL, "reasons").json()
    Reasons.model_validate(told)
    assert told["reasons"][0]["feature"] == "AST"


def test_a_refusal_names_the_observation_and_no_value(client: httpx.Client):
    bundle = json.loads(PANEL)
    bundle["entry"][3]["resource"]["valueQuantity"] = {
        "value": 271828,
        "comparator": ">",
        "code": "U/L",
        "system": UCUM,
    }
    answer = send(client, bundle)
    assert refused(answer, 422) == {
        "entry[3].resource.valueQuantity.comparator": "(ALT) tells a bound and no value; send a measured value"
    }
    assert "271828" not in answer.text


def test_a_model_without_codes_says_so(client: httpx.Client):
    answer = client.post("/v1/models/mortgage/counterfactuals", content=PANEL, headers=FHIR)
    fields = refused(answer, 422)
    assert "names no LOINC code" in fields["instance.pirat"]


@pytest.mark.slow
def test_a_record_of_a_bundle_holds_the_request_that_it_amounts_to(tmp_path):
    """Whatever form the answer has, the record holds the lines of the plain request."""
    with (
        live_server(records=f"sqlite:///{tmp_path}/records.db", record_all="true") as server,
        server.client() as client,
    ):
        kept = []
        for accept in ("application/json", "application/fhir+json"):
            answer = send(client, PANEL, Accept=accept)
            assert answer.status_code == 200
            name = answer.headers["Flipset-Record"]
            kept.append(eventually(lambda name=name: _kept(client, name)))
        assert kept[0]["request"] == kept[1]["request"]
        assert kept[0]["request"]["instance"]["ALB"] == 31.3
        assert "observations" not in kept[0]["start"]
        assert kept[0]["plans"] == kept[1]["plans"]


def _kept(client: httpx.Client, name: str) -> dict[str, Any] | None:
    answer = client.get(f"/v1/records/{name}")
    told = answer.json() if answer.status_code == 200 else {}
    return told if told.get("state") == "kept" else None
