"""Answers of a real server."""

import json
from typing import Any

import httpx
import pytest

from app.api.describing import lines as described
from app.writing.forms import MEDIA_TYPES
from tests.live.asking import PATH, PERSON, ask, changed_sets, lines_of
from tests.support.live_server import ROOT

LINES = {
    "start": described.Start,
    "counterfactual": described.Counterfactual,
    "progress": described.Progress,
    "summary": described.Summary,
}


def test_the_answer_is_every_minimal_set_of_changes(client: httpx.Client):
    lines = lines_of(ask(client, {"instance": PERSON}))
    assert changed_sets(lines) == [{"A"}, {"B", "C"}, {"B", "D"}]
    assert lines[0]["type"] == "start"
    assert lines[-1]["type"] == "summary"
    assert (lines[-1]["outcome"], lines[-1]["count"], lines[-1]["complete"]) == ("found", 3, True)
    assert lines[-1]["changed_in"] == {"A": 1, "B": 2, "C": 1, "D": 1}


def test_every_line_is_what_the_documentation_says(client: httpx.Client):
    for line in lines_of(ask(client, {"instance": PERSON})):
        LINES[line["type"]].model_validate(line)
    whole = ask(client, {"instance": PERSON}, accept="application/json")
    described.Counterfactuals.model_validate(whole.json())


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("*/*", "application/x-ndjson"),
        ("application/x-ndjson", "application/x-ndjson"),
        ("application/jsonl", "application/jsonl"),
        ("application/json", "application/json"),
        ("text/event-stream", "text/event-stream; charset=utf-8"),
        ("application/json, text/plain, */*", "application/json"),
        ("text/event-stream;q=0.5, application/json;q=0.4", "text/event-stream; charset=utf-8"),
    ],
)
def test_accept_chooses_the_form(client: httpx.Client, accept: str, content_type: str):
    response = ask(client, {"instance": PERSON}, accept=accept)
    assert response.headers["content-type"] == content_type


def test_all_forms_hold_the_same_objects(client: httpx.Client):
    def timeless(line: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in line.items() if key != "elapsed_ms"}

    lines = [timeless(line) for line in lines_of(ask(client, {"instance": PERSON}))]
    whole = ask(client, {"instance": PERSON}, accept="application/json").json()
    assert [timeless(line) for line in (whole["start"], *whole["counterfactuals"], whole["summary"])] == [
        line for line in lines if line["type"] != "progress"
    ]
    events = [
        event.splitlines()
        for event in ask(client, {"instance": PERSON}, accept="text/event-stream").text.strip().split("\n\n")
    ]
    assert [timeless(json.loads(data.removeprefix("data: "))) for _, data in events] == lines
    assert [name.removeprefix("event: ") for name, _ in events] == [line["type"] for line in lines]


def test_the_same_request_gets_the_same_bytes(client: httpx.Client):
    def timeless(response: httpx.Response) -> str:
        lines = lines_of(response)
        for line in lines:
            line.pop("elapsed_ms", None)
        return json.dumps(lines)

    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    for engine in ("lattice", "cemsp", "auto"):
        body = {**request, "limits": {"engine": engine}}
        assert timeless(ask(client, body, "hcv")) == timeless(ask(client, body, "hcv"))


def test_numbers_come_back_as_they_were_sent(client: httpx.Client):
    body = '{"instance": {"A": -0.80, "B": -3e-1, "C": -1.10000000000000000000001, "D": 0}}'
    response = client.post(PATH, content=body, headers={"content-type": "application/json"})
    counterfactual = response.text.splitlines()[1]
    assert '"from":-0.80,' in counterfactual
    assert '"B":-3e-1,"C":-1.10000000000000000000001,"D":0}' in counterfactual


