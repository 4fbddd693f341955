"""Nothing is lost: every bad row is among the rejects with a reason, every other row among the people."""

import json
from collections import Counter
from itertools import accumulate
from pathlib import Path

import pytest

from tests.cohorts.reading.bad_rows import bad_rows
from tests.cohorts.reading.kinds import Fate, Kind
from tests.cohorts.running import cohort, read
from tests.support import loans

CONTEXT = {"hcv": ["--context", "sex,age"], "loans": []}


@pytest.fixture(scope="module")
def kinds() -> list[Kind]:
    return list(bad_rows())


@pytest.mark.parametrize(
    "form", ["csv", *(pytest.param(form, marks=pytest.mark.slow) for form in ("ndjson", "parquet"))]
)
@pytest.mark.parametrize("model", ["hcv", pytest.param("loans", marks=pytest.mark.slow)])
def test_thousands_of_kinds_of_bad_rows_are_rejected_with_a_reason_and_nobody_else_is(
    model: str, form: str, kinds: list[Kind], tmp_path: Path
):
    chosen = sorted((kind for kind in kinds if (kind.model, kind.form) == (model, form)), key=lambda k: k.file_name)
    assert len(chosen) > 250
    people = tmp_path / "people"
    people.mkdir()
    for kind in chosen:
        (people / kind.file_name).write_bytes(kind.content)
    loans.write_loans(tmp_path)
    folders = {} if model == "hcv" else {"models": tmp_path / "models", "ranges": tmp_path / "ranges"}
    cohort(model, people, "--out", tmp_path / "answers", "--id", "person", *CONTEXT[model], **folders)

    rejects = read(tmp_path / "answers", "rejects").to_pylist()
    answered = set(read(tmp_path / "answers", "people")["row"].to_pylist())
    by_row = {reject["row"]: reject for reject in rejects if reject["row"] is not None}
    lost = Counter(reject["file"] for reject in rejects if reject["row"] is None)
    counts = [kind.rows or 0 for kind in chosen]
    # Every row is counted, once.
    assert not answered & by_row.keys()
    assert answered | by_row.keys() == set(range(1, sum(counts) + 1))
    assert len(answered) + len(by_row) == sum(counts)
    assert lost == {kind.file_name: 1 for kind in chosen if kind.rows is None}
    for kind, first in zip(chosen, accumulate([0, *counts[:-1]]), strict=True):
        rows = {place for place in range(1, (kind.rows or 0) + 1) if first + place in by_row}
        assert rows == set(kind.rejected) or kind.fate is Fate.COUNTED, kind.name
        lines = dict(zip(kind.places, kind.lines, strict=True)) if kind.lines else {}
        for place in kind.rejected:
            reject = by_row[first + place]
            assert reject["file"] == kind.file_name
            assert not lines or reject["line"] == lines[place], kind.name
            assert all(mention in reject["reason"] for mention in kind.mentions), (kind.name, reject["reason"])


def test_a_reason_names_the_column_and_quotes_no_value(tmp_path: Path):
    header = "ALB,ALP,ALT,AST,BIL,CHE,CHOL,CREA,GGT,PROT\n"
    (tmp_path / "people.csv").write_text(header + "46,68,secret-value,75,16,10,5,72,59,82\n")
    done = cohort("hcv", tmp_path / "people.csv", "--out", tmp_path / "answers", check=False)
    [reject] = read(tmp_path / "answers", "rejects").to_pylist()
    assert reject["fields"] == ["ALT"]
    assert reject["reason"] == "ALT: must be a number, not text"
    assert (reject["row"], reject["line"]) == (1, 2)
    assert "secret-value" not in json.dumps(reject) + done.stdout + done.stderr
    assert done.returncode == 1
    assert "All rows were rejected" in done.stderr
