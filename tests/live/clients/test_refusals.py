"""What a real server refuses, and how it says so."""

import copy
import json
from typing import Any

import httpx
import pytest

from tests.live.asking import PATH, PERSON, ask, refused
from tests.support.live_server import ROOT, LiveServer


def changed(path: str, value: Any) -> dict[str, Any]:
    """A request that is right but for one place."""
    body: dict[str, Any] = {"instance": dict(PERSON)}
    place = body
    *steps, last = path.split(".")
    for step in steps:
        place = place.setdefault(step, {})
    place[last] = value
    return copy.deepcopy(body)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("instance.A", "-0.8", "must be a number, not text: send it without quotes"),
        ("instance.A", "low", "must be a number, not text"),
        ("instance.A", "<5", "must be a number, not text"),
        ("instance.A", True, "must be a number, not true or false"),
        ("instance.A", None, "must not be missing: the model does not accept a missing value"),
        ("instance.A", [1], "must be a number"),
        ("instance.A", 1e308, "is too large for the model's float32 input"),
        ("instance.A", -(10**300), "is too large for the model's float32 input"),
        ("instance.A", 10**400, "must be a finite number that fits 64 bits"),
        ("instance.E", 1, "is not a feature of this model; known: A, B, C, D"),
        ("weights.a", 1, "is not a feature of this model; did you mean 'A'?"),
        ("registry", "synthetik", "is not known; did you mean 'synthetic'?"),
        ("registry", "hcv", "does not fit this model: features.ALB: model 'synthetic' has no such feature"),
        ("target.classes", [], "must name some but not all of: unfavourable, favourable"),
        ("target.low", 3, "belongs to a regression; this model has classes"),
        ("target.threshold", 70, "must lie between 0 and 1: the scores of this model are probabilities"),
        ("target.threshold", -1, "must lie between 0 and 1: the scores of this model are probabilities"),
        ("target.threshold", 1e300, "must lie between 0 and 1: the scores of this model are probabilities"),
        ("normal_ranges.E", {"low": 1}, "is not a feature of this model; known: A, B, C, D"),
        ("normal_ranges.A", {}, "needs a low, a high, or both"),
        ("normal_ranges.A", {"low": 2, "high": 1}, "low is above high"),
        ("guide.A", 1, "has a normal range; a guide is for features without one"),
        ("guide.E", 1, "is not a feature of this model; known: A, B, C, D"),
        ("constraints.directions.A", "up", "must be 'increase' or 'decrease'"),
        ("constraints.max_step.A", -1, "must not be negative"),
        ("constraints.max_changes", 1.5, "must be a whole number"),
        ("constraints.colour", 1, "is not a known key"),
        ("weights.A", 0, "must be above 0 and at most 1,000,000,000"),
        ("limits.deadline_ms", 0, "must be 1 or more"),
        ("limits.deadline_ms", -5, "must be 1 or more"),
        ("limits.max_model_rows", 0, "must be 1 or more"),
        ("limits.max_counterfactuals", 0, "must be 1 or more"),
        ("limits.engine", "magic", "must be 'auto', 'lattice', 'cemsp' or 'through'"),
        ("context", [], 'must be an object; write context such as {"sex": "female", "age": 41}'),
        (
            "constraints.causal",
            {"cause": "A", "effects": ["B"]},
            'must be a list; write causal such as [{"cause": "ALT", "effects": ["AST"]}]',
        ),
        ("normal_ranges.A", 0.5, 'must be an object; write normal_ranges such as {"ALT": {"low": 10, "high": 35}}'),
        ("normal_ranges.A", {"move_to": "midpoint"}, "move_to needs a range beside it: give low, high or both"),
        ("context.sex", [], "must be text, a number, true or false"),
        ("colour", 1, "is not a known key"),
        ("constrains", {}, "is not a known key; did you mean 'constraints'?"),
        ("constraints.imutable", ["A"], "is not a known key; did you mean 'immutable'?"),
        ("target.treshold", 0.5, "is not a known key; did you mean 'threshold'?"),
        ("normal_ranges.A.moveto", "nearest", "is not a known key; did you mean 'move_to'?"),
        ("limits.deadline", 5, "is not a known key; did you mean 'deadline_ms'?"),
    ],
)
def test_a_field_that_cannot_be_accepted_is_named(client: httpx.Client, path: str, value: Any, message: str):
    assert refused(ask(client, changed(path, value)), 422) == {path: message}


