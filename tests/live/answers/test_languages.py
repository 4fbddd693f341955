"""Answers in other languages over HTTP: sentences, titles and reasons change, and nothing else."""

import json
from typing import Any

import httpx
import pytest

from tests.support.live_server import ROOT

# What may differ between languages, wherever it stands.
TEXTS = {"sentence", "title", "short", "text", "explanation", "note", "rationale"}
TIMES = {"elapsed_ms"}
BUNDLE = json.loads((ROOT / "docs/examples/liver-panel.fhir.json").read_text())
SEVERAL = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())
FHIR = "application/fhir+json"


def example(name: str) -> Any:
    return json.loads((ROOT / "models" / f"{name}.json").read_text())


def plain(value: Any) -> Any:
    """What programs read."""
    if isinstance(value, dict):
        return {key: plain(content) for key, content in value.items() if key not in TEXTS | TIMES}
    return [plain(content) for content in value] if isinstance(value, list) else value


def asked(client: httpx.Client, path: str, language: str | None, body: Any = None, **headers: str) -> httpx.Response:
    spoken = {} if language is None else {"Accept-Language": language}
    method = "GET" if body is None else "POST"
    answer = client.request(method, path, json=body, headers={**headers, **spoken})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-language"] == (language or "en")
    assert answer.headers["vary"] == "Accept-Language"
    return answer


JSON = {"Accept": "application/json"}
PATHS = [
    ("/v1/models/mortgage/counterfactuals", SEVERAL, JSON),
    ("/v1/models/hcv/counterfactuals", example("hcv/examples/no-way-out"), JSON),
    ("/v1/models/mortgage/reasons", SEVERAL, JSON),
    ("/v1/models/hcv:explain", {"instances": [example("hcv/examples/several-ways")["instance"]]}, JSON),
    ("/v1/models", None, JSON),
    ("/v1/models/mortgage", None, JSON),
    ("/v1/normal-ranges/mortgage", None, JSON),
]


@pytest.mark.parametrize(("path", "body", "headers"), PATHS, ids=[path for path, _, _ in PATHS])
def test_only_texts_for_people_change(client: httpx.Client, path: str, body: Any, headers: dict[str, str]):
    english = asked(client, path, None, body, **headers).json()
    told = {language: asked(client, path, language, body, **headers).json() for language in ("de", "es")}
    for answer in told.values():
        assert plain(answer) == plain(english)
        assert answer != english
    assert told["de"] != told["es"]
    assert plain(asked(client, path, "en", body, **headers).json()) == plain(english)


SPANISH = "Reducir la relación deuda-ingresos de 0,42 a 0,36 y reducir la relación vivienda-ingresos de 0,34 a 0,28."


def test_the_plans_of_an_applicant_in_three_languages(client: httpx.Client):
    told = {
        language: asked(client, PATHS[0][0], language, SEVERAL, **JSON).json()["counterfactuals"][0]["sentence"]
        for language in ("en", "de", "es", "es-US")
    }
    assert told == {
        "en": "Lower debt-to-income from 0.42 to 0.36 and lower housing-to-income from 0.34 to 0.28.",
        "de": "Schuldendienstquote von 0,42 auf 0,36 senken und Wohnkostenquote von 0,34 auf 0,28 senken.",
        "es": SPANISH,
        "es-US": SPANISH.replace("0,", "0."),
    }


def test_the_reasons_of_an_applicant_in_german(client: httpx.Client):
    told = asked(client, "/v1/models/mortgage/reasons", "de", SEVERAL).json()
    first = told["reasons"][0]
    assert (first["text"], first["code"]) == ("Zu hohe Verbindlichkeiten im Verhältnis zum Einkommen", "1")
    assert first["title"] == "Schuldendienst im Verhältnis zum Einkommen"
    assert first["variation"]["sentence"] == (
        "Mit folgenden Werten hätte die Entscheidung „bewilligt“ gelautet: "
        "Schuldendienstquote 0,36 statt 0,42 und Wohnkostenquote 0,28 statt 0,34."
    )
    assert told["explanation"].startswith("Jedes genannte Merkmal liegt außerhalb seines Bereichs")
    assert "keine rechtliche Bewertung" in told["note"]


def test_a_risk_assessment_says_which_language_it_is_in(client: httpx.Client):
    headers = {"Accept": FHIR, "Content-Type": FHIR}
    path = "/v1/models/hcv/counterfactuals"
    english = asked(client, path, None, BUNDLE, **headers).json()
    spanish = asked(client, path, "es", BUNDLE, **headers).json()
    assert "language" not in english
    assert spanish["language"] == "es"
    assert spanish["prediction"][1]["rationale"] == (
        "Con la albúmina en 44 g/L en lugar de 31,3 g/L y la AST (GOT) en 20,5 U/L en lugar de 75 U/L."
    )
    assert spanish["prediction"][1]["probabilityDecimal"] == english["prediction"][1]["probabilityDecimal"]


def test_a_card_in_german_fits_its_summary(client: httpx.Client):
    (service,) = [each for each in asked(client, "/cds-services", "de").json()["services"] if each["id"] == "hcv"]
    assert service["title"] == "Hepatitis C anhand von Blutwerten"
    patient = next(entry["resource"] for entry in BUNDLE["entry"] if entry["resource"]["resourceType"] == "Patient")
    others = [entry for entry in BUNDLE["entry"] if entry["resource"] is not patient]
    body = {
        "hook": "patient-view",
        "hookInstance": "d1577c69-dfbe-44ad-ba6d-3e05e953b2ea",
        "context": {"userId": "Practitioner/1", "patientId": patient["id"]},
        "prefetch": {
            "patient": patient,
            "observations": {"resourceType": "Bundle", "type": "searchset", "entry": others},
        },
    }
    (card,) = asked(client, "/cds-services/hcv", "de", body).json()["cards"]
    assert card["summary"] == (
        "Hepatitis C anhand von Blutwerten: Modellergebnis „Hepatitis“. "
        "6 minimale Kombinationen anderer Werte ändern die Entscheidung des Modells."
    )
    assert (
        "1. Mit folgenden Werten käme das Modell zum Ergebnis „gesund“: Albumin 44 g/L statt 31,3 g/L und "
        in card["detail"]
    )
    assert "3 weitere." in card["detail"]


@pytest.mark.parametrize("language", ["fr", "xx-YY", "*", "de;q=0", "\xff", "x" * 5_000, "{feature}", "../de"])
def test_a_language_that_is_not_spoken_here_gets_english(client: httpx.Client, language: str):
    english = asked(client, PATHS[0][0], None, SEVERAL, **JSON).json()
    headers = {"Accept": "application/json", "Accept-Language": language.encode("latin-1")}
    answer = client.post(PATHS[0][0], json=SEVERAL, headers=headers)
    assert answer.headers["content-language"] == "en"
    answer.json()["summary"].pop("elapsed_ms")
    assert answer.json()["counterfactuals"] == english["counterfactuals"]


def test_refusals_and_what_has_no_sentences_depend_on_no_language(client: httpx.Client):
    refused = client.post(PATHS[0][0], json={}, headers={"Accept-Language": "de"})
    predicted = client.post("/v1/models/hcv/predictions", json={"instance": {}}, headers={"Accept-Language": "de"})
    for answer in (refused, predicted):
        assert answer.status_code == 422
        assert "content-language" not in answer.headers
