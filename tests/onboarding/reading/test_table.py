"""A table of people is read alike from every format, and a long one is sampled."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.onboarding.failures import Unfit
from app.onboarding.reading.outcomes import read_outcomes
from app.onboarding.reading.table import Table, about, read_table

PEOPLE = [
    {"age": 41, "ratio": 0.5, "home": "owns", "ok": True},
    {"age": 29, "ratio": None, "home": "rents", "ok": False},
    {"age": 35, "ratio": -1.25, "home": None, "ok": True},
]
FORMS = ("people.csv", "people.ndjson", "people.parquet")


def written(folder: Path, form: str) -> Path:
    file = folder / form
    if form.endswith("csv"):
        lines = [",".join("" if each is None else str(each).replace("True", "true").replace("False", "false")
                          for each in person.values()) for person in PEOPLE]  # fmt: skip
        file.write_text("\n".join(["age,ratio,home,ok", *lines]) + "\n")
    elif form.endswith("ndjson"):
        file.write_text("".join(json.dumps(person) + "\n" for person in PEOPLE))
    else:
        pq.write_table(pa.Table.from_pylist(PEOPLE), file)
    return file


@pytest.fixture(params=FORMS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    return read_table(written(tmp_path, request.param), None)


def test_every_format_gives_the_same_columns(table: Table):
    age, ratio, home, ok = (table.columns[name] for name in ("age", "ratio", "home", "ok"))
    assert age.is_number
    assert age.is_whole
    assert age.numbers.tolist() == [41, 29, 35]
    assert (ratio.least, ratio.most, ratio.missing_count) == (-1.25, 0.5, 1)
    assert home.is_text
    assert home.are("rents").tolist() == [False, True, False]
    assert home.is_missing.tolist() == [False, False, True]
    assert ok.are("true").tolist() == [True, False, True]


def test_words_for_missing_values_are_missing(tmp_path: Path):
    file = tmp_path / "people.csv"
    file.write_text("a,b\n1,x\nNA,?\n3,y\n")
    columns = read_table(file, None).columns
    assert columns["a"].is_number
    assert columns["a"].missing_words == {"NA": 1}
    assert columns["b"].words == ("x", "y")


def test_texts_among_numbers_are_seen_with_their_row(tmp_path: Path):
    file = tmp_path / "people.csv"
    file.write_text("a\n1\n2\nmany\n")
    column = read_table(file, None).columns["a"]
    assert not column.is_number
    assert not column.is_text
    assert column.first_word_row == 3


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (('"1,5"', '"2,5"'), "numbers that are written as texts"),
        (("12 %", "7%"), "numbers that are written as texts"),
        (("$5", "$1300"), "numbers that are written as texts"),
        (("41.3 mg/dl", "39 mg/dl"), "numbers with their unit: leave only the numbers, and put unit = 'mg/dl'"),
        (("41.3", "39 mg/dl", "39.5 mg/dl"), "numbers with their unit"),
        (tuple(f"{number} cm" for number in range(150, 170)), "numbers with their unit"),
        (("2024-01-31", "2023-12-01"), "dates"),
        (("31.1.2024", "1.12.2023 10:30"), "dates"),
        (("1", "many"), "numbers and texts, the first text in row 2"),
    ],
)
def test_numbers_that_nobody_can_read_as_such_are_seen(tmp_path: Path, cells: tuple[str, ...], told: str):
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["a,b", *(f"{cell},1" for cell in cells)]) + "\n")
    column = read_table(file, None).columns["a"]
    assert column.is_spoilt
    assert column.not_numbers is not None
    assert f"holds {told}" in column.not_numbers


@pytest.mark.parametrize(
    "cells", [("20-30", "31-40"), ("a1", "2b"), ("36 months", "60 months"), ("1.2 mg", "3 ml"), ("north", "south")]
)
def test_words_with_digits_are_words(tmp_path: Path, cells: tuple[str, ...]):
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["a,b", *(f"{cell},1" for cell in cells)]) + "\n")
    assert not read_table(file, None).columns["a"].is_spoilt


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([*range(20, 60), -999, -999], (-999,)),
        ([*range(20, 60), 9999], (9999,)),
        ([*range(20, 60), -9, -99, 999], (-99, 999)),
        ([*range(-50, 50), -99], ()),
        ([*range(20, 99), 999], (999,)),
        ([*range(900, 1100), 999, 9999], (9999,)),
        ([*range(20, 100), 99], ()),
        ([*range(1, 3000, 10), 9999], (9999,)),
        ([*range(1, 12000, 10), 9999], ()),
        ([1, 2, 3, 999], ()),
    ],
)
def test_nines_far_from_all_others_may_be_codes_for_missing(tmp_path: Path, cells: list[int], codes: tuple[int, ...]):
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["a,b", *(f"{cell},1" for cell in cells)]) + "\n")
    assert read_table(file, None).columns["a"].codes == codes


def test_rows_that_are_not_utf8_are_told_of_with_the_first(tmp_path: Path):
    file = tmp_path / "people.csv"
    file.write_bytes("a,b\n1,nord\n2,süd\n3,nord\n".encode("latin-1"))
    assert about(read_table(file, None)) == "3 rows, 1 of them unreadable: row 2 is not UTF-8 text"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("people.xlsx", b"PK\x03\x04 and so on", "is an Excel workbook: save its sheet as CSV UTF-8"),
        ("people.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", "is an Excel workbook"),
        ("people.csv", "a,b\n1,2\n".encode("utf-16"), "is not UTF-8 text: save it as CSV UTF-8"),
        ("people.csv", "größe,b\n1,2\n".encode("latin-1"), "is not UTF-8 text: save it as CSV UTF-8"),
        ("people.csv", b'"debt\n(in EUR)",b\n1,2\n', "the header one line?"),
        ("people.csv", b"My report\n1,2\n", "row 1 has 2 fields, but the header has 1; is its first line the header?"),
    ],
)
def test_what_is_no_table_is_named(tmp_path: Path, name: str, content: bytes, told: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Unfit) as refused:
        read_table(tmp_path / name, None)
    assert told in str(refused.value)


def test_a_long_table_is_sampled_and_its_counts_are_of_all(tmp_path: Path):
    file = tmp_path / "people.parquet"
    values = np.random.default_rng(0).normal(0, 1, 60_000)
    pq.write_table(pa.table({"a": values, "b": np.where(values > 0, "up", "down")}), file)
    table = read_table(file, None, most_people=7_000)
    assert (table.rows, table.kept) == (60_000, 7_000)
    column = table.columns["a"]
    assert (column.number_count, column.least, column.most) == (60_000, values.min(), values.max())
    assert abs(np.mean(column.numbers)) < 0.05
    # The columns of a row stay together.
    assert np.array_equal(column.numbers > 0, table.columns["b"].are("up"))
    assert np.array_equal(read_table(file, None, most_people=7_000).columns["a"].numbers, column.numbers)


def test_row_numbers_are_recognised(tmp_path: Path):
    file = tmp_path / "people.csv"
    file.write_text("id,age\n1,40\n2,41\n3,43\n")
    columns = read_table(file, None).columns
    assert columns["id"].is_counter
    assert not columns["age"].is_counter


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "has no columns that can be read"),
        ("a,b\n", "holds nobody who can be read"),
        ("a,b\n1\n", "holds nobody who can be read: row 1 has 1 fields, but the header has 2"),
        ("a,a\n1,2\n", "has several columns 'a': rename all but one"),
    ],
)
def test_a_table_of_nobody_is_refused_in_one_line(tmp_path: Path, content: str, told: str):
    file = tmp_path / "people.csv"
    file.write_text(content)
    with pytest.raises(Unfit) as refused:
        read_table(file, None)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("outcome", "favourable", "told"),
    [
        ("hom", ["owns"], "--outcome hom: is not a column; did you mean 'home'?"),
        ("home", ["own"], "--favourable own: is not a value of home, which has owns or rents"),
        ("home", [], "--outcome home: say which value of it is favourable, with --favourable"),
        ("home", ["owns", "rents"], "everybody has the favourable outcome"),
        ("home", [">=1"], "home is not a column of numbers"),
        (None, ["owns"], "--favourable needs --outcome"),
    ],
)
def test_outcomes_that_cannot_be_told_apart_are_refused(
    tmp_path: Path, outcome: str | None, favourable: list[str], told: str
):
    with pytest.raises(Unfit) as refused:
        read_outcomes(read_table(written(tmp_path, "people.csv"), None), outcome, favourable)
    assert told in str(refused.value)


def test_an_outcome_may_be_a_number(tmp_path: Path):
    table = read_table(written(tmp_path, "people.csv"), None)
    assert read_outcomes(table, "age", [">=35"]).accepted.tolist() == [True, False, True]
    assert read_outcomes(table, "age", ["<=30"]).accepted.tolist() == [False, True, False]
    assert read_outcomes(table, "age", ["35.0", "29"]).favourable == ("35", "29")
    assert read_outcomes(table, "home", ["OWNS"]).favourable == ("owns",)
    assert read_outcomes(table, "ok", ["true"]).refused.tolist() == [False, True, False]
