"""Everybody in a chunk gets what brute force finds, and what the service says of each."""

import json
import tomllib
from dataclasses import replace
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.cohorts.reading.chunks import CellFormat
from lab.benchmarks.registers.register import register
from tests.cohorts.solving.solving import job, solved
from tests.support import graphs, loans
from tests.support.brute_force import Case, feasible_sets, minimal_sets, target_of
from tests.support.case_files import request_of, write_case
from tests.support.live_server import ROOT
from tests.support.networks import Network, at_least
from tests.support.scale import scaled
from tests.support.seeds import Seeds

PEOPLE = 25
# How many of their values are missing; of most of those it is then said what they would become.
GAPS = (0.0, 0.3)
HCV = tomllib.loads((ROOT / "models/hcv/model.toml").read_text())


def asked(case: Case) -> dict[str, Any]:
    return {name: value for name, value in request_of(case).items() if name != "instance"}


def everybody(case: Case, seed: int, gaps: float = 0.0) -> list[Case]:
    rng = np.random.default_rng(seed)
    values = rng.integers(-6, 7, (PEOPLE, len(case.values))).astype(float)
    values[rng.random(values.shape) < gaps] = np.nan
    return [replace(case, values=person.tolist()) for person in values]


def as_table(people: list[Case]) -> pa.Table:
    values = np.array([person.values for person in people])
    # What is not a number is null there.
    return pa.table({f"f{place}": pa.array(values[:, place], from_pandas=True) for place in range(values.shape[1])})


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("seed", Seeds(scaled(10), 400))
def test_everybody_is_answered_like_brute_force(seed: int, gaps: float, tmp_path: Path):
    (tmp_path / "ranges").mkdir()
    case = write_case(tmp_path, seed, gaps=gaps > 0)
    people = everybody(case, seed, gaps)
    told = solved(job(f"m{seed}", tmp_path / "models", tmp_path / "ranges", asked(case)), as_table(people))
    by_row = {person["row"]: person for person in told.people.to_pylist()}
    answers: dict[int, list[dict[str, Any]]] = {row: [] for row in range(1, PEOPLE + 1)}
    for answer in told.counterfactuals.to_pylist():
        answers[answer["row"]].append(answer)
    for row, person in enumerate(people, start=1):
        if not feasible_sets(person):
            # The rules contradict each other for this person, whatever the decision is.
            assert row not in by_row
            continue
        already = person.favourable(list(person.values))
        expected = [] if already else sorted(map(sorted, minimal_sets(person)), key=lambda s: (len(s), s))
        outcome = "already_favourable" if already else "found" if expected else "no_recourse"
        assert (by_row[row]["outcome"], by_row[row]["count"]) == (outcome, len(expected))
        assert by_row[row]["fewest_changes"] == (len(expected[0]) if expected else None)
        for rank, (answer, changed) in enumerate(zip(answers[row], expected, strict=True), start=1):
            assert (answer["rank"], answer["cost"]) == (rank, len(changed))
            assert [(change["feature"], change["from"], change["to"]) for change in answer["changes"]] == [
                (f"f{i}", None if isnan(person.values[i]) else person.values[i], target_of(person, i)) for i in changed
            ]


def alike(job_: Any, table: pa.Table) -> None:
    together, alone = solved(job_, table), solved(job_, table, alone=True)
    for name in together._fields:
        assert getattr(together, name).to_pylist() == getattr(alone, name).to_pylist()


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("seed", Seeds(scaled(10), 600))
def test_with_rules_people_together_get_what_the_service_says_of_each(seed: int, gaps: float, tmp_path: Path):
    """Also what stands in the way, and what comes closest; scores are small whole numbers here, so that many tie."""
    (tmp_path / "ranges").mkdir()
    case = write_case(tmp_path, seed, gaps=gaps > 0)
    people = as_table(everybody(case, seed, gaps))
    alike(job(f"m{seed}", tmp_path / "models", tmp_path / "ranges", asked(case)), people)


REQUESTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "weights": {"weights": {"ALT": 2.5, "GGT": 0.3, "BIL": 0.1}},
    "another registry": {"registry": "hcv-paper"},
    "no registry": {"registry": None, "guide": {"ALT": 20, "AST": 25, "GGT": 30, "BIL": 8}},
    "own ranges and a threshold": {"normal_ranges": {"AST": {"low": 10, "high": 60}}, "target": {"threshold": 0.8}},
    "few answers": {"limits": {"max_counterfactuals": 2}},
    "few rows": {"limits": {"max_model_rows": 20}},
    "the solver": {"limits": {"engine": "cemsp"}},
    "rules of many kinds": {
        "registry": "hcv-paper-tight",
        "constraints": {
            "immutable": ["AST"],
            "directions": {"BIL": "decrease", "ALB": "increase"},
            "max_step": {"ALT": 40, "GGT": 100},
            "max_changes": 3,
            "formulas": ["ALT xor GGT"],
        },
    },
    "rules that some cannot meet": {
        "constraints": {"required": ["CHOL", "BIL"], "formulas": ["not BIL or ALP"], "max_changes": 2}
    },
    "groups": {
        "registry": "hcv-paper",
        "weights": {"ALT": 2, "GGT": 0.5},
        "constraints": {
            "correlated": [["ALT", "AST"]],
            "causal": [{"cause": "GGT", "effects": ["ALP", "CHE"]}],
            "exclusive": [["BIL", "CREA"]],
        },
    },
}


@pytest.mark.parametrize("name", REQUESTS)
def test_people_together_get_what_the_service_says_of_each(name: str):
    people = register("hcv", 150, 5, refused=True)
    shipped = job("hcv", ROOT / "models", ROOT / "normal_ranges", REQUESTS[name], ["sex,age"])
    alike(shipped, pa.concat_tables([people, register("hcv", 50, 6)]))


def test_costs_are_sums_of_decimals_and_order_the_answers_of_one_size():
    weights = {"ALT": 0.1, "AST": 0.2, "GGT": 0.3, "BIL": 1.42, "ALB": 5.86}
    shipped = job("hcv", ROOT / "models", ROOT / "normal_ranges", {"weights": weights}, ["sex,age"])
    told = solved(shipped, register("hcv", 300, 5, refused=True)).counterfactuals.to_pylist()
    positions = {feature["name"]: place for place, feature in enumerate(HCV["features"])}
    keys = []
    for answer in told:
        changed = [change["feature"] for change in answer["changes"]]
        cost = sum(Decimal(repr(weights.get(name, 1))) for name in changed)
        assert Decimal(repr(answer["cost"])) == cost
        keys.append((answer["row"], len(changed), cost, [positions[name] for name in changed]))
    assert keys == sorted(keys)
    assert len({key[:3] for key in keys}) < len(keys)


def test_categories_whole_numbers_and_missing_values_get_what_the_service_says(tmp_path: Path):
    loans.write_loans(tmp_path)
    rng = np.random.default_rng(3)
    count = 300
    late = [None if n == 9 else -9 if n == 8 else int(n) for n in rng.integers(0, 10, count)]
    table = pa.table(
        {
            "debt": rng.integers(20, 60, count) + 0.5,
            "late": pa.array(late, pa.int64()),
            "home": rng.choice(["rents", "owns", "other", "castle"], count, p=[0.5, 0.2, 0.2, 0.1]),
            "years": rng.integers(0, 12, count).astype(float),
        }
    )
    for constraints in ({}, {"exclusive": [["home", "debt"]], "max_changes": 2}, {"required": ["home"]}):
        alike(job("loans", tmp_path / "models", tmp_path / "ranges", {"constraints": constraints}), table)


def test_one_hot_groups_with_missing_values_get_what_the_service_says(tmp_path: Path):
    loans.write_loans(tmp_path)
    network = Network(np.array([[-0.1], [-1.0], [3.0], [5.0], [1.0]]), np.array([20.0]), np.ones(1), -17.5)
    graphs.write_network(tmp_path / "models/loans/model.onnx", network)
    toml = tmp_path / "models/loans/model.toml"
    toml.write_text(
        toml.read_text().replace("codes = [0, 2, 1]", 'one_hot = true\nmissing = "zeros"\ndrop_first = true')
    )
    rng = np.random.default_rng(4)
    count = 200
    table = pa.table(
        {
            "debt": rng.integers(20, 60, count) + 0.5,
            "late": rng.integers(0, 4, count),
            "home": pa.array([[None, "rents", "owns", "other"][n] for n in rng.integers(0, 4, count)], pa.string()),
            "years": rng.integers(0, 12, count).astype(float),
        }
    )
    alike(job("loans", tmp_path / "models", tmp_path / "ranges"), table)


