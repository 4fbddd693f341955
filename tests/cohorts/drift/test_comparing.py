"""Both versions of a model, compared on random people: like brute force over every subset, for both versions."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from onnx import TensorProto

from tests.cohorts.drift.versions import Versions, as_table, asked, compared, write_versions
from tests.support import derived_loans, graphs, loans
from tests.support.brute_force import Case, changed, feasible_sets, minimal_sets, movable
from tests.support.networks import Network, at_least
from tests.support.scale import scaled
from tests.support.seeds import Seeds

PEOPLE = 12
GAPS = (0.0, 0.3)


def plans_of(case: Case) -> list[frozenset[int]]:
    """Every minimal set, in the order of the answers; the empty one if the person needs none."""
    if case.favourable(list(case.values)):
        return [frozenset()]
    return sorted(minimal_sets(case), key=lambda plan: (len(plan), sorted(plan)))


def outcome_of(plans: list[frozenset[int]]) -> str:
    return "no_recourse" if not plans else "found" if plans[0] else "already_favourable"


def kind_of(old: str, new: str) -> str:
    """By the definition: approved or refused by each, and with or without a way out where both refuse."""
    approved = [each == "already_favourable" for each in (old, new)]
    if any(approved):
        return "still_approved" if all(approved) else "newly_approved" if approved[1] else "newly_refused"
    ways = old == "found", new == "found"
    return {
        (True, True): "keeps_way_out",
        (True, False): "loses_way_out",
        (False, True): "gains_way_out",
        (False, False): "no_way_out",
    }[ways]


def holds(person: Versions, plan: frozenset[int]) -> bool:
    """Whether the new version approves the person with the changes of the old version's plan."""
    return person.new.favourable(changed(person.old, plan, movable(person.old)))


def by_row(table: pa.Table) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        found.setdefault(row["row"], []).append(row)
    return found


@pytest.mark.parametrize("gaps", GAPS)
def test_everybody_is_compared_like_brute_force(gaps: float, tmp_path: Path):
    seen = set()
    for seed in Seeds(scaled(6), 7_000):
        folder = tmp_path / str(seed)
        folder.mkdir()
        versions = write_versions(folder, seed, gaps=gaps > 0)
        people = versions.people(PEOPLE, seed, gaps)
        told = compared(folder, as_table(people), asked(versions.old))
        persons, plans = by_row(told.people), by_row(told.counterfactuals)
        for row, person in enumerate(people, start=1):
            if not all(map(feasible_sets, person)):
                # The rules contradict each other for this person, with one version or with both.
                assert row in told.rejects["row"].to_pylist()
                assert (row in persons, row in plans) == (False, False)
                continue
            [said] = persons[row]
            old, new = plans_of(person.old), plans_of(person.new)
            outcomes = outcome_of(old), outcome_of(new)
            assert (said["old_outcome"], said["new_outcome"]) == outcomes
            assert (said["old_complete"], said["new_complete"]) == (True, True)
            assert said["kind"] == kind_of(*outcomes)
            expected = list(filter(None, old))
            assert [sorted(change["feature"] for change in plan["changes"]) for plan in plans.get(row, [])] == [
                sorted(f"f{i}" for i in plan) for plan in expected
            ]
            verdicts = [holds(person, plan) for plan in expected]
            assert [plan["holds"] for plan in plans.get(row, [])] == verdicts
            assert (said["broken"], said["new_count"]) == (verdicts.count(False), len([*filter(None, new)]))
            seen.add(said["kind"])
    assert len(seen) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("limits", [{"max_model_rows": 6}, {"max_counterfactuals": 1}, {"engine": "cemsp"}], ids=str)
def test_a_search_that_ends_early_says_so_and_nothing_that_is_not_proved(limits: dict[str, Any], tmp_path: Path):
    for seed in Seeds(scaled(5), 8_000):
        folder = tmp_path / str(seed)
        folder.mkdir()
        versions = write_versions(folder, seed, gaps=False)
        people = versions.people(PEOPLE, seed, 0.0)
        told = compared(folder, as_table(people), {**asked(versions.old), "limits": limits})
        plans = by_row(told.counterfactuals)
        for said in told.people.to_pylist():
            person = people[said["row"] - 1]
            old, new = plans_of(person.old), plans_of(person.new)
            if said["kind"] != "unknown":
                assert said["kind"] == kind_of(outcome_of(old), outcome_of(new))
            expected = {frozenset(f"f{i}" for i in plan): holds(person, plan) for plan in filter(None, old)}
            found = {
                frozenset(change["feature"] for change in plan["changes"]): plan["holds"]
                for plan in plans.get(said["row"], [])
            }
            assert found.items() <= expected.items()
            assert not said["old_complete"] or found == expected


