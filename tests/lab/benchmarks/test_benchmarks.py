"""The bench works: every figure is measured, and no time is judged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab.benchmarks.people import people
from lab.benchmarks.requests.load import BadAnswer, Responses
from tests.support.live_server import ROOT
from tests.support.postgres import INITDB
from tests.web.support.browser import find_browser

FIGURES = {
    *("hcv.search", "hcv.total", "holding.told", "sixteen.search", "sixteen.total"),
    *("lattice.network", "lattice.trees", "lattice.four_changes"),
    *("through.trees", "through.logistic", "through.xgboost", "through.lightgbm", "through.forest", "through.network"),
    *("remote.hcv", "remote.lattice"),
    *("forty.auto", "forty.cemsp", "first.cemsp", "first.auto"),
    *("requests.json_to_stock", "requests.ndjson_to_stock"),
    *("requests.json_to_predictions", "requests.ndjson_to_predictions"),
    *("records.sqlite", "records.postgresql"),
    *("memory.slow_reader", "memory.many_subsets", "growth.search", "growth.total", "deadline.30", "deadline.40"),
    *("page.first_plan", "page.first_sentence", "page.many_sentence", "page.longest_task"),
    *("clients.python", "clients.python_async", "clients.typescript"),
    *("cohort.requests", "cohort.onnx", "cohort.onnx_refused", "cohort.memory"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A quick run; it fails by itself where two sides disagree that must not."""
    folder = tmp_path_factory.mktemp("bench")
    written = ["--out", str(folder / "results.json"), "--page", str(folder / "page")]
    command = [sys.executable, "-m", "lab.benchmarks", "--quick", *written]
    client = {"PYTHONPATH": str(ROOT / "clients/python/src")}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | client, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "hcv.search" in done.stdout
    return folder


def test_every_figure_is_measured(run: Path):
    results = json.loads((run / "results.json").read_text())
    assert results["quick"] is True
    assert results["machine"]["packages"]["onnxruntime"]
    measured = {figure["name"]: figure["measured"] for figure in results["figures"]}
    lacking = [] if find_browser() else [name for name in FIGURES if name.startswith("page")]
    lacking += [] if shutil.which("node") else ["clients.typescript"]
    lacking += [] if INITDB else ["records.postgresql"]
    assert set(measured) == FIGURES - set(lacking)
    # Of these a difference may be nothing, or less.
    differences = ("memory", "deadline", "page", "clients", "remote.hcv", "holding")
    ratios = [name for name in measured if not name.startswith(differences)]
    assert all(measured[name] > 0 for name in ratios)


def test_results_name_no_place_of_the_machine(run: Path):
    for file in run.rglob("*.*"):
        assert str(ROOT) not in file.read_text()
        assert str(run) not in file.read_text()


def test_the_page_and_its_charts_are_written(run: Path):
    page = (run / "page" / "results.md").read_text()
    for name in ("reached.svg", "answers.svg", "growth.svg"):
        assert f"({name})" in page
        ElementTree.parse(run / "page" / name)  # noqa: S314  # written just now, by the bench


def test_the_document_explains_every_figure():
    document = (ROOT / "docs" / "benchmarks.md").read_text()
    assert [name for name in sorted(FIGURES) if f"`{name}`" not in document] == []


def test_people_are_the_same_every_time():
    first, second = people(None), people(None)
    assert [next(first) for _ in range(3)] == [next(second) for _ in range(3)]


SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n0\r\n\r\nhello!"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n0\r\n\r\nab\r\na;x=1\r\n0123456789\r\n0\r\n\r\n"


@pytest.mark.parametrize("answer", [SIZED, CHUNKED])
@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_the_load_finds_the_end_of_each_answer(answer: bytes, step: int):
    responses = Responses()
    pieces = [answer[start : start + step] for start in range(0, len(answer), step)]
    for _ in range(3):
        assert [responses.complete(piece) for piece in pieces] == [False] * (len(pieces) - 1) + [True]


def test_the_load_counts_no_refusal():
    with pytest.raises(BadAnswer):
        Responses().complete(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")