def test_decimals_are_the_numbers_that_their_digits_say():
    """Arrow's own conversion makes 0.30000000000000004 of a decimal 0.3."""
    people = register("hcv", 200, 5, refused=True)
    names = [name for name in people.column_names if pa.types.is_floating(people[name].type)]
    table = people
    for name in names:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].cast(pa.decimal128(12, 3)))
    shipped = job("hcv", ROOT / "models", ROOT / "normal_ranges", {}, ["sex,age"])
    plain, decimal = solved(shipped, people), solved(shipped, table)
    assert decimal.counterfactuals.equals(plain.counterfactuals)
    assert decimal.people.equals(plain.people)


def test_a_target_that_the_model_cannot_read_concerns_only_those_who_would_move_there():
    own = {"normal_ranges": {"ALT": {"low": 10, "high": 1e99}, "CHE": {"low": -1e99, "high": 7}}}
    shipped = job("hcv", ROOT / "models", ROOT / "normal_ranges", own, ["sex,age"])
    told = solved(shipped, register("hcv", 150, 5, refused=True))
    targets = [change["to"] for answer in told.counterfactuals.to_pylist() for change in answer["changes"]]
    assert targets
    assert all(np.isfinite(targets))
    alike(shipped, register("hcv", 60, 5, refused=True))


def test_the_name_of_a_category_may_look_like_a_number_in_a_file_of_text(tmp_path: Path):
    loans.write_loans(tmp_path)
    toml = tmp_path / "models/loans/model.toml"
    toml.write_text(toml.read_text().replace('["rents", "owns", "other"]', '["1", "2", "3"]'))
    ranges = tmp_path / "ranges/loans.toml"
    renamed = ranges.read_text().replace('home = "owns"', 'home = "2"').replace('["owns", "other"]', '["2", "3"]')
    ranges.write_text(renamed)
    people = [{"debt": 20.0 + row, "late": row % 3, "home": str(1 + row % 3), "years": 1.0} for row in range(30)]
    texts = {name: [str(person[name]) for person in people] for name in people[0]}
    lines = pa.table({"line": pa.array([json.dumps(person).encode() for person in people], pa.binary())})
    loan_job = job("loans", tmp_path / "models", tmp_path / "ranges")
    for alone in (False, True):
        from_text = solved(loan_job, pa.table(texts), alone=alone, form=CellFormat.TEXT)
        from_json = solved(loan_job, lines, alone=alone, form=CellFormat.JSON)
        assert from_text.people.equals(from_json.people)
        assert from_text.people.num_rows == 30
        assert from_text.counterfactuals.equals(from_json.counterfactuals)


def test_someone_with_more_moves_than_go_together_is_answered_too(tmp_path: Path):
    """Any 2 of 14: the lattice goes by levels, and says so."""
    _, network = at_least(2, of=14)
    names = [f"f{place}" for place in range(14)]
    graphs.write_network(tmp_path / "models/wide/model.onnx", network)
    graphs.write_model_toml(tmp_path / "models/wide", names, registry="wide")
    graphs.write_registry(tmp_path / "ranges/wide.toml", dict.fromkeys(names, "{ low = 1 }"))
    table = pa.table({name: [0.0, 1.0, 0.0] for name in names[:-4]} | {name: [0.0, 0.0, 1.0] for name in names[-4:]})
    told = solved(job("wide", tmp_path / "models", tmp_path / "ranges"), table)
    assert told.people["count"].to_pylist()[0] == 14 * 13 // 2
    alike(job("wide", tmp_path / "models", tmp_path / "ranges"), table)


def test_a_model_that_breaks_down_on_one_person_takes_nobody_along(tmp_path: Path):
    graphs.write_lookup(tmp_path / "models/table/model.onnx", [-3.0, -2.0, 2.0, 3.0])
    graphs.write_model_toml(tmp_path / "models/table", ["f0"], registry="table", whole=["f0"])
    graphs.write_registry(tmp_path / "ranges/table.toml", {"f0": "{ low = 2 }"})
    told = solved(job("table", tmp_path / "models", tmp_path / "ranges"), pa.table({"f0": [0.0, 9.0, 1.0, 3.0]}))
    assert told.people["row"].to_pylist() == [1, 3, 4]
    assert told.people["outcome"].to_pylist() == ["found", "found", "already_favourable"]
    [reject] = told.rejects.to_pylist()
    assert reject["row"] == 2
    assert "9" not in json.dumps(reject["reason"])
