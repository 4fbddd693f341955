"""Several processes on one port: they answer, they end their answers, and none is left behind."""

import json
import os
import re
import signal
import time
from pathlib import Path

import httpx
import pytest

from tests import graphs
from tests.live_server import PATIENCE, LiveServer, live_server
from tests.networks import random_case
from tests.test_cli import flipset

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
        with client.stream("POST", PATH, json=request) as response:
            lines = response.iter_lines()
            first = json.loads(next(lines))
            server.terminate()
            last = json.loads(list(lines)[-1])
        assert first["type"] == "start"
        assert (last["type"], last["stopped_by"]) == ("summary", "shutdown")
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


def test_a_broken_file_is_told_once(tmp_path: Path):
    _, network = random_case(1)
    graphs.write_network(tmp_path / "models/m/model.onnx", network)
    graphs.write_model_toml(tmp_path / "models/m", [f"f{index}" for index in range(len(network.first))], registry="r")
    graphs.write_registry(tmp_path / "ranges/r.toml", {"f0": "{ low = 2, high = 1 }"})
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    started = flipset("serve", FLIPSET_WORKERS="2", **folders)
    flaw = f"{tmp_path}/ranges/r.toml: features.f0.ranges[0]: low is above high\n"
    assert (started.returncode, started.stderr) == (1, f"Flipset cannot start:\n{flaw}")
