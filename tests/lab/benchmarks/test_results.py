"""Results are kept; a part that is measured later takes its place among them, and no other figure changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.benchmarks import __main__ as command
from lab.benchmarks import report
from lab.benchmarks.figures import Figure
from lab.benchmarks.results import Results

THEN = {"cores": 2, "processor": "x86_64", "python": "3.11.0", "packages": {"numpy": "2.4.0"}}
NOW = {**THEN, "python": "3.13.0"}
ORDER = ["hcv", "growth", "page", "cohort"]


def figure(name: str, measured: float = 2.0) -> Figure:
    return Figure(name, f"title of {name}", "at least", 1.0, measured, "times", {"raw": [1, 2]})


STORED = Results((figure("hcv.search"), figure("hcv.total"), figure("cohort.memory")), False, THEN)
NEWER = Results((figure("page.first", 7.0), figure("hcv.search", 9.0)), False, NOW)


def test_what_is_written_is_read_again(tmp_path: Path):
    STORED.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == STORED


def test_newer_groups_replace_their_own_and_nothing_else():
    together = STORED.with_newer(NEWER, ORDER)
    # The whole group is another one: a figure that it no longer has is gone.
    assert [(each.name, each.measured) for each in together.figures] == [
        ("hcv.search", 9.0),
        ("page.first", 7.0),
        ("cohort.memory", 2.0),
    ]
    assert (together.machine, together.apart) == (THEN, {"hcv": NOW, "page": NOW})


def test_the_page_says_what_was_measured_later(tmp_path: Path):
    report.write_page(STORED.with_newer(NEWER, ORDER), tmp_path)
    page = (tmp_path / "results.md").read_text()
    assert "2 cores (x86_64), Python 3.11.0, numpy 2.4.0." in page
    assert "`page` was measured later than the others: 2 cores (x86_64), Python 3.13.0, numpy 2.4.0." in page


def test_the_stored_page_is_that_of_the_stored_results(tmp_path: Path):
    report.write_page(Results.read(command.STORED), tmp_path)
    kept = command.ROOT / "docs" / "benchmarks"
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        file.name: file.read_text() for file in kept.iterdir()
    }


@pytest.mark.parametrize("given", [["--store"], ["--store", "--quick", "--only", "hcv"]])
def test_only_a_part_that_is_measured_in_full_is_stored(given: list[str], monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks", *given])
    with pytest.raises(SystemExit):
        command._arguments()
    assert "--store is for --only" in capsys.readouterr().err


def test_a_group_that_fails_takes_no_other_with_it(monkeypatch, capsys, tmp_path: Path):
    def fails(_) -> Iterator[Figure]:
        yield figure("page.first")
        raise RuntimeError("the browser is gone")

    groups = {"hcv": lambda _: [figure("hcv.search")], "page": fails, "cohort": lambda _: [figure("cohort.memory")]}
    monkeypatch.setattr(command, "GROUPS", groups)
    monkeypatch.setattr("sys.argv", ["benchmarks", "--quick", "--out", str(tmp_path / "results.json")])
    with pytest.raises(SystemExit, match=r"Not measured: page\."):
        command.main()
    assert "the browser is gone" in capsys.readouterr().err
    assert [each.name for each in Results.read(tmp_path / "results.json").figures] == ["hcv.search", "cohort.memory"]


@pytest.mark.parametrize("whole", [True, False])
def test_what_a_full_run_could_not_measure_stays_as_it_was(whole: bool, monkeypatch, tmp_path: Path):
    STORED.write(tmp_path / "results.json")
    monkeypatch.setattr(command, "STORED", tmp_path / "results.json")
    monkeypatch.setattr("sys.argv", ["benchmarks", "--page", str(tmp_path / "page")])
    command._keep(NEWER, command._arguments(), whole=whole)
    names = [each.name for each in Results.read(tmp_path / "results.json").figures]
    assert names == (["page.first", "hcv.search"] if whole else ["hcv.search", "page.first", "cohort.memory"])
