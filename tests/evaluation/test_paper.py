"""`make paper` in small: the same numbers again, also after it was stopped half-way."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 240


def command(out: Path) -> list[str]:
    return [sys.executable, "-m", "evaluation", "--quick", "--out", str(out)]


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
    run = subprocess.Popen(command(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    wait_for_lines(tmp_path, 4)
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert "the same command goes on from there" in " ".join(said.split())
    kept = journal(tmp_path).read_text(encoding="utf-8")
    assert 4 <= kept.count("\n") < 27

    subprocess.run(command(tmp_path), cwd=ROOT, capture_output=True, timeout=PATIENCE, check=True)
    assert journal(tmp_path).read_text(encoding="utf-8").startswith(kept)
    assert figures(tmp_path) == figures(whole[0])


def wait_for_lines(out: Path, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while (file := journal(out)) is None or file.read_text(encoding="utf-8").count("\n") < count:
        assert time.monotonic() < until, "no answers were written"
        time.sleep(0.05)
