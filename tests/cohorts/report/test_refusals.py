"""What there is no report on, and that it is said why."""

from pathlib import Path

import pytest

from app.cohorts.report.errors import DamagedRun, NoReport, NoSuchFolder, NotARun, NotWritten, UnknownColumn
from app.cohorts.report.writing import write_report
from tests.cohorts.report.made_up import found, write_run


def refused(folder: Path, kind: type[NoReport], *by: str) -> str:
    with pytest.raises(kind) as caught:
        write_report(folder, folder / "report.html", by)
    return str(caught.value)


def test_a_folder_that_is_not_there(tmp_path: Path):
    assert "does not exist" in refused(tmp_path / "nowhere", NoSuchFolder)


def test_a_file_instead_of_a_folder(tmp_path: Path):
    (tmp_path / "file").touch()
    assert "is a file, not a folder" in refused(tmp_path / "file", NoSuchFolder)


def test_a_folder_that_no_run_has_written(tmp_path: Path):
    assert "there is no run.json in it" in refused(tmp_path, NotARun)


@pytest.mark.parametrize("content", ["{", "[]", "3", "\udcff", "[" * 100_000])
def test_a_run_json_that_is_none(tmp_path: Path, content: str):
    (tmp_path / "run.json").write_text(content, errors="surrogateescape")
    assert "run.json" in refused(tmp_path, NotARun)


def test_an_unfinished_run_without_any_part(tmp_path: Path):
    (tmp_path / "run.json").write_text('{"finished": false}')
    assert "has not written anything yet" in refused(tmp_path, NotARun)


@pytest.mark.parametrize("table", ["people", "counterfactuals", "rejects"])
def test_a_part_that_was_cut(tmp_path: Path, table: str):
    folder = write_run(tmp_path / "run", [found("debt")])
    part = folder / table / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-20])
    assert f"{table}/part-00000.parquet cannot be read" in refused(folder, DamagedRun)


@pytest.mark.parametrize("table", ["people", "counterfactuals", "rejects"])
def test_a_finished_run_that_has_lost_a_part(tmp_path: Path, table: str):
    folder = write_run(tmp_path / "run", [found("debt")] * 4, parts=2)
    (folder / table / "part-00001.parquet").unlink()
    assert "is incomplete" in refused(folder, DamagedRun)


def test_an_unknown_column(tmp_path: Path):
    folder = write_run(tmp_path / "run", [found("debt", region="north")])
    assert refused(folder, UnknownColumn, "regio") == (
        "'regio' is not a column that the run has kept; did you mean 'region'?"
    )
    assert not (folder / "report.html").exists()


def test_a_place_that_cannot_be_written(tmp_path: Path):
    folder = write_run(tmp_path / "run", [found("debt")])
    for place in (tmp_path / "nowhere" / "report.html", folder / "run.json" / "report.html", folder / "people"):
        with pytest.raises(NotWritten, match="cannot be written"):
            write_report(folder, place, [])
    assert sorted(file.name for file in folder.iterdir()) == ["counterfactuals", "people", "rejects", "run.json"]
