"""Several processes on one port: they answer, they end their answers, and none is left behind."""

import os
import re
import signal
import time
from pathlib import Path

import httpx
import pytest

from tests import graphs
from tests.live.asking import end_with_the_server
from tests.live_server import PATIENCE, LiveServer, live_server

NAMES = [f"f{index}" for index in range(9)]
PATH = "/v1/models/slow/counterfactuals"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return graphs.slow_model(tmp_path_factory.mktemp("slow"), NAMES)


def workers_of(server: LiveServer) -> set[int]:
    """The processes that have started to serve, once both have."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        started = {int(number) for number in re.findall(r"Started server process \[(\d+)\]", server.log.read_text())}
        if len(started) == 2:
            return started
        time.sleep(0.05)
    raise AssertionError(server.log.read_text())


def are_gone(processes: set[int]) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not any(Path(f"/proc/{number}").exists() for number in processes):
            return True
        time.sleep(0.05)
    return False


def test_two_workers_answer_and_end_with_their_last_lines(folder: Path):
    with live_server(folder / "models", folder / "ranges", workers="2") as server, server.client() as client:
        workers = workers_of(server)
        assert server.process.pid not in workers
        request = {"instance": dict.fromkeys(NAMES, 0), "limits": {"engine": "cemsp", "deadline_ms": 60_000}}
        end_with_the_server(client, PATH, request, server)
        server.process.wait(timeout=30)
        assert are_gone(workers)
        assert "Traceback" not in server.log.read_text()


def test_workers_do_not_outlive_their_parent(folder: Path):
    with live_server(folder / "models", folder / "ranges", workers="2") as server:
        workers = workers_of(server)
        os.kill(server.process.pid, signal.SIGKILL)
        assert are_gone(workers)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.url}/livez")