def test_a_target_too_large_for_the_model_is_refused(client: httpx.Client):
    body = {"instance": PERSON, "normal_ranges": {"A": {"low": 1e300}}}
    assert refused(ask(client, body), 422) == {
        "normal_ranges.A": "leads to a target that is too large for the model's float32 input"
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "instance"), ([], "body"), (3, "body"), ("text", "body"), ({"instance": []}, "instance")],
)
def test_a_body_of_another_shape_is_refused(client: httpx.Client, body: Any, field: str):
    assert field in refused(ask(client, body), 422)


def test_a_margin_that_leads_out_of_all_numbers_is_refused(client: httpx.Client):
    ranges = {"A": {"low": 1.7e308, "move_to": {"margin": 1e308}}}
    body = {"instance": PERSON, "normal_ranges": ranges, "constraints": {"immutable": ["A"]}}
    assert refused(ask(client, body), 422) == {
        "normal_ranges.A.move_to": "margin is too large: the target would not be finite"
    }


def test_all_missing_features_are_named_at_once(client: httpx.Client):
    assert refused(ask(client, {"instance": {"B": 1}}), 422) == {f"instance.{name}": "is missing" for name in "ACD"}


def test_a_misspelt_feature_is_taken_for_one_that_is_lacking(client: httpx.Client):
    """ATL is as near to AST as to ALT, but AST is there: its value must not be replaced."""
    example = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    example["instance"]["ATL"] = example["instance"].pop("ALT")
    response = client.post("/v1/models/hcv/counterfactuals", json=example)
    assert refused(response, 422)["instance.ATL"] == "is not a feature of this model; did you mean 'ALT'?"
    assert response.json()["detail"].endswith("did you mean 'ALT'?")


@pytest.mark.parametrize("length", [0, 20_000], ids=["short", "long"])
def test_a_misspelt_key_is_noticed_anywhere(client: httpx.Client, length: int):
    """Long bodies are checked in a thread; and a feature may be called like a key."""
    causal = [{"cause": "A", "efects": ["B"]}]
    body = {
        "instance": PERSON, "normal_ranges": {"low": {"hihg": 1}}, "constraints": {"causal": causal},
        "context": {"padding": "x" * length},
    }  # fmt: skip
    named = refused(ask(client, body), 422)
    assert named["normal_ranges.low.hihg"] == "is not a known key; did you mean 'high'?"
    assert named["constraints.causal[0].efects"] == "is not a known key; did you mean 'effects'?"
    assert client.post("/v1/models/synthetic/predictions", json={"instnaces": [PERSON]}).json()["errors"] == [
        {"field": "instnaces", "message": "is not a known key; did you mean 'instances'?"},
    ]


def test_names_in_lists_are_checked(client: httpx.Client):
    body = {"instance": PERSON, "constraints": {"immutable": ["A", "a", "A"]}}
    assert set(refused(ask(client, body), 422)) == {"constraints.immutable[1]", "constraints.immutable[2]"}


def test_null_is_no_request(client: httpx.Client):
    response = client.post(PATH, content=b"null", headers={"content-type": "application/json"})
    assert "body" in refused(response, 422)


def test_nan_is_refused_with_what_to_send_for_a_missing_value(client: httpx.Client):
    body = '{"instance": {"A": NaN, "B": 0, "C": 0, "D": 0}}'
    response = client.post(PATH, content=body, headers={"content-type": "application/json"})
    message = "must be a finite number: the model does not accept a missing value"
    assert refused(response, 422) == {"instance.A": message}
    missing = {"instance": {**PERSON, "A": None}, "normal_ranges": {"A": {"if_missing": {"value": 1}}}}
    assert refused(ask(client, missing), 422) == {
        "instance.A": "must not be missing: the model does not accept a missing value",
        "normal_ranges.A.if_missing": "cannot help: the model does not accept a missing value",
    }


def test_a_flat_list_is_told_that_groups_are_lists_in_a_list(client: httpx.Client):
    body = {"instance": PERSON, "constraints": {"correlated": ["A", "B"]}}
    message = 'must be a list; write correlated such as [["ALT", "AST"]]'
    assert refused(ask(client, body), 422) == {f"constraints.correlated[{index}]": message for index in (0, 1)}


