"""What heavy searches take from a real server is bounded, and comes back; others are served meanwhile."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.live import endless
from tests.live.asking import PERSON, lines_of, workers_of
from tests.support import graphs
from tests.support.live_server import ROOT, LiveServer, live_server
from tests.support.networks import at_least
from tests.support.waiting import eventually

NAMES = [f"f{index}" for index in range(40)]
PATH = "/v1/models/hopeless/counterfactuals"
# All subsets of up to five of 40 changes.
ROWS = 760_099
SEARCH_MB, TOTAL_MB = 16, 48
# What the threads take besides: rows, and chunks that are put together.
BESIDES_MB = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A model whose 40 features change nothing, and the shipped ones."""
    folder = tmp_path_factory.mktemp("hopeless")
    graphs.write_network(folder / "models/hopeless/model.onnx", at_least(41, of=40)[1])
    graphs.write_model_toml(folder / "models/hopeless", NAMES, registry="hopeless")
    graphs.write_registry(folder / "ranges/hopeless.toml", dict.fromkeys(NAMES, "{ low = 1 }"))
    shutil.copytree(ROOT / "models/synthetic", folder / "models/synthetic")
    shutil.copy(ROOT / "normal_ranges/synthetic.toml", folder / "ranges")
    memory = {"search_memory_mb": str(SEARCH_MB), "total_search_memory_mb": str(TOTAL_MB)}
    deadlines = {"default_deadline_ms": str(endless.HOUR_MS), **endless.SETTINGS}
    with live_server(folder / "models", folder / "ranges", search_threads="2", **memory, **deadlines) as running:
        yield running


def megabytes(process: int, what: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(f"{what}:"))
    return int(found.split()[1]) / 1024


def heavy(engine: str, rows: int) -> dict[str, Any]:
    return {
        "instance": dict.fromkeys(NAMES, 0),
        "limits": {"engine": engine, "max_model_rows": rows, "deadline_ms": endless.HOUR_MS},
    }


def test_six_heavy_searches_stay_within_the_memory_and_give_it_back(server: LiveServer):
    """Without a bound they take 300 MB, most of which stays."""
    (worker,) = workers_of(server, 1)
    before = megabytes(worker, "VmRSS")
    with server.client() as client, ThreadPoolExecutor(6) as askers:
        answers = [askers.submit(client.post, PATH, json=heavy("lattice", 3_000_000)) for _ in range(6)]
        while not all(answer.done() for answer in answers):
            small = client.post("/v1/models/synthetic/counterfactuals", json={"instance": PERSON})
            assert lines_of(small)[-1]["complete"]
    for answer in answers:
        summary = lines_of(answer.result())[-1]
        told = {key: summary[key] for key in ("complete", "complete_up_to", "stopped_by", "guarantee", "model_rows")}
        assert told == {
            "complete": False,
            "complete_up_to": 5,
            "stopped_by": "max_model_rows",
            "guarantee": "exact",
            "model_rows": ROWS,
        }
    assert megabytes(worker, "VmHWM") < before + TOTAL_MB + BESIDES_MB
    eventually(lambda: megabytes(worker, "VmRSS") < before + 12, lambda: f"{megabytes(worker, 'VmRSS')} of {before} MB")


def test_what_a_client_who_leaves_held_comes_back(server: LiveServer):
    (worker,) = workers_of(server, 1)
    before = megabytes(worker, "VmRSS")
    for _ in range(4):
        with server.client() as client, client.stream("POST", PATH, json=heavy("auto", 10**7)) as one:
            # Up to here it has gone through 91,390 subsets, and holds them.
            next(line for line in one.iter_lines() if '"complete_up_to":4' in line)
    eventually(lambda: megabytes(worker, "VmRSS") < before + 12, lambda: f"{megabytes(worker, 'VmRSS')} of {before} MB")