def test_who_loses_a_way_out_is_not_known_if_the_search_with_the_new_version_ends_early(tmp_path: Path):
    """Any 2 of 6 changes suffice for the old version, any 5 for the new one."""
    names = [f"f{place}" for place in range(6)]
    for model, count in (("old", 2), ("new", 5)):
        graphs.write_network(tmp_path / f"models/{model}/model.onnx", at_least(count, of=6)[1], opaque=True)
        graphs.write_model_toml(tmp_path / f"models/{model}", names, registry="all")
    graphs.write_registry(tmp_path / "ranges/all.toml", dict.fromkeys(names, "{ low = 1 }"))
    person = pa.table({name: [0.0] for name in names})
    told = [
        compared(tmp_path, person, {"constraints": {"max_changes": 4}, "limits": limits}, ("old", "new")).people
        for limits in ({}, {"max_model_rows": 30}, {"max_counterfactuals": 1})
    ]
    columns = ("kind", "broken", "old_complete", "new_complete")
    assert [tuple(people[name][0].as_py() for name in columns) for people in told] == [
        ("loses_way_out", 15, True, True),
        ("unknown", 15, True, False),
        ("loses_way_out", 1, False, True),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("gaps", GAPS)
def test_people_together_are_compared_like_one_by_one(gaps: float, tmp_path: Path):
    for seed in Seeds(scaled(4), 9_000):
        folder = tmp_path / str(seed)
        folder.mkdir()
        versions = write_versions(folder, seed, gaps=gaps > 0)
        people = as_table(versions.people(30, seed, gaps))
        together, alone = (compared(folder, people, asked(versions.old), alone=each) for each in (False, True))
        for name in ("counterfactuals", "rejects"):
            assert getattr(together, name).equals(getattr(alone, name))
        assert together.people.drop(["old_guarantee", "new_guarantee"]).equals(
            alone.people.drop(["old_guarantee", "new_guarantee"])
        )


def test_categories_and_missing_values_are_read_by_the_new_version_in_its_own_way(tmp_path: Path):
    """It has other codes for the homes, takes a missing count for three, and asks for fewer points."""
    for name in ("loans", "loans@2"):
        loans.write_loans(tmp_path, name)
    network = Network(np.array([[-0.1], [-1.0], [0.5], [1.0]]), np.array([20.0]), np.ones(1), -16.25)
    graphs.write_network(tmp_path / "models/loans@2/model.onnx", network)
    toml = tmp_path / "models/loans@2/model.toml"
    text = toml.read_text().replace("codes = [0, 2, 1]", "codes = [3, 2, 7]").replace("default = 1", "default = 3")
    toml.write_text(text)
    homes = {"rents": 3, "owns": 2, "other": 7}
    people = [
        {"debt": 30.0 + 2 * row, "late": late, "home": home, "years": 1.0}
        for row, late in enumerate([None, -9, 0, 2, 3] * 4)
        for home in homes
    ]
    told = compared(tmp_path, pa.Table.from_pylist(people), models=("loans", "loans@2"))
    assert told.rejects.num_rows == 0
    verdicts = []
    for plan in told.counterfactuals.to_pylist():
        person = dict(people[plan["row"] - 1])
        for change in plan["changes"]:
            person[change["feature"]] = change["to"] if change["to_category"] is None else change["to_category"]
        late = 3 if person["late"] in (None, -9) else person["late"]
        row = np.array([person["debt"], late, homes[person["home"]], person["years"]], dtype=np.float32)
        value = float(network.value(row))
        assert plan["new_score"] == pytest.approx(value, abs=1e-5)
        assert (plan["holds"], plan["new_label"]) == ((True, "approved") if value > 0 else (False, "denied"))
        verdicts.append(plan["holds"])
    assert {True, False} == set(verdicts)


def test_a_row_that_only_one_version_rejects_is_rejected_and_the_version_named(tmp_path: Path):
    for name in ("loans", "loans@2"):
        loans.write_loans(tmp_path, name)
    toml = tmp_path / "models/loans@2/model.toml"
    toml.write_text(toml.read_text() + '[constraints]\nimmutable = ["debt"]\nrequired = ["debt"]\n')
    people = [{**loans.PERSON, "debt": debt} for debt in (20.0, 48.0)] + [{**loans.PERSON, "debt": None}]
    told = compared(tmp_path, pa.Table.from_pylist(people), models=("loans", "loans@2"))
    assert told.people["row"].to_pylist() == [1]
    assert set(told.counterfactuals["row"].to_pylist()) == {1}
    one, both = told.rejects.to_pylist()
    assert (one["row"], one["reason"].startswith("loans@2: ")) == (2, True)
    assert (both["row"], both["fields"], both["reason"].startswith("debt: ")) == (3, ["debt"], True)


def test_a_plan_that_the_new_version_cannot_read_is_broken(tmp_path: Path):
    """The old version reads 64 bits, the new one 32, of which the target is too large."""
    network = Network(np.ones((1, 1)), np.zeros(1), np.ones(1), -50.0)
    for name, kind in (("old", TensorProto.DOUBLE), ("new", TensorProto.FLOAT)):
        graphs.write_network(tmp_path / f"models/{name}/model.onnx", network, input_type=kind)
        graphs.write_model_toml(tmp_path / f"models/{name}", ["f0"], registry=name)
    graphs.write_registry(tmp_path / "ranges/old.toml", {"f0": "{ low = 1e300 }"})
    graphs.write_registry(tmp_path / "ranges/new.toml", {"f0": "{ low = 99 }"})
    told = compared(tmp_path, pa.table({"f0": [7.0]}), models=("old", "new"))
    [person], [plan] = told.people.to_pylist(), told.counterfactuals.to_pylist()
    assert (person["kind"], person["broken"]) == ("keeps_way_out", 1)
    assert (plan["holds"], plan["new_score"], plan["new_label"]) == (False, None, None)


def test_a_plan_on_which_the_new_version_fails_is_broken_and_no_other(tmp_path: Path):
    for name, table in (("old", [-3.0, 1.0, 1.0, 1.0, 1.0]), ("new", [-3.0, 2.0, 2.0])):
        graphs.write_lookup(tmp_path / f"models/{name}/model.onnx", table)
        graphs.write_model_toml(tmp_path / f"models/{name}", ["f0"], registry=name, whole=["f0"])
    by_group = "{{ when = {{ group = 1 }}, low = {} }}, {{ low = 2 }}"
    graphs.write_registry(tmp_path / "ranges/old.toml", {"f0": by_group.format(4)})
    graphs.write_registry(tmp_path / "ranges/new.toml", {"f0": by_group.format(1)})
    people = pa.table({"f0": [0.0, 0.0, 0.0], "group": [1.0, 2.0, 1.0]})
    told = compared(tmp_path, people, models=("old", "new"), context=("group",))
    assert told.people["kind"].to_pylist() == ["keeps_way_out"] * 3
    assert told.counterfactuals["holds"].to_pylist() == [False, True, False]
    assert [score is None for score in told.counterfactuals["new_score"].to_pylist()] == [True, False, True]


@pytest.mark.parametrize("steps", ["", "{ steps = 3 }"])
@pytest.mark.parametrize("factor", [0, 3])
def test_plans_are_judged_where_they_stop_and_with_what_follows(steps: str, factor: int, tmp_path: Path):
    """The new version asks for more: not every plan that stops at an early step holds."""
    derived_loans.write_loan(tmp_path, "old")
    derived_loans.write_loan(tmp_path, "new", least=5.23)
    derived_loans.write_loan_ranges(tmp_path / "ranges", steps)
    people = [{**derived_loans.PERSON, "amount": 165_000 + 2_000 * row, "tenure": row % 5} for row in range(18)]
    causes = [{"cause": "tenure", "effects": [{"feature": "age", "change": factor}]}] if factor else []
    request = {"constraints": {"causal": causes}}
    told = compared(tmp_path, pa.Table.from_pylist(people), request, ("old", "new"))
    assert told.rejects.num_rows == 0
    verdicts = set()
    for plan in told.counterfactuals.to_pylist():
        before = people[plan["row"] - 1]
        person = {**before, **{change["feature"]: change["to"] for change in plan["changes"]}}
        person["age"] += factor * (person["tenure"] - before["tenure"])
        row = [person["amount"], person["price"], person["amount"] / person["price"], person["tenure"], person["age"]]
        value = float(np.dot(derived_loans.WEIGHTS, row)) + 10 - 5.23
        assert abs(value) > 1e-3, "a tie, which rounding would decide"
        assert plan["new_score"] == pytest.approx(value, abs=1e-3)
        assert plan["holds"] == (value > 0)
        verdicts.add(plan["holds"])
    assert verdicts == {True, False}
