"""Groups: a value each, or numbers cut at round places; and what cannot be grouped."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.cohorts.report.counting.groups import MOST_CUT_GROUPS, cut_groups, round_cuts
from app.cohorts.report.counting.survey import Column, Scale, survey
from app.cohorts.report.errors import NotGroupable, TooManyGroups, UnknownColumn
from app.cohorts.report.run import read_run
from tests.cohorts.report.made_up import Person, found, write_run


def surveyed(folder: Path, kind: pa.DataType, values: list[Any], *by: str):
    run = write_run(folder / "run", [found("debt", g=value) for value in values], kept={"g": kind}, parts=2)
    return survey(read_run(run), by)


@pytest.mark.parametrize(
    ("kind", "values", "labels"),
    [
        (pa.string(), ["b", "a", None, "b"], ("a", "b", None)),
        (pa.large_string(), ["b", "a", "b"], ("a", "b", None)),
        (pa.dictionary(pa.int32(), pa.string()), ["b", None, "a"], ("a", "b", None)),
        (pa.bool_(), [True, False, None], ("false", "true", None)),
        (pa.int64(), [10, 9, 2, 9], ("2", "9", "10", None)),
        (pa.float32(), [1.0, float("nan"), 0.5], ("0.5", "1", None)),
        (pa.date32(), [19000, 19001], ("2022-01-08", "2022-01-09", None)),
        (pa.null(), [None, None], (None,)),
    ],
)
def test_few_values_are_a_group_each_in_their_order(tmp_path: Path, kind: pa.DataType, values: list, labels: tuple):
    [grouping] = surveyed(tmp_path, kind, values).groupings
    assert grouping.labels == labels
    assert grouping.cutting == ""


def test_many_numbers_are_cut_at_round_places_and_it_is_said_how(tmp_path: Path):
    [grouping] = surveyed(tmp_path, pa.int32(), [*range(18, 91), None], "g").groupings
    assert grouping.labels == ("under 30", "30 to under 45", "45 to under 60", "60 to under 75", "75 and over", None)
    assert "cut into 5 groups, at round numbers near its fifths" in grouping.cutting
    ages = pa.array([18, 29, 30, 44, 45, 74, 75, 120, None], pa.int32())
    assert grouping.codes(ages).tolist() == [0, 0, 1, 1, 2, 3, 4, 4, 5]


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(12, 2)])
def test_a_number_that_is_not_finite_is_in_no_cut(kind: pa.DataType, tmp_path: Path):
    values = (
        [Decimal(place) for place in range(100)] if pa.types.is_decimal(kind) else [*map(float, range(100)), np.nan]
    )
    [grouping] = surveyed(tmp_path, kind, values, "g").groupings
    codes = grouping.codes(pa.array(values, kind))
    assert np.bincount(codes[:100]).tolist() == [20] * MOST_CUT_GROUPS
    assert set(codes[100:].tolist()) <= {len(grouping.labels) - 1}


def test_numbers_that_were_kept_as_text_are_cut_where_they_are_many(tmp_path: Path):
    """What a CSV file holds is text."""
    ages = [*map(str, range(18, 90)), " 90 ", "", None]
    [grouping] = surveyed(tmp_path / "many", pa.string(), ages, "g").groupings
    assert grouping.labels == ("under 30", "30 to under 45", "45 to under 60", "60 to under 75", "75 and over", None)
    assert grouping.codes(pa.array(["18", " 30", "", None, "90"])).tolist() == [0, 1, 5, 5, 4]
    assert surveyed(tmp_path / "unasked", pa.string(), ages).left_out == ["g"]
    [few] = surveyed(tmp_path / "few", pa.string(), [str(place) for place in range(20)], "g").groupings
    assert few.cutting == ""


@pytest.mark.parametrize("odd", ["unknown", "0042", "12 to 15", "1,5"])
def test_one_text_that_is_no_number_makes_a_column_of_texts(tmp_path: Path, odd: str):
    with pytest.raises(TooManyGroups):
        surveyed(tmp_path, pa.string(), [*map(str, range(100)), odd], "g")


def test_one_outlier_does_not_swallow_the_groups():
    grouping = cut_groups("income", np.array([*range(1000), 1e12]))
    assert grouping.labels == (
        "under 200",
        "200 to under 400",
        "400 to under 600",
        "600 to under 800",
        "800 and over",
        None,
    )


@given(st.lists(st.floats(-1e9, 1e9), min_size=6, max_size=200))
@example([0.0, 0.0, 0.0, 0.0, 0.0, 5e-324])
def test_cuts_are_few_ascending_and_inside_of_the_numbers(numbers: list[float]):
    edges = round_cuts(np.array(numbers))
    assert len(edges) < MOST_CUT_GROUPS
    assert list(edges) == sorted(set(edges))
    assert all(min(numbers) < edge <= max(numbers) for edge in edges)


def test_the_sample_of_a_long_column_is_small_and_spread_over_all_of_it():
    column = Column("age", numeric=True)
    for start in range(0, 1_000_000, 10_000):
        column.add(pa.array(np.arange(start, start + 10_000)))
    sample = np.concatenate(column.sample)
    assert 50_000 < len(sample) <= 140_000
    assert len(set(np.diff(sample).tolist())) == 1
    assert np.quantile(sample, [0.2, 0.8]) == pytest.approx([200_000, 800_000], rel=0.01)


def test_columns_with_too_many_values_are_left_out_unless_they_are_asked_for(tmp_path: Path):
    people = [found("debt", name=f"n{place}", age=place, sex="f") for place in range(21)]
    kinds = {"name": pa.string(), "age": pa.int64(), "sex": pa.string()}
    run = read_run(write_run(tmp_path / "run", people, kept=kinds))
    seen = survey(run, [])
    assert [grouping.column for grouping in seen.groupings] == ["sex"]
    assert seen.left_out == ["name", "age"]
    with pytest.raises(TooManyGroups, match="'name' has more than 20 values"):
        survey(run, ["name"])
    assert [grouping.column for grouping in survey(run, ["age", "sex", "age"]).groupings] == ["age", "sex"]


def test_thousands_of_groups_are_refused(tmp_path: Path):
    with pytest.raises(TooManyGroups):
        surveyed(tmp_path, pa.string(), [f"v{place}" for place in range(5000)], "g")


@pytest.mark.parametrize("name", ["regoin", "REGION "])
def test_an_unknown_column_is_told_with_the_one_that_was_meant(tmp_path: Path, name: str):
    run = read_run(write_run(tmp_path / "run", [found("debt", region="north", sex="f")]))
    with pytest.raises(UnknownColumn, match="region"):
        survey(run, [name])


@pytest.mark.parametrize("name", ["score", "person", "outcome"])
def test_columns_of_the_run_itself_make_no_groups(tmp_path: Path, name: str):
    run = read_run(write_run(tmp_path / "run", [found("debt")]))
    with pytest.raises(UnknownColumn, match="it has kept none"):
        survey(run, [name])


def test_lists_make_no_groups(tmp_path: Path):
    with pytest.raises(NotGroupable, match="list"):
        surveyed(tmp_path, pa.list_(pa.string()), [["a"]], "g")


@pytest.mark.parametrize(
    ("scores", "scale"),
    [([0.2, 0.4], Scale(0, 1)), ([-3.0, 12.0], Scale(-3, 12)), ([7.0], Scale(6.5, 7.5)), ([np.nan], Scale(0, 1))],
)
def test_scores_that_are_no_probabilities_have_a_scale_of_their_own(tmp_path: Path, scores: list, scale: Scale):
    people = [Person("already_favourable", score=score, best_score=None) for score in scores]
    assert survey(read_run(write_run(tmp_path / "run", people)), []).scale == scale
