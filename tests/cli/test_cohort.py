"""The command line of the report on a run."""

import sys
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from app.cli.cohort import cohort_report
from tests.cohorts.report.made_up import found, without, write_run


def run(*arguments: str | Path) -> Result:
    command = typer.Typer()
    command.command()(cohort_report)
    return CliRunner().invoke(command, list(map(str, arguments)))


def test_the_page_is_written_into_the_folder_and_named(tmp_path: Path):
    folder = write_run(tmp_path / "run", [found("debt", sex="f"), without(sex="m")])
    done = run(folder)
    assert (done.exit_code, done.stdout) == (0, f"{folder / 'report.html'}\n")
    assert "By sex" in (folder / "report.html").read_text()


def test_the_page_is_written_where_it_is_wanted_by_the_columns_that_are_named(tmp_path: Path):
    folder = write_run(tmp_path / "run", [found("debt", sex="f", region="north"), without(sex="m", region="south")])
    done = run(folder, "--out", tmp_path / "page.html", "--by", "region")
    assert done.exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert "By region" in page
    assert "By sex" not in page


def test_what_is_wrong_is_said_without_a_traceback(tmp_path: Path):
    folder = write_run(tmp_path / "run", [found("debt", sex="f")])
    for arguments, words in [((tmp_path / "no",), "does not exist"), ((folder, "--by", "sexx"), "did you mean 'sex'?")]:
        done = run(*arguments)
        assert (done.exit_code, done.stdout) == (1, "")
        assert words in done.stderr


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("app.cohorts.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = run(tmp_path)
    assert done.exit_code == 1
    assert 'group "cohort": pip install "pyarrow>=' in done.stderr
