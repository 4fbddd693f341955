"""The kinds of bad rows are what they say: many, each another one, around good rows; and what is damaged is damaged."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from app.adapters.catalog import load_catalog
from app.answering.events import Counterfactual
from app.answering.service import Service
from app.settings import Settings
from tests.cohorts.reading.bad_rows import bad_rows
from tests.cohorts.reading.kinds import HCV, LOANS, Fate, Kind, Subject
from tests.support import loans
from tests.support.answers import events_of
from tests.support.live_server import ROOT


@pytest.fixture(scope="module")
def kinds() -> list[Kind]:
    return list(bad_rows())


def test_more_than_a_thousand_kinds_are_to_be_rejected(kinds: list[Kind]):
    rejected = [kind for kind in kinds if kind.fate is Fate.REJECTED]
    assert len(rejected) > 1_000
    assert {(kind.model, kind.form) for kind in rejected} == {
        (model, form) for model in ("hcv", "loans") for form in ("csv", "ndjson", "parquet")
    }


def test_each_has_a_name_of_its_own_that_a_file_can_have(kinds: list[Kind]):
    # Some file systems do not tell large letters from small ones.
    names = Counter(kind.file_name.lower() for kind in kinds)
    assert [name for name, count in names.items() if count > 1] == []
    assert all(Path(name).name == name and len(name) < 100 for name in names)


def test_no_two_files_of_a_format_are_the_same(kinds: list[Kind]):
    contents = Counter((kind.model, kind.form, kind.content) for kind in kinds if kind.rows is not None)
    assert max(contents.values()) == 1


def test_they_are_the_same_every_time(kinds: list[Kind]):
    assert list(bad_rows()) == kinds


def test_bad_rows_are_among_those_that_are_counted(kinds: list[Kind]):
    for kind in kinds:
        assert all(1 <= place <= (kind.rows or 0) for place in kind.places), kind.name
        assert not kind.lines or len(kind.lines) == len(kind.places), kind.name


@pytest.mark.parametrize("subject", [HCV, LOANS])
def test_the_good_rows_around_them_are_accepted_and_have_a_way_out(subject: Subject, tmp_path: Path):
    loans.write_loans(tmp_path)
    folder = (ROOT / "models", ROOT / "normal_ranges") if subject is HCV else (tmp_path / "models", tmp_path / "ranges")
    service = Service(Settings(), load_catalog(*folder))
    instance = {name: subject.row[name] for name in subject.features}
    context = {name: subject.row[name] for name in subject.context}
    events = events_of(service, {"instance": instance, "context": context}, subject.model)
    assert any(isinstance(event, Counterfactual) for event in events)


def test_what_is_damaged_cannot_be_read_and_what_is_beside_it_can(kinds: list[Kind]):
    damaged = [kind for kind in kinds if "damaged" in kind.mentions]
    assert damaged
    for kind in damaged:
        file = parquet.ParquetFile(pa.BufferReader(kind.content))
        with pytest.raises((pa.ArrowException, OSError)):
            file.read_row_group(1)
        assert file.read_row_group(0).num_rows == file.read_row_group(2).num_rows == 4


def test_what_has_no_rows_to_count_is_no_parquet_file(kinds: list[Kind]):
    for kind in kinds:
        if kind.rows is None:
            with pytest.raises((pa.ArrowException, OSError)):
                parquet.ParquetFile(pa.BufferReader(kind.content))