@pytest.mark.parametrize("model", ["hcv", "thyroid", "synthetic", "mortgage"])
def test_a_printed_answer_sent_back_gets_its_printed_score(client: httpx.Client, model: str):
    for file in sorted((ROOT / "models" / model / "examples").glob("*.json")):
        request = json.loads(file.read_text())
        for line in lines_of(ask(client, request, model)):
            if line["type"] == "counterfactual":
                again = lines_of(ask(client, {**request, "instance": line["instance"]}, model))
                assert again[0]["prediction"] == line["prediction"]
                assert again[-1]["outcome"] == "already_favourable"


@pytest.mark.parametrize(
    ("name", "outcome", "least", "most"),
    [
        ("several-ways", "found", 2, 100),
        ("exactly-one-way", "found", 1, 1),
        ("no-way-out", "no_recourse", 0, 0),
        ("already-favourable", "already_favourable", 0, 0),
    ],
)
@pytest.mark.parametrize("model", ["hcv", "thyroid", "synthetic", "mortgage"])
def test_an_example_shows_what_it_is_named_for(
    client: httpx.Client, model: str, name: str, outcome: str, least: int, most: int
):
    listed = client.get(f"/v1/models/{model}/examples").json()["examples"]
    (request,) = (example["request"] for example in listed if example["name"] == name)
    summary = lines_of(ask(client, request, model))[-1]
    assert summary["outcome"] == outcome
    assert least <= summary["count"] <= most
    assert summary["complete"]


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_every_engine_finds_the_same_here(client: httpx.Client, engine: str):
    lines = lines_of(ask(client, {"instance": PERSON, "limits": {"engine": engine}}))
    assert sorted(map(sorted, changed_sets(lines))) == [["A"], ["B", "C"], ["B", "D"]]
    assert lines[0]["limits"]["engine"] == engine


def test_constraints_are_obeyed(client: httpx.Client):
    def sets(constraints: dict[str, Any]) -> list[set[str]]:
        return changed_sets(lines_of(ask(client, {"instance": PERSON, "constraints": constraints})))

    assert sets({"immutable": ["A"]}) == [{"B", "C"}, {"B", "D"}]
    assert sets({"directions": {"A": "decrease", "C": "increase"}}) == [{"B", "C"}, {"B", "D"}]
    assert sets({"max_step": {"A": 1.35, "C": 1.0}}) == [{"A"}, {"B", "D"}]
    assert sets({"max_changes": 1}) == [{"A"}]


def test_why_a_feature_may_not_move_is_told(client: httpx.Client):
    body = {"instance": {**PERSON, "D": 0.7}, "constraints": {"immutable": ["A"], "max_step": {"B": 0.1}}}
    features = {feature["name"]: feature for feature in lines_of(ask(client, body))[0]["features"]}
    assert {name: feature["why_not"] for name, feature in features.items()} == {
        "A": "immutable",
        "B": "max_step",
        "C": None,
        "D": "normal",
    }
    assert [features[name]["status"] for name in "ABCD"] == ["low", "low", "low", "normal"]


def test_weights_order_the_answers_of_one_size(client: httpx.Client):
    lines = lines_of(ask(client, {"instance": PERSON, "weights": {"C": 5.5}}))
    assert changed_sets(lines) == [{"A"}, {"B", "D"}, {"B", "C"}]
    assert [line["cost"] for line in lines if line["type"] == "counterfactual"] == [1, 2, 6.5]


def test_costs_are_sums_of_decimals_and_equal_ones_are_ordered_by_position(client: httpx.Client):
    """In binary 0.1 and 0.2 are a little more than 0.3."""
    weights = {"A": 8.28, "B": 0.1, "C": 0.2, "D": 0.20}
    response = ask(client, {"instance": PERSON, "weights": weights})
    assert [line["cost"] for line in lines_of(response) if line["type"] == "counterfactual"] == [8.28, 0.3, 0.3]
    assert response.text.count('"cost":0.3,') == 2
    assert changed_sets(lines_of(response)) == [{"A"}, {"B", "C"}, {"B", "D"}]


