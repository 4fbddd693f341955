"""Derived features and causes with amounts through the service: sent, refused, told, and scored as they are printed."""

import json
import time
from io import StringIO
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from app.adapters.catalog import load_catalog
from app.adapters.files.flaws import BrokenFiles
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.asking.posing.understanding import understand
from app.asking.refusals import ConflictingConstraints, InvalidRequest
from app.asking.schemas import CounterfactualsRequest, PredictionsRequest
from app.cli.terminal import show
from app.core.budget import Budget, Limits, StopFlag
from app.core.turns import run_through
from app.settings import Settings
from tests.support.answers import events_of, lines_of
from tests.support.derived_loans import PERSON, write_loan, write_loan_ranges

SAME = {"cause": "tenure", "effects": [{"feature": "age", "change": "same"}]}


def written(folder: Path, *, extra: str = "", derived: str = "amount / price") -> Service:
    write_loan(folder, extra=extra, derived=derived)
    write_loan_ranges(folder / "normal_ranges")
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "normal_ranges", stability_plans=0)
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return written(tmp_path)


def plans(service: Service, **request: Any) -> list[dict[str, Any]]:
    lines = lines_of(service, {"instance": PERSON, **request}, "loan")
    return [line for line in lines if line["type"] == "counterfactual"]


def score(service: Service, instance: dict[str, Any]) -> float:
    body = PredictionsRequest.model_validate({"instances": [instance]})
    with service.admit(Admitted(time.perf_counter())) as place:
        return float(run_through(service.predicting(body, service.model("loan"), place)).verdict.score[0])


def test_a_derived_feature_is_computed_for_every_row(service: Service):
    start, *lines = lines_of(service, {"instance": PERSON}, "loan")
    (state,) = [feature for feature in start["features"] if feature["name"] == "ltv"]
    assert (state["value"], state["status"], state["movable"], state["why_not"]) == (0.95, "high", False, "derived")
    (plan,) = [line for line in lines if line["type"] == "counterfactual"]
    assert [change["feature"] for change in plan["changes"]] == ["amount"]
    (followed,) = plan["consequences"]
    told = {key: followed[key] for key in ("feature", "from", "to", "because_of")}
    assert told == {"feature": "ltv", "from": 0.95, "to": 0.8, "because_of": ["amount"]}
    assert plan["instance"]["ltv"] == 0.8
    assert plan["sentence"] == "Lower amount from 190000 to 160000; then ltv goes from 0.95 to 0.8."
    row = {name: value for name, value in plan["instance"].items() if name != "ltv"}
    assert str(np.float32(score(service, row))) == str(plan["prediction"]["score"])


def test_an_effect_moves_along_with_its_cause(service: Service):
    assert [[change["feature"] for change in plan["changes"]] for plan in plans(service)] == [["amount"]]
    constraints = {"causal": [SAME], "directions": {"age": "increase"}, "immutable": ["amount"]}
    found = plans(service, constraints={**constraints, "causal": [{**SAME, "effects": [factor(20)]}]})
    (plan,) = found
    assert [change["feature"] for change in plan["changes"]] == ["tenure"]
    told = [(each["feature"], each["from"], each["to"], each["because_of"]) for each in plan["consequences"]]
    assert told == [("age", 41, 101, ["tenure"])]
    assert plan["instance"]["age"] == 101


def factor(times: float) -> dict[str, Any]:
    return {"feature": "age", "change": times}


def tenure(times: float) -> dict[str, Any]:
    return {"cause": "tenure", "effects": [factor(times)]}


def test_an_immutable_effect_holds_back_its_cause(service: Service):
    constraints = {"causal": [SAME], "immutable": ["age"], "required": ["tenure"]}
    with pytest.raises(ConflictingConstraints) as refused:
        plans(service, constraints=constraints)
    fields = [error.field for error in refused.value.errors]
    assert fields == ["constraints.immutable[0]", "constraints.required[0]", "constraints.causal[0]"]


