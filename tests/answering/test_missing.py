"""A missing value as part of an answer: the whole way from a registry or a request to the lines and the table."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from rich.console import Console

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.api.listings import describe_model, describe_registry
from app.asking.parsing import parse_json
from app.asking.refusals import InvalidRequest
from app.cli.terminal import show
from app.settings import Settings
from tests.support import answers as answers_support
from tests.support import graphs

MODEL = """
title = "Loans"
version = "1"
normal_ranges = "loans"
[output]
kind = "classification"
activation = "sigmoid"
classes = ["denied", "approved"]
favourable = ["approved"]
[[features]]
name = "income"
title = "Income"
unit = "kEUR"
takes_missing = true
missing_codes = [-9]
[[features]]
name = "home"
type = "category"
categories = ["rents", "owns"]
one_hot = true
missing = "zeros"
[[features]]
name = "kids"
type = "integer"
default = 0
"""
REGISTRY = """
title = "Loans"
version = "1"
[features.income]
unit = "kEUR"
ranges = [{ when = { region = "city" }, low = 120 }, { low = 100, high = 200 }]
%s
[features.home]
allowed = ["owns", "rents"]
"""
NOBODY_KNOWS = {"income": None, "home": "owns", "kids": None}


def service(folder: Path, said: str = "", home: str = "") -> Service:
    """Scores 0.19 without an income and 0.67 with 130; a home changes nothing."""
    weights = {
        "unseen": np.array(0, dtype=np.float32),
        "slopes": np.array([[0.0166], [0], [0], [0]], dtype=np.float32),
        "bias": np.array([-1.45], dtype=np.float32),
    }
    nodes = [
        helper.make_node("IsNaN", ["features"], ["absent"]),
        helper.make_node("Where", ["absent", "unseen", "features"], ["seen"]),
        helper.make_node("MatMul", ["seen", "slopes"], ["sum"]),
        helper.make_node("Add", ["sum", "bias"], ["scores"]),
    ]
    graphs.save(folder / "models/loans/model.onnx", nodes, weights, 4, TensorProto.FLOAT, columns=1)
    (folder / "models/loans/model.toml").write_text(MODEL)
    (folder / "ranges").mkdir()
    (folder / "ranges/loans.toml").write_text(REGISTRY % said + home)
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def lines_of(service: Service, **request: Any) -> list[dict[str, Any]]:
    body = parse_json(json.dumps({"instance": NOBODY_KNOWS, **request}).encode())
    return answers_support.lines_of(service, body, "loans")


def answers(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == "counterfactual"]


def refusals(service: Service, **request: Any) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as refused:
        lines_of(service, **request)
    return {error.field: error.message for error in refused.value.errors}


def test_a_missing_value_stays_missing_and_it_is_said_how_to_have_it_move(tmp_path: Path):
    lines = lines_of(service(tmp_path))
    assert (lines[0]["prediction"]["score"], lines[-1]["outcome"]) == (pytest.approx(0.19, abs=0.005), "no_recourse")
    income = lines[0]["features"][0]
    assert (income["target"], income["movable"], income["why_not"]) == (None, False, "missing")
    assert "normal_ranges.income.if_missing" in income["hint"]


def test_what_a_registry_says_that_it_would_become_is_an_answer(tmp_path: Path):
    loans = service(tmp_path, "if_missing = { value = 130 }")
    lines = lines_of(loans)
    income = lines[0]["features"][0]
    assert (income["value"], income["status"], income["target"]) == (None, "unknown", 130)
    assert (income["movable"], income["why_not"], "hint" in income) == (True, None, False)
    [answer] = answers(lines)
    assert answer["sentence"] == "Provide Income: 130 kEUR (now missing)."
    expected = {"feature": "income", "title": "Income", "from": None, "to": 130, "unit": "kEUR", "direction": None}
    assert answer["changes"] == [expected]
    assert answer["instance"] == {**NOBODY_KNOWS, "income": 130}
    assert answer["prediction"]["score"] == pytest.approx(0.67, abs=0.005)
    assert lines_of(loans, instance=answer["instance"])[0]["prediction"] == answer["prediction"]
    model = loans.catalog.models["loans"]
    assert describe_model(model, loans.catalog).features[0].if_missing == {"value": 130}
    assert describe_registry(loans.catalog.registries["loans"]).features["income"].if_missing == {"value": 130}


def test_a_code_for_what_is_missing_is_nothing_to_start_from(tmp_path: Path):
    loans = service(tmp_path, "if_missing = { value = 130 }")
    [answer] = answers(lines_of(loans, instance={**NOBODY_KNOWS, "income": -9}))
    assert answer["changes"][0]["from"] is None


def test_a_range_with_one_end_says_it_itself_and_one_with_two_is_asked_which(tmp_path: Path):
    loans = service(tmp_path)
    own = {"income": {"if_missing": "target"}}
    [answer] = answers(lines_of(loans, normal_ranges=own, context={"region": "city"}))
    assert answer["changes"][0]["to"] == 120
    [(field, message)] = refusals(loans, normal_ranges=own, context={"region": "land"}).items()
    assert field == "normal_ranges.income.if_missing"
    assert message.startswith("a missing value is neither low nor high")


@pytest.mark.parametrize(
    ("own", "target"),
    [
        ({"if_missing": {"value": 150.50}}, 150.5),
        ({"low": 110, "if_missing": "target"}, 110),
        ({"low": 110}, 130),
        ({"low": 110, "high": 140, "move_to": "midpoint", "if_missing": "target"}, 125),
        ({"if_missing": None}, None),
        ({"low": 110, "if_missing": None}, None),
    ],
)
def test_a_request_says_otherwise_than_the_registry(tmp_path: Path, own: dict[str, Any], target: float | None):
    lines = lines_of(service(tmp_path, "if_missing = { value = 130 }"), normal_ranges={"income": own})
    assert [answer["changes"][0]["to"] for answer in answers(lines)] == ([] if target is None else [target])
    if "low" not in own:
        assert (lines[0]["features"][0]["low"], lines[0]["features"][0]["high"]) == (100, 200)


def test_a_feature_without_a_range_becomes_what_is_said_or_what_its_guide_leads_to(tmp_path: Path):
    loans = service(tmp_path)
    guided = {"guide": {"income": 140}, "normal_ranges": {"income": {"if_missing": "target"}}}
    [answer] = answers(lines_of(loans, registry=None, **guided))
    assert answer["changes"][0]["to"] == 140
    alone = {"normal_ranges": {"income": {"if_missing": {"value": 145}}}}
    [answer] = answers(lines_of(loans, registry=None, **alone))
    assert answer["changes"][0]["to"] == 145


def test_a_missing_category_may_be_provided(tmp_path: Path):
    loans = service(tmp_path, "if_missing = { value = 130 }", 'if_missing = "target"')
    lines = lines_of(loans, instance={**NOBODY_KNOWS, "home": None}, constraints={"required": ["home"]})
    [answer] = answers(lines)
    assert answer["sentence"] == "Provide Income: 130 kEUR (now missing) and provide home: owns (now missing)."
    assert answer["changes"][1]["from"] is None


@pytest.mark.parametrize("constraints", [{"directions": {"income": "increase"}}, {"max_step": {"income": 1000}}])
def test_a_rule_about_way_or_step_is_in_the_way_of_a_move_from_nothing(tmp_path: Path, constraints: dict[str, Any]):
    lines = lines_of(service(tmp_path, "if_missing = { value = 130 }"), constraints=constraints)
    [path] = [f"{kind}.income" for kind in constraints]
    assert lines[0]["features"][0]["why_not"] == ("direction" if "directions" in constraints else "max_step")
    assert [way["items"] for way in lines[-1]["no_recourse"]["relax"]] == [[path]]


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"income": {"if_missing": {"value": 20}}}, "value lies outside the range"),
        ({"income": {"if_missing": {"value": "much"}}}, "value must be a number, not text"),
        ({"income": {"if_missing": {"value": -9}}}, "value must not be missing"),
        (
            {"income": {"high": 90}},
            "value lies outside the range; the registry says so: give an if_missing of your own",
        ),
        ({"home": {"if_missing": {"value": "castle"}}}, 'value must be one of: "rents", "owns"'),
        ({"home": {"allowed": ["owns"], "if_missing": {"value": "rents"}}}, "value is not one of the allowed values"),
        ({"kids": {"if_missing": {"value": 1.5}}}, "value must be a whole number"),
        (
            {"kids": {"if_missing": "target"}},
            "has neither a range nor a guide that would lead to a target: give a value",
        ),
        (
            {"income": {"low": 100, "if_missing": {"value": 1e300}}},
            "leads to a target that is too large for the model's float32 input",
        ),
    ],
)
def test_what_it_cannot_become_is_refused(tmp_path: Path, own: dict[str, Any], message: str):
    loans = service(tmp_path, "if_missing = { value = 130 }")
    [name] = own
    assert refusals(loans, normal_ranges=own) == {f"normal_ranges.{name}.if_missing": message}


@pytest.mark.parametrize("said", ["nearest", 130, {"value": None}, {"value": True}, {"value": 1, "margin": 2}, {}])
def test_what_is_neither_a_target_nor_a_value_is_refused(tmp_path: Path, said: Any):
    with pytest.raises(ValueError, match="must be target, or an object with a value: a number or a category"):
        lines_of(service(tmp_path), normal_ranges={"income": {"if_missing": said}})


def test_the_terminal_shows_what_is_provided(tmp_path: Path):
    loans = service(tmp_path, "if_missing = { value = 130 }")
    console = Console(file=StringIO(), width=160)
    show(answers_support.events_of(loans, {"instance": NOBODY_KNOWS}, "loans"), console)
    drawn = console.file.getvalue()
    assert "Income: missing → 130 kEUR" in drawn
    assert "? missing" in drawn
    assert "see if_missing" in drawn
