"""Counts of hundreds of parts: every stream ends with a summary, in little memory, and others are served meanwhile."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.live.asking import lines_of, workers_of
from tests.support import graphs
from tests.support.live_server import LiveServer, live_server
from tests.support.networks import Network

NAMES = [f"f{index}" for index in range(1_000)]
INSTANCE = dict.fromkeys(NAMES, 0)
PATH = "/v1/models/m/counterfactuals"
# Enough to build all clauses and to search a while; the second if the machine is too busy to begin by the first.
DEADLINES_MS = (4_000, 40_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A model of 1,000 features that wants a quarter of them to be 1."""
    folder = tmp_path_factory.mktemp("counts")
    network = Network(np.ones((1_000, 1)), np.zeros(1), np.ones(1), 0.5 - 250)
    graphs.write_network(folder / "models/m/model.onnx", network)
    graphs.write_model_toml(folder / "models/m", NAMES, registry="r")
    graphs.write_registry(folder / "ranges/r.toml", dict.fromkeys(NAMES, "{ low = 1 }"))
    with live_server(folder / "models", folder / "ranges") as running:
        yield running


def pairs() -> str:
    """Exactly 495 of 990 pairs of 60 features: 7.4 KB."""
    named = np.random.default_rng(1).integers(0, 60, (990, 2))
    return f"exactly(495,{','.join(f'f{one}&f{other}' for one, other in named)})"


def most_megabytes(server: LiveServer) -> float:
    """What the worker has held at the most since it started."""
    status = Path(f"/proc/{max(workers_of(server, 1))}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["cemsp", "auto"])
@pytest.mark.parametrize("constraints", [{"formulas": [pairs()]}, {"max_changes": 500, "required": ["f0"]}])
def test_large_counts_end_with_a_summary_in_little_memory(server: LiveServer, engine: str, constraints: dict[str, Any]):
    """Two at once. They took 3.1 GB, and were cut without a last line."""
    body = {"instance": INSTANCE, "constraints": constraints}
    with server.client() as client, ThreadPoolExecutor(2) as threads:
        before = most_megabytes(server)
        for deadline_ms in DEADLINES_MS:
            limited = {**body, "limits": {"engine": engine, "deadline_ms": deadline_ms}}
            asked: list[httpx.Response] = list(
                threads.map(lambda _, json=limited: client.post(PATH, json=json), (1, 2))
            )
            if all(response.status_code == 200 for response in asked):
                break
        for response in asked:
            last = lines_of(response)[-1]
            assert last["type"] == "summary"
            assert last["stopped_by"] in (None, "deadline", "max_model_rows")
        assert most_megabytes(server) - before < 200
        assert client.get("/livez").status_code == 200