def test_a_conflict_without_time_names_all_that_it_may_rest_on(service: Service):
    constraints = {"causal": [SAME], "immutable": ["age"], "required": ["tenure"]}
    body = CounterfactualsRequest.model_validate({"instance": PERSON, "constraints": constraints})
    over = Budget(Limits(0, 0), time.perf_counter, time.perf_counter(), StopFlag())
    with pytest.raises(ConflictingConstraints, match="not enough time") as refused:
        run_through(understand(body, *service.model("loan"), service.formula_limits, over))
    assert "constraints.causal[0]" in [error.field for error in refused.value.errors]


def test_a_file_may_let_an_immutable_effect_follow(tmp_path: Path):
    effect = '{ feature = "age", change = 20, even_if_immutable = true }'
    extra = f'[constraints]\nimmutable = ["age"]\ncausal = [{{ cause = "tenure", effects = [{effect}] }}]\n'
    service = written(tmp_path, extra=extra)
    found = plans(service, constraints={"immutable": ["amount"]})
    assert [plan["instance"]["age"] for plan in found] == [101]
    effects = [{**factor(2), "even_if_immutable": True}]
    with pytest.raises(InvalidRequest) as refused:
        plans(service, constraints={"causal": [{"cause": "price", "effects": effects}]})
    assert refused.value.errors[0].field == "constraints.causal[0]"
    with pytest.raises(InvalidRequest) as again:
        plans(service, constraints={"causal": [SAME]})
    assert [error.field for error in again.value.errors] == ["constraints.causal[0]"]


def test_required_and_relations_are_judged_on_the_changed_row(service: Service):
    (plan,) = plans(service, constraints={"required": ["ltv"], "relations": ["ltv <= 0.8"]})
    assert plan["instance"]["ltv"] == 0.8
    with pytest.raises(ConflictingConstraints):
        plans(service, constraints={"required": ["ltv"], "immutable": ["amount"]})
    request = {"instance": PERSON, "constraints": {"relations": ["ltv > 0.9"]}}
    summary = lines_of(service, request, "loan")[-1]
    assert summary["no_recourse"]["relax"][0]["items"] == ["relations[0]"]
    assert summary["no_recourse"]["relax"][0]["counterfactual"]["consequences"][0]["feature"] == "ltv"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"instance": {**PERSON, "ltv": 0.9}}, "instance.ltv"),
        ({"instance": {**PERSON, "price": 0}}, "instance.amount"),
        ({"guide": {"ltv": 0.7}}, "guide.ltv"),
        ({"constraints": {"causal": [{"cause": "ltv", "effects": [factor(2)]}]}}, "constraints.causal[0].cause"),
        ({"constraints": {"causal": [{"cause": "age", "effects": [{"feature": "age", "change": 1}]}]}}, None),
        ({"constraints": {"causal": [SAME, {**SAME, "effects": [factor(2)]}]}}, "constraints.causal[1].effects[0]"),
        (
            {"constraints": {"causal": [SAME, {"cause": "age", "effects": [{"feature": "tenure", "change": 1}]}]}},
            "constraints.causal[1]",
        ),
        (
            {"constraints": {"causal": [{"cause": "price", "effects": [factor(2)]}, tenure(1e308)]}},
            "constraints.causal[1]",
        ),
        ({"robustness": {"noise": {"age": {"sd": 1}}}}, "robustness"),
        # Nothing follows from what this person can change, but from what is measured.
        ({"instance": {**PERSON, "amount": 159_000}, "robustness": {"noise": {"amount": {"sd": 9}}}}, "robustness"),
    ],
)
def test_what_cannot_be_is_refused(service: Service, change: dict[str, Any], field: str | None):
    with pytest.raises(InvalidRequest) as refused:
        plans(service, **change)
    assert field is None or field in [error.field for error in refused.value.errors]


def test_an_immutable_effect_may_have_causes_that_cannot_move(service: Service):
    causes = [{"cause": cause, "effects": [{"feature": "age", "change": 1}]} for cause in ("tenure", "price")]
    found = plans(service, constraints={"causal": causes, "immutable": ["age"]})
    assert [[change["feature"] for change in plan["changes"]] for plan in found] == [["amount"]]


