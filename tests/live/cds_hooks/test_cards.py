"""CDS Hooks with a real server: discovery, cards, what is refused, tokens and feedback."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.live.asking import refused, workers_of
from tests.support.live_server import ROOT, LiveServer, live_server
from tests.support.tokens import STRANGERS, token, write_clients
from tests.support.waiting import eventually

PANEL = json.loads((ROOT / "docs/examples/liver-panel.fhir.json").read_text())
PAGE = "https://flipset.example.org/"


def asked(**changes: Any) -> dict[str, Any]:
    """What a client sends when the chart of the example is opened."""
    patient, *observations = PANEL["entry"]
    prefetch = {
        "patient": patient["resource"],
        "observations": {"resourceType": "Bundle", "type": "searchset", "entry": observations},
    }
    return {
        "hook": "patient-view",
        "hookInstance": str(uuid4()),
        "fhirServer": "https://ehr.example.org/fhir",
        "fhirAuthorization": {"access_token": "secret", "token_type": "Bearer"},
        "context": {"userId": "Practitioner/example", "patientId": "anna"},
        "prefetch": prefetch,
        **changes,
    }


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """Two workers, keys nowhere, clients with tokens, and records."""
    folder = tmp_path_factory.mktemp("clinic")
    settings = {
        "cds_clients_file": str(write_clients(folder)),
        "records": f"sqlite:///{folder}/records.db",
        "public_url": PAGE,
        "workers": "2",
    }
    with live_server(**settings) as running:
        yield running


def call(client: httpx.Client, body: Any, bearer: str | None = None, path: str = "hcv") -> httpx.Response:
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    return client.post(f"/cds-services/{path}", json=body, headers=headers)


def test_a_model_with_codes_is_a_service(client: httpx.Client):
    services = {service["id"]: service for service in client.get("/cds-services").json()["services"]}
    assert set(services) == {"hcv", "hcv@2"}
    hcv = services["hcv"]
    assert (hcv["hook"], hcv["title"]) == ("patient-view", "Hepatitis C from a blood panel")
    assert hcv["prefetch"]["patient"] == "Patient/{{context.patientId}}"
    assert "http://loinc.org|1742-6" in hcv["prefetch"]["observations"]


def test_a_card_tells_the_finding_and_the_first_plans(client: httpx.Client):
    (card,) = call(client, asked()).json()["cards"]
    assert card["indicator"] == "info"
    assert len(card["summary"]) < 140
    assert "1. With albumin 44 g/L instead of 31.3 g/L and AST 20.5 U/L instead of 75 U/L" in card["detail"]
    assert "does not say that changing a value" in card["detail"]
    assert card["source"] == {"label": "Flipset, model hcv 1.0.0"}
    # No empty members: there is no address of the page, and no record.
    assert set(card) == {"summary", "indicator", "detail", "source"}


def test_a_favourable_decision_gets_no_card(client: httpx.Client):
    healthy = {"ALB": 45, "ALP": 70, "ALT": 20, "AST": 20, "BIL": 0.5, "CHE": 9, "CHOL": 5, "CREA": 70, "GGT": 20}
    body = json.loads(json.dumps(asked()))
    for entry in body["prefetch"]["observations"]["entry"]:
        name = entry["resource"]["id"].upper()
        entry["resource"]["valueQuantity"]["value"] = healthy.get(name, 72)
    assert call(client, body).json() == {"cards": []}


def test_missing_data_is_412_and_named(client: httpx.Client):
    assert refused(call(client, asked(prefetch=None)), 412) == {
        "prefetch.patient": "is missing; Flipset asks no FHIR server",
        "prefetch.observations": "is missing; Flipset asks no FHIR server",
    }
    body = json.loads(json.dumps(asked()))
    del body["prefetch"]["observations"]["entry"][3]
    assert set(refused(call(client, body), 412)) == {"instance.AST"}


@pytest.mark.parametrize(
    "changes",
    [{"hook": "order-sign"}, {"context": {}}, {"hookInstance": ""}, {"prefetch": []}, {"context": {"patientId": 7}}],
)
def test_what_is_no_request_is_refused(client: httpx.Client, changes: dict[str, Any]):
    assert refused(call(client, asked(**changes)), 422)


def test_another_patient_is_refused(client: httpx.Client):
    assert "prefetch.patient" in refused(call(client, asked(context={"patientId": "someone-else"})), 412)


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("an Observation", "prefetch.observations.entry[3]"),
        ({"resource": [1]}, "prefetch.observations.entry[3].resource"),
        ({"fullUrl": 7}, "prefetch.observations.entry[3].fullUrl"),
        ({"resource": {"resourceType": "Patient", "id": "other"}}, "prefetch.observations.entry[3].resource"),
        (
            {**PANEL["entry"][0], "modifierExtension": [{"url": "http://example.org/absent"}]},
            "prefetch.observations.entry[3].modifierExtension",
        ),
    ],
)
def test_what_cannot_be_used_is_named_by_its_place_in_the_prefetch(client: httpx.Client, entry: Any, field: str):
    body = json.loads(json.dumps(asked()))
    body["prefetch"]["observations"]["entry"].insert(3, entry)
    assert set(refused(call(client, body), 412)) == {field}


def test_the_patient_is_named_too(client: httpx.Client):
    body = json.loads(json.dumps(asked()))
    body["prefetch"]["patient"]["gender"] = "f"
    assert set(refused(call(client, body), 412)) == {"prefetch.patient.gender"}


@pytest.mark.parametrize("model", ["mortgage", "nothing"])
def test_other_models_are_no_services(client: httpx.Client, model: str):
    answer = call(client, asked(), path=model)
    assert answer.status_code == 404
    assert "Available: hcv, hcv@2" in answer.json()["detail"]


@pytest.mark.slow
def test_where_clients_are_listed_a_token_is_needed(clinic: LiveServer):
    with clinic.client() as client:
        assert len(client.get("/cds-services").json()["services"]) == 2
        assert call(client, asked()).status_code == 401
        assert call(client, asked(), token(key=STRANGERS["ES384"])).status_code == 401
        for algorithm in ("ES384", "RS384"):
            made = token(algorithm)
            answer = call(client, asked(), made)
            assert answer.status_code == 200, answer.text
            # Neither worker takes it again.
            assert {call(client, asked(), made).status_code for _ in range(8)} == {401}
        (card,) = answer.json()["cards"]
        assert card["links"] == [{"label": "Open Flipset", "url": PAGE, "type": "absolute"}]


@pytest.mark.slow
def test_a_token_is_for_one_service(clinic: LiveServer):
    with clinic.client() as client:
        assert call(client, asked(), token(), path="hcv@2").status_code == 401


@pytest.mark.slow
def test_who_may_use_some_models_learns_nothing_of_others(tmp_path: Path):
    limited = write_clients(tmp_path, models=["hcv"])
    with live_server(cds_clients_file=str(limited)) as server, server.client() as client:
        told = set()
        for path in ("hcv@2", "mortgage", "nothing", "nothing/feedback"):
            audience = f"https://flipset.example.org/cds-services/{path.partition('/')[0]}"
            body = {"feedback": [{"card": str(uuid4()), "outcome": "accepted"}]} if "/" in path else asked()
            answer = call(client, body, token(aud=[audience, "https://flipset.example.org"]), path=path)
            assert answer.status_code == 404, answer.text
            told.add(answer.json()["detail"].partition("Available: ")[2])
        assert told == {"hcv."}


@pytest.mark.slow
def test_a_worker_that_takes_the_place_of_another_knows_which_tokens_were_used(tmp_path: Path):
    with live_server(cds_clients_file=str(write_clients(tmp_path))) as server, server.client() as client:
        made = token()
        assert call(client, asked(), made).status_code == 200
        (worker,) = workers_of(server, 1)
        os.kill(worker, signal.SIGKILL)
        workers_of(server, 2)
        with server.client() as another:
            assert call(another, asked(), made).status_code == 401


@pytest.mark.slow
def test_feedback_goes_into_the_records(clinic: LiveServer):
    with clinic.client() as client:
        answer = call(client, asked(), token())
        (card,) = answer.json()["cards"]
        name = answer.headers["Flipset-Record"]
        assert card["uuid"].replace("-", "") == name

        def kept() -> dict[str, Any] | None:
            found = client.get(f"/v1/records/{name}")
            return found.json() if found.status_code == 200 and found.json()["state"] == "kept" else None

        assert eventually(kept)["request"]["instance"]["ALB"] == 31.3
        body = {
            "feedback": [{"card": card["uuid"], "outcome": "overridden", "outcomeTimestamp": "2026-11-18T10:00:00Z"}]
        }
        audience = "https://flipset.example.org"
        given = call(client, body, token(aud=audience), path="hcv/feedback")
        assert given.status_code == 200, given.text
        told = client.get(f"/v1/records/{name}").json()["feedback"]
        assert [(entry["plan"], entry["outcome"]) for entry in told] == [(1, "declined")]
        unknown = {"feedback": [{"card": str(uuid4()), "outcome": "accepted"}]}
        assert call(client, unknown, token(aud=audience), path="hcv/feedback").status_code == 404


@pytest.mark.slow
def test_a_card_without_a_plan_asks_for_no_feedback(clinic: LiveServer):
    body = json.loads(json.dumps(asked()))
    for entry in body["prefetch"]["observations"]["entry"]:
        entry["resource"]["referenceRange"] = [{"low": {"value": 0}, "high": {"value": 1_000}}]
    with clinic.client() as client:
        answer = call(client, body, token())
        (card,) = answer.json()["cards"]
        assert "No values inside the normal ranges" in card["summary"]
        assert "uuid" not in card
        assert answer.headers["Flipset-Record"]


def test_without_records_there_is_no_feedback(client: httpx.Client):
    body = {"feedback": [{"card": str(uuid4()), "outcome": "accepted"}]}
    assert call(client, body, path="hcv/feedback").status_code in (404, 503)


@pytest.mark.slow
def test_a_file_of_clients_that_cannot_be_read_stops_the_start(tmp_path: Path):
    (tmp_path / "clients.toml").write_text('audience = "x"\n')
    said = f"the server did not start:(.|\n)*{tmp_path}/clients.toml: clients: is missing"
    with pytest.raises(AssertionError, match=said), live_server(cds_clients_file=str(tmp_path / "clients.toml")):
        pass