def test_a_negative_nought_comes_back_as_it_was_sent(client: httpx.Client):
    """Whole or not: Python's whole numbers know no sign of nought."""
    content = '{"instance": {"A": -0.8, "B": -0.3, "C": -0, "D": -0.0}}'
    response = client.post(PATH, content=content, headers={"content-type": "application/json"})
    start, first = response.text.splitlines()[:2]
    assert '"name":"C","title":"Feature C","value":-0,' in start
    assert '"name":"D","title":"Feature D","value":-0.0,' in start
    assert '"C":-0,"D":-0.0' in first


def test_the_context_chooses_the_range(client: httpx.Client):
    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())

    def high(context: dict[str, Any]) -> float:
        return lines_of(ask(client, {**request, "context": context}, "hcv"))[0]["features"][2]["high"]

    assert (high({"sex": "female"}), high({"sex": "male"})) == (35, 50)


def test_a_request_may_name_another_registry_or_none(client: httpx.Client):
    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    other = lines_of(ask(client, {**request, "registry": "hcv-paper"}, "hcv"))[0]
    assert other["normal_ranges"]["name"] == "hcv-paper"
    none = lines_of(ask(client, {**request, "registry": None}, "hcv"))
    assert none[0]["normal_ranges"] is None
    assert {feature["status"] for feature in none[0]["features"]} == {"unknown"}
    assert none[-1]["outcome"] == "no_recourse"


def test_without_a_registry_a_guide_serves_for_all(client: httpx.Client):
    body = {"instance": PERSON, "registry": None, "guide": {"A": 2.0, "B": 2.0, "C": -1.1}}
    lines = lines_of(ask(client, body))
    assert changed_sets(lines) == [{"A"}]
    assert lines[1]["instance"]["A"] == 2.0
    assert [feature["why_not"] for feature in lines[0]["features"]] == [None, None, "at_target", "no_range"]


def test_a_range_of_the_request_replaces_the_registry_s(client: httpx.Client):
    ranges = {"A": {"high": 0}, "B": {"low": 2, "high": 4, "move_to": "midpoint"}}
    features = lines_of(ask(client, {"instance": PERSON, "normal_ranges": ranges}))[0]["features"]
    assert features[0]["status"] == "normal"
    assert (features[1]["low"], features[1]["high"], features[1]["target"]) == (2, 4, 3)


def test_a_target_of_the_request_replaces_the_model_s(client: httpx.Client):
    lines = lines_of(ask(client, {"instance": PERSON, "target": {"threshold": 0.95}}))
    assert changed_sets(lines)[:2] == [{"A"}, {"B", "C"}]
    assert {"B", "D"} not in changed_sets(lines)
    turned = lines_of(ask(client, {"instance": PERSON, "target": {"classes": ["unfavourable"]}}))
    assert turned[-1]["outcome"] == "already_favourable"


def test_limits_are_shown_as_they_are_applied(client: httpx.Client):
    body = {"instance": PERSON, "limits": {"max_counterfactuals": 1, "deadline_ms": 10**9, "max_model_rows": 10**12}}
    lines = lines_of(ask(client, body))
    assert lines[0]["limits"] == {
        "engine": "auto",
        "max_counterfactuals": 1,
        "deadline_ms": 60_000,
        "max_model_rows": 1_000_000_000,
    }
    assert lines[-1]["stopped_by"] == "max_counterfactuals"
    assert (lines[-1]["complete"], lines[-1]["complete_up_to"]) == (False, 1)


def test_the_defaults_are_those_of_the_settings(client: httpx.Client):
    limits = lines_of(ask(client, {"instance": PERSON}))[0]["limits"]
    assert limits == {
        "engine": "auto",
        "max_counterfactuals": None,
        "deadline_ms": 10_000,
        "max_model_rows": 100_000_000,
    }


def test_the_model_s_own_classes_keep_the_model_s_own_threshold(client: httpx.Client):
    request = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())
    same = lines_of(ask(client, {**request, "target": {"classes": ["approved"]}}, "mortgage"))[0]
    assert (same["target"]["classes"], same["target"]["threshold"]) == (["approved"], 0.76)
    other = lines_of(ask(client, {**request, "target": {"classes": ["denied"]}}, "mortgage"))[0]
    assert (other["target"]["classes"], other["target"]["threshold"]) == (["denied"], None)


