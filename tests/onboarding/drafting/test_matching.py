"""Columns go into a graph by name, in order or by kind; what does not fit is told in one line."""

from pathlib import Path

import numpy as np
import pytest

from app.adapters.graphs.feeds import TEXT, Offer
from app.onboarding.drafting.features import draft, graph_rows, plausible_bounds
from app.onboarding.drafting.matching import How, match
from app.onboarding.failures import Unfit
from app.onboarding.reading.table import Table, read_table

FLOAT = "tensor(float)"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    file = tmp_path / "people.csv"
    file.write_text(
        "id,Age,home,debt,job,mixed,ok\n1,40,owns,1.5,baker,x,no\n2,50,rents,2.5,smith,1,yes\n3,61,other,-1,clerk,2,no\n"
    )
    return read_table(file, None)


def names(table: Table, *inputs: Offer, left_out: tuple[str, ...] = ("ok", "mixed"), asked: tuple[str, ...] = ()):
    found = match(inputs, table, set(left_out), set(), asked)
    return [matched.column.name for matched in found.features], found.how


def one(name: str, kind: str = FLOAT) -> Offer:
    return Offer(name, kind, (None, 1))


def test_by_name_whatever_the_order_and_the_capitals(table: Table):
    assert names(table, one("debt"), one("age"), one("home", TEXT)) == (["debt", "Age", "home"], How.NAME)


def test_in_order_without_row_numbers(table: Table):
    found, how = names(table, Offer("input", FLOAT, (None, 4)))
    assert (found, how) == (["Age", "home", "debt", "job"], How.ORDER)


def test_the_row_numbers_of_pandas_are_no_feature_whatever_they_count(tmp_path: Path):
    file = tmp_path / "people.csv"
    file.write_text("a,b,age,__index_level_0__,Unnamed: 0\n1,5,30,7,7\n2,6,40,3,3\n4,4,35,9,9\n")
    found = match([Offer("input", FLOAT, (None, 3))], read_table(file, None), set(), {"age"}, ())
    assert [matched.column.name for matched in found.features] == ["a", "b", "age"]


def test_what_was_taken_for_no_feature_is_said(table: Table):
    graph = Offer("input", FLOAT, (None, 3))
    found = match([graph], table, {"ok", "mixed"}, {"Age"}, ())
    assert [matched.column.name for matched in found.features] == ["home", "debt", "job"]
    assert found.passed_over == ("id", "Age")
    assert match([graph], table, {"ok", "mixed"}, set(), ("Age", "debt", "job")).passed_over == ()


def test_by_kind_where_the_graph_reads_numbers_and_texts_apart(table: Table):
    found = names(table, Offer("numbers", FLOAT, (None, 2)), Offer("texts", TEXT, (None, 2)))
    assert found == (["Age", "debt", "home", "job"], How.KIND)


@pytest.mark.parametrize(("width", "drop_first"), [(8, False), (6, True)])
def test_as_one_hot_columns_where_only_that_fits(table: Table, width: int, drop_first: bool):
    found = match([Offer("input", FLOAT, (None, width))], table, {"ok", "mixed"}, set(), ())
    assert found.how is How.ONE_HOT
    assert [matched.drop_first for matched in found.features] == [False, drop_first, False, drop_first]
    features = [draft(matched) for matched in found.features]
    values = [drafted.values()[0] for drafted in features]
    row = graph_rows([drafted.feature for drafted in features], np.array([values]))
    # 40 years, owns (other, owns, rents), 1.5, baker (baker, clerk, smith).
    expected = [40, 0, 1, 0, 1.5, 1, 0, 0]
    assert row[0].tolist() == ([40, 1, 0, 1.5, 0, 0] if drop_first else expected)


@pytest.mark.parametrize(
    ("inputs", "asked", "told"),
    [
        (
            [Offer("input", FLOAT, (None, 12))],
            (),
            "the graph reads 12 columns (input tensor(float)), and the table has 5: id, Age, home, debt and job",
        ),
        ([Offer("input", FLOAT, (None, 2))], ("Age", "dept"), "--features dept: is not a column; did you mean 'debt'?"),
        ([Offer("input", FLOAT, (None, 3))], ("Age", "debt"), "the graph reads 3 columns"),
        ([Offer("image", FLOAT, (None, 3, 8, 8))], (), "the graph's inputs must be tables"),
    ],
)
def test_a_misfit_is_told(table: Table, inputs: list[Offer], asked: tuple[str, ...], told: str):
    with pytest.raises(Unfit) as refused:
        match(inputs, table, {"ok", "mixed"}, set(), asked)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_column_of_numbers_and_texts_is_named_with_its_row(table: Table):
    with pytest.raises(Unfit, match="mixed: holds numbers and texts, the first text in row 1"):
        match([Offer("input", FLOAT, (None, 5))], table, {"ok"}, set(), ())


def test_bounds_hold_everybody_and_no_typing_mistake(table: Table):
    bounds = plausible_bounds(table.columns["Age"])
    assert (bounds.low, bounds.high) == (19, 82)
    assert plausible_bounds(table.columns["debt"]).low < -1
