"""Whether plans hold, in the tables of a run: what the service says of the same people, and only if it is asked."""

import json
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab.benchmarks.registers.register import register
from tests.cohorts.report.reading import report_on
from tests.cohorts.running import cohort, read
from tests.cohorts.solving.solving import job, solved
from tests.live.asking import ask, lines_of
from tests.support.live_server import ROOT

CONTEXT = ("sex", "age")
PEOPLE = 20
PLACES = ROOT / "models", ROOT / "normal_ranges"


def of_hcv(request: dict[str, Any]) -> tuple[pa.Table, pa.Table]:
    """The people and the counterfactuals of a run with this request."""
    answers = solved(job("hcv", *PLACES, request, CONTEXT), register("hcv", PEOPLE, 19, refused=True))
    return answers.people, answers.counterfactuals


def said_by_the_service(client: httpx.Client, robustness: dict[str, Any]) -> list[list[float | None]]:
    """The share of each plan of each person."""
    names = [feature["name"] for feature in client.get("/v1/models/hcv").json()["features"]]
    said = []
    for row in register("hcv", PEOPLE, 19, refused=True).to_pylist():
        body = {"instance": {name: row[name] for name in names}, "context": {name: row[name] for name in CONTEXT}}
        lines = lines_of(ask(client, {**body, "robustness": robustness}, "hcv"))
        said.append([line["stability"]["share"] for line in lines if line["type"] == "counterfactual"])
    return said


def by_person(plans: pa.Table) -> list[list[float | None]]:
    found: list[list[float | None]] = [[] for _ in range(PEOPLE)]
    for plan in plans.to_pylist():
        found[plan["row"] - 1].append(plan["stability"])
    return found


@pytest.mark.parametrize(
    "robustness",
    [
        {"noise": "registry", "draws": 50},
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"require": 0.9}, marks=pytest.mark.slow),
        pytest.param({"order": "stability"}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_each_plan_has_the_share_that_the_service_tells(robustness: dict[str, Any], client: httpx.Client):
    _, plans = of_hcv({"robustness": robustness})
    assert plans.schema.field("stability").type == "double"
    told = by_person(plans)
    assert told == said_by_the_service(client, robustness)
    assert any(told)
    assert all(share is not None and share >= robustness.get("require", 0) for shares in told for share in shares)


def test_a_run_that_does_not_ask_has_the_columns_of_old():
    """The registry has noise, and the service would tell of it."""
    _, plans = of_hcv({})
    assert plans.schema.names == ["row", "person", "rank", "changes", "cost", "score", "label"]


def test_what_is_not_known_is_null():
    request = {"robustness": {"more": "tell"}, "registry": "hcv-paper"}
    _, plans = of_hcv(request)
    assert len(plans) > 0
    assert plans["stability"].null_count == len(plans)


def test_the_fewest_changes_are_the_fewest_in_any_order():
    people, plans = of_hcv({"robustness": {"order": "stability"}})
    sizes: dict[int, list[int]] = {}
    for plan in plans.to_pylist():
        sizes.setdefault(plan["row"], []).append(len(plan["changes"]))
    fewest = dict(zip(people["row"].to_pylist(), people["fewest_changes"].to_pylist(), strict=True))
    assert {row: fewest[row] for row in sizes} == {row: min(each) for row, each in sizes.items()}
    assert any(each[0] > min(each) for each in sizes.values())


@pytest.mark.slow
def test_the_command_writes_it_and_the_report_counts_it(tmp_path: Path):
    pq.write_table(register("hcv", PEOPLE, 19, refused=True), tmp_path / "people.parquet")
    (tmp_path / "request.json").write_text(json.dumps({"robustness": {"noise": "registry"}}))
    given = ["--context", ",".join(CONTEXT), "--request", tmp_path / "request.json", "--workers", 1]
    cohort("hcv", tmp_path / "people.parquet", "--out", tmp_path / "answers", *given)
    plans = read(tmp_path / "answers", "counterfactuals").to_pylist()
    first = [plan["stability"] >= 0.95 for plan in plans if plan["rank"] == 1]
    some = {plan["row"] for plan in plans if plan["stability"] >= 0.95}
    rows = report_on(tmp_path / "answers").table("People whose plans hold")
    assert [row[:2] for row in rows] == [
        ["The first plan holds", str(sum(first))],
        ["At least one plan holds", str(len(some))],
    ]
    assert 0 < sum(first) < len(first)