def test_of_several_mistakes_the_first_is_told_in_a_sentence(client: httpx.Client):
    detail = ask(client, {"instance": PERSON, "weights": {"x": 1, "y": 1}}).json()["detail"]
    assert detail.startswith("2 fields are wrong. The first is weights.x: is not a feature of this model; known: ")
    assert detail.endswith(".")


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "1e999", "-1e999", "1" * 5000])
def test_what_is_not_a_finite_number_is_refused(client: httpx.Client, number: str):
    body = f'{{"instance": {{"A": {number}, "B": 0, "C": 0, "D": 0}}}}'
    response = client.post(PATH, content=body, headers={"content-type": "application/json"})
    assert refused(response, 422) == {"instance.A": "must be a finite number that fits 64 bits"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{", "body"),
        (b'{"instance": {"A": 01}}', "body"),
        (b"\xff\xfe", "body"),
        (b'{"instance": {"A": 1, "A": 2}}', "A"),
        (b"[" * 100_000, "body"),
        (b"{" + b",".join(b'"k%d": 1' % n for n in range(20_000)) + b', "k19999": 2}', "k19999"),
        (b'{"a":' * 100_000, "body"),
    ],
)
def test_malformed_json_is_refused(client: httpx.Client, body: bytes, field: str):
    response = client.post(PATH, content=body, headers={"content-type": "application/json"})
    assert field in refused(response, 400)


def test_half_a_character_in_a_key_does_no_harm(client: httpx.Client):
    body = rb'{"instance": {"\ud800": 1}}'
    response = client.post(PATH, content=body, headers={"content-type": "application/json"})
    assert "instance.A" in refused(response, 422)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/xml"])
def test_a_body_that_is_not_sent_as_json_is_refused(client: httpx.Client, content_type: str):
    response = client.post(PATH, content=b'{"instance": {}}', headers={"content-type": content_type})
    assert "Content-Type" in refused(response, 415)


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.x+json"]
)
def test_json_by_any_of_its_names_is_accepted(client: httpx.Client, content_type: str):
    body = json.dumps({"instance": PERSON}).encode()
    assert client.post(PATH, content=body, headers={"content-type": content_type}).status_code == 200


@pytest.mark.parametrize("accept", ["image/png", "application/json;q=0", "text/html"])
def test_a_form_that_there_is_not_is_refused(client: httpx.Client, accept: str):
    assert "Accept" in refused(ask(client, {"instance": PERSON}, accept=accept), 406)


def test_an_unknown_model_is_refused_with_a_hint(client: httpx.Client):
    fields = refused(ask(client, {"instance": PERSON}, model="sinthetic"), 404)
    assert "Did you mean 'synthetic'?" in fields["model"]


def test_an_unknown_registry_is_refused(client: httpx.Client):
    assert "registry" in refused(client.get("/v1/normal-ranges/nope"), 404)


def test_other_paths_and_methods_are_problems_too(client: httpx.Client):
    assert refused(client.get("/nope"), 404) == {}
    assert refused(client.delete("/v1/models"), 405) == {}


def test_no_refusal_quotes_a_value_of_the_instance(client: httpx.Client, server: LiveServer):
    marked = "4711.0815"
    bodies = [
        f'{{"instance": {{"A": {marked}, "B": "{marked}", "C": 0, "D": 0}}}}',
        f'{{"instance": {{"A": {marked}}}}}',
        f'{{"instance": {{"A": {marked}, "B": 0, "C": 0, "D": 0}}, "guide": {{"A": {marked}}}}}',
        f'{{"instance": {{"A": {marked}, "B": 0, "C": 0, "D": 0}}, "context": {{"age": [{marked}]}}}}',
        f'{{"instance": {{"A": {marked}, ',
        f'{{"instance": {{"A": {marked}e300, "B": {marked}e400, "C": 0, "D": 0}}}}',
    ]
    for body in bodies:
        response = client.post(PATH, content=body, headers={"content-type": "application/json"})
        assert 400 <= response.status_code < 500
        assert marked not in response.text
    assert marked not in server.whole_log()
