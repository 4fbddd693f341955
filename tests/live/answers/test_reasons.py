"""Reasons over HTTP: as they are described, for every example, and refused where plans are."""

import json
from typing import Any

import httpx
import pytest

from app.api.describing.reasons import Reasons
from tests.live.asking import refused
from tests.support.live_server import ROOT

EXAMPLES = sorted((ROOT / "models").glob("*/examples/*.json"))


def reasons(client: httpx.Client, body: Any, model: str = "mortgage") -> httpx.Response:
    return client.post(f"/v1/models/{model}/reasons", json=body)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: f"{file.parts[-3]}-{file.stem}")
def test_every_example_gets_reasons_as_they_are_described(client: httpx.Client, example):
    body, model = json.loads(example.read_text()), example.parts[-3]
    answer = reasons(client, body, model)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    Reasons.model_validate(told)
    assert told["prediction"] == client.post(f"/v1/models/{model}/predictions", json=_scored(body)).json()["prediction"]
    assert (told["outcome"] == "already_favourable") == told["prediction"]["favourable"]


def _scored(body: dict[str, Any]) -> dict[str, Any]:
    return {key: body[key] for key in ("instance", "context", "target") if key in body}


def test_the_rules_of_plans_are_read_though_they_play_no_part(client: httpx.Client):
    body = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())
    wrong = {**body, "constraints": {"immutable": ["pirats"]}}
    assert refused(reasons(client, wrong), 422) == {
        "constraints.immutable[0]": "is not a feature of this model; did you mean 'pirat'?"
    }
    contradicting = {**body, "constraints": {"immutable": ["pirat"], "required": ["pirat"]}}
    told = reasons(client, contradicting).json()
    assert (told["outcome"], told["set_aside"]) == ("found", ["immutable[0]", "required[0]"])


def test_what_is_about_plans_is_read_too(client: httpx.Client):
    body = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())
    assert "robustness.noise.pirat" in refused(reasons(client, {**body, "robustness": {"noise": {"pirat": []}}}), 422)
    assert refused(reasons(client, {**body, "least": 0}), 422) == {"least": "must be true or false"}


def test_without_a_feature_that_could_be_a_reason_there_is_none(client: httpx.Client):
    told = reasons(client, {"instance": dict.fromkeys("ABCD", 0), "registry": None}, "synthetic").json()
    assert (told["outcome"], told["reasons"], told["complete"]) == ("none", [], True)


def test_listings_show_what_a_notice_would_state(client: httpx.Client):
    features = client.get("/v1/models/mortgage").json()["features"]
    texts = {feature["name"]: feature["reason"] for feature in features}
    assert texts["pirat"]["text"] == "Excessive obligations in relation to income"
    assert texts["unemp"] is None
    assert client.get("/v1/normal-ranges/mortgage").json()["features"]["lvrat"]["reason"]["code"] == "4"