def test_a_model_with_derived_features_judges_no_rows_of_others(service: Service, tmp_path: Path):
    copytree(tmp_path / "models/loan", tmp_path / "models/plain")
    file = tmp_path / "models/plain/model.toml"
    file.write_text(file.read_text().replace('derived = "amount / price"', ""))
    both = Service(service.settings, load_catalog(tmp_path / "models", tmp_path / "normal_ranges"))
    with pytest.raises(InvalidRequest) as refused:
        lines_of(both, {"instance": {**PERSON, "ltv": 0.95}, "robustness": {"models": ["loan"]}}, "plain")
    assert refused.value.errors[0].field == "robustness.models[0]"
    assert "'ltv' is derived" in refused.value.errors[0].message


def test_a_sentence_has_no_endless_digits_and_the_row_has_them(service: Service):
    (plan,) = plans(service, normal_ranges={"amount": {"high": 100_001 / 3}})
    (followed,) = plan["consequences"]
    assert followed["to"] == plan["instance"]["ltv"] == 100_001 / 3 / 200_000
    assert plan["sentence"].endswith("then ltv goes from 0.95 to 0.166668.")


def test_a_sentence_says_what_a_missing_value_comes_to(tmp_path: Path):
    service = altered(tmp_path, ("price", "default = 100000"), ("ltv", "default = 1.9"))
    request = {"normal_ranges": {"price": {"low": 1, "if_missing": {"value": 400_000}}}}
    said = [plan["sentence"] for plan in plans(service, instance={**PERSON, "price": None}, **request)]
    assert "Provide price: 400000 (now missing); then ltv is 0.475." in said


def test_the_terminal_says_what_follows_from_what_would_open_a_way(service: Service):
    body = {"instance": PERSON, "constraints": {"immutable": ["amount"]}}
    console = Console(file=StringIO(), width=200)
    show(events_of(service, body, "loan"), console)
    said = "Lower amount from 190000 to 160000; then ltv goes from 0.95 to 0.8"
    assert f"without immutable[0] (amount never changes): {said}" in console.file.getvalue()


def test_a_mistake_is_told_of_a_feature_that_is_sent(tmp_path: Path):
    service = altered(tmp_path, ("tenure", 'derived = "ltv / ltv"'))
    with pytest.raises(InvalidRequest) as refused:
        plans(service, instance={"amount": 0, "price": 1, "age": 30})
    assert [error.field for error in refused.value.errors] == ["instance.amount"]


def altered(folder: Path, *lines: tuple[str, str]) -> Service:
    """The model with a line more for some features."""
    write_loan(folder)
    file = folder / "models/loan/model.toml"
    for name, line in lines:
        file.write_text(file.read_text().replace(f'name = "{name}"', f'name = "{name}"\n{line}'))
    write_loan_ranges(folder / "normal_ranges")
    return Service(Settings(stability_plans=0), load_catalog(folder / "models", folder / "normal_ranges"))


def test_a_plan_that_would_divide_by_nought_is_refused_beforehand(service: Service):
    with pytest.raises(InvalidRequest) as refused:
        plans(service, normal_ranges={"price": {"low": -1, "high": 0}})
    assert refused.value.errors[0].field == "instance.amount"


@pytest.mark.parametrize(
    ("derived", "reason"),
    [
        ("amount / prise", "'prise' is not a feature"),
        ("amount /", "found the end"),
        ("ltv * 2", "computed from itself"),
        ("2 * 3", "names no feature"),
        ("(amount", "a closing bracket"),
    ],
)
def test_a_model_whose_arithmetic_is_wrong_is_not_served(tmp_path: Path, derived: str, reason: str):
    with pytest.raises(BrokenFiles) as refused:
        written(tmp_path, derived=derived)
    assert reason in str(refused.value.flaws)


def test_enough_moves_what_follows_too(service: Service):
    (plan,) = plans(service, least=True)
    (change,) = plan["changes"]
    below, enough = np.float32(change["enough"]), change["enough"]
    short = float(str(np.nextafter(below, np.float32(np.inf))))
    assert 160_000 < enough < 190_000
    assert score(service, {**PERSON, "amount": enough}) > 0 >= score(service, {**PERSON, "amount": short})


def test_the_same_request_has_the_same_words(service: Service):
    request = {"instance": PERSON, "constraints": {"causal": [SAME]}}
    first, second = (json.dumps(lines_of(service, request, "loan")[1]) for _ in range(2))
    assert first == second
