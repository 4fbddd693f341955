"""Health, listings, predictions and documentation of a real server."""

import json
from typing import Any

import httpx
import pytest

from tests.live.asking import PERSON, ask, lines_of, refused


def test_health(client: httpx.Client):
    assert client.get("/livez").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_what_is_served_is_listed(client: httpx.Client):
    assert [model["name"] for model in client.get("/v1/models").json()["models"]] == [
        "hcv",
        "hcv@2",
        "mortgage",
        "mortgage@2",
        "synthetic",
        "thyroid",
    ]
    details = client.get("/v1/models/hcv").json()
    assert details["registries"] == ["hcv", "hcv-grades", "hcv-paper", "hcv-paper-tight"]
    compared_as = {"type": "float32", "threshold": None}
    assert details["target"] == {"classes": ["healthy"], "threshold": None, "compared_as": compared_as}
    assert details["features"][2]["ranges"][0] | {"source": ""} == {
        "low": 10,
        "high": 35,
        "when": {"sex": "female"},
        "source": "",
    }
    registry = client.get("/v1/normal-ranges/hcv").json()
    assert registry["features"]["ALT"]["unit"] == "U/L"


def test_predictions_for_one_and_for_several(client: httpx.Client):
    path = "/v1/models/synthetic/predictions"
    one = client.post(path, json={"instance": PERSON}).json()
    assert one["prediction"] == {"label": "unfavourable", "score": 0.0, "favourable": False}
    better = {**PERSON, "A": 0.55}
    several = client.post(path, json={"instances": [PERSON, better], "context": {"sex": "male"}}).json()
    assert [prediction["favourable"] for prediction in several["predictions"]] == [False, True]
    counterfactual = lines_of(ask(client, {"instance": PERSON}))[1]
    assert several["predictions"][1] == counterfactual["prediction"]
    strict = client.post(path, json={"instance": better, "target": {"threshold": 0.9999}}).json()
    assert strict["prediction"]["favourable"] is False
    assert strict["prediction"]["label"] == "unfavourable"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"instance": PERSON, "instances": [PERSON]}, "body"),
        ({"instances": []}, "instances"),
        ({"instances": [PERSON, {**PERSON, "A": "x"}]}, "instances[1].A"),
        ({"instances": [PERSON, {"A": 1, "B": 1, "C": 1}]}, "instances[1].D"),
        ({"instance": PERSON, "target": {"classes": ["maybe"]}}, "target.classes[0]"),
    ],
)
def test_predictions_refuse_with_the_field(client: httpx.Client, body: dict[str, Any], field: str):
    assert field in refused(client.post("/v1/models/synthetic/predictions", json=body), 422)


def test_the_documentation_needs_no_internet(client: httpx.Client):
    page = client.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    for file in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"):
        assert f"/docs/files/{file}" in page
        assert client.get(f"/docs/files/{file}").status_code == 200


def test_the_openapi_document_refers_only_to_what_it_holds(client: httpx.Client):
    document = client.get("/openapi.json").text
    schemas = json.loads(document)["components"]["schemas"]
    referred = {part.split('"')[0] for part in document.split('"#/components/schemas/')[1:]}
    assert referred <= set(schemas)
    assert {"Start", "Counterfactual", "Progress", "Summary", "ErrorLine", "Problem", "Subsets"} <= set(schemas)
