"""`make paper` in small: the same numbers again, also after it was stopped half-way."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.live_server import ROOT
from tests.support.waiting import eventually

# Only a defect takes so long: it trains networks.
PATIENCE = 1_800
# Nothing is asked any more once four answers are written: the run stands still until somebody stops it.
HELD = f"""
import time
from lab.paper import journal
write = journal.Journal.write
def held(self, asked):
    write(self, asked)
    if sum(1 for _ in self) == 4:
        time.sleep({PATIENCE})
journal.Journal.write = held
"""


def command(out: Path) -> list[str]:
    return [sys.executable, "-m", "lab.paper", "--quick", "--out", str(out)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, str]:
    """A run from beginning to end, and what it said."""
    out = tmp_path_factory.mktemp("whole")
    run = subprocess.run(command(out), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return out, run.stdout


def journal(out: Path) -> Path | None:
    return next(out.glob("work/synthetic-*/answers.jsonl"), None)


def figures(out: Path) -> dict:
    """All numbers but the times."""
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for data_set in content["data_sets"]:
        for method in data_set["methods"].values():
            del method["metrics"]["milliseconds"]
    return content


def test_it_says_in_one_line_where_the_other_data_come_from(whole):
    _, said = whole
    said = " ".join(said.split())
    assert "hcv is skipped: put hcv.csv (https://archive.ics.uci.edu/dataset/571) into DIR and say --data DIR." in said
    assert "thyroid is skipped" in said


def test_exact_finds_every_minimal_set_and_nothing_else(whole):
    out, _ = whole
    (synthetic,) = figures(out)["data_sets"]
    assert synthetic["people"] == 3
    exact = synthetic["methods"]["exact"]["metrics"]
    assert [exact[name]["value"] for name in ("valid", "minimal_found", "returned_minimal")] == [1, 1, 1]


def test_the_page_shows_every_figure(whole):
    out, _ = whole
    page = (out / "results.md").read_text(encoding="utf-8")
    for name in ("quality", "retraining", "noise", "retraining-same-seed", "noise-same-seed", "subsets"):
        assert (out / f"{name}.svg").is_file()
        assert (out / f"{name}.png").is_file()
        assert f"({name}.svg)" in page


def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_numbers(whole, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(HELD)
    own = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    run = subprocess.Popen(command(tmp_path), cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True)
    eventually(lambda: count_lines(tmp_path) == 4 or run.poll() is not None, most=PATIENCE)
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert "Run the same command to continue" in " ".join(said.split())
    kept = journal(tmp_path).read_text(encoding="utf-8")
    assert kept.count("\n") == 4

    subprocess.run(command(tmp_path), cwd=ROOT, capture_output=True, timeout=PATIENCE, check=True)
    assert journal(tmp_path).read_text(encoding="utf-8").startswith(kept)
    assert figures(tmp_path) == figures(whole[0])


def count_lines(out: Path) -> int:
    file = journal(out)
    return 0 if file is None else file.read_text(encoding="utf-8").count("\n")