def test_a_threshold_is_shown_as_it_was_compared(client: httpx.Client):
    """A score of 0.82970196 reaches 0.829701975, which is the same number in the model's float32."""
    request = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())
    lines = lines_of(ask(client, {**request, "target": {"threshold": 0.829701975}}, "mortgage"))
    scores = [line["prediction"]["score"] for line in lines if line["type"] == "counterfactual"]
    assert 0.82970196 in scores
    compared_as = {"type": "float32", "threshold": 0.82970196}
    assert lines[0]["target"] == {"classes": ["approved"], "threshold": 0.829701975, "compared_as": compared_as}
    usual = lines_of(ask(client, request, "mortgage"))[0]["target"]
    assert usual["compared_as"] == {"type": "float32", "threshold": 0.76}
    won = lines_of(ask(client, {**request, "target": {"classes": ["denied"]}}, "mortgage"))[0]["target"]
    assert won["compared_as"] == {"type": "float32", "threshold": None}


def test_several_accept_headers_are_read_as_one(client: httpx.Client):
    headers = [("accept", "image/png"), ("accept", "application/json"), ("content-type", "application/json")]
    response = client.post(PATH, content=json.dumps({"instance": PERSON}).encode(), headers=headers)
    assert response.headers["content-type"] == "application/json"


def test_keys_of_the_context_that_no_range_asks_for_are_told(client: httpx.Client):
    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    start = lines_of(ask(client, {**request, "context": {"sex": "male", "gender": "male"}}, "hcv"))[0]
    assert start["unused_context"] == ["gender"]


def test_values_of_the_context_that_no_range_knows_are_told(client: httpx.Client):
    """Never the value itself; and the answer is that of somebody of whom this is not known."""
    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    known = {"key": "sex", "known": ["female", "male"]}

    def start(**context: object) -> dict[str, Any]:
        return lines_of(ask(client, {**request, "context": context}, "hcv"))[0]

    misspelt = start(sex="f", age=39)
    assert misspelt.pop("unmatched_context") == [known]
    unsaid = start(age=39)
    assert unsaid.pop("unmatched_context") == []
    assert misspelt == unsaid
    assert start(sex="female", age=39)["unmatched_context"] == []
    assert start(sex=True, age=39)["unmatched_context"] == [known]
    assert [unmatched["key"] for unmatched in start(sex="male", age=3)["unmatched_context"]] == ["age"]


def test_too_few_rows_for_any_answer_is_not_no_recourse(client: httpx.Client):
    summary = lines_of(ask(client, {"instance": PERSON, "limits": {"max_model_rows": 1}}))[-1]
    assert (summary["outcome"], summary["complete_up_to"], summary["stopped_by"]) == ("unknown", 0, "max_model_rows")


@pytest.mark.parametrize("accept", MEDIA_TYPES)
def test_a_small_answer_comes_whole_in_every_form(client: httpx.Client, accept: str):
    """In one response of known length unless the machine is busy; tests/api/test_responding.py sees to that."""
    response = ask(client, {"instance": PERSON}, accept=accept)
    assert response.status_code == 200
    assert int(response.headers.get("content-length", len(response.content))) == len(response.content)
    assert response.headers["content-type"].startswith(accept)
    assert '"type":"summary"' in response.text


@pytest.mark.parametrize("registry", ["synthetic", None])
def test_a_long_request_gets_the_same_answer(client: httpx.Client, registry: str | None):
    """Read and posed in a thread, for its length alone."""
    padded = {f"note {index}": "x" * 100 for index in range(1_000)}
    short, long = (
        lines_of(ask(client, {"instance": PERSON, "registry": registry, "context": context}))
        for context in ({}, padded)
    )
    assert long[0].pop("unused_context") == list(padded)
    assert short[0].pop("unused_context") == []
    for line in (*short, *long):
        line.pop("elapsed_ms", None)
    assert short == long
