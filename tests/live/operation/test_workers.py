"""Several processes on one port: they answer, they end their answers, and none is left behind."""

import json
import os
import signal
import subprocess
import threading
from math import comb
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.live import endless
from tests.live.asking import end_with_the_server, workers_of
from tests.support import graphs
from tests.support.live_server import FLIPSET, PATIENCE, LiveServer, live_server, reserved_port
from tests.support.waiting import eventually

NAMES = [f"f{index}" for index in range(9)]
PATH = "/v1/models/slow/counterfactuals"
# The first feature alone, or any three of the other eight.
ALL_ANSWERS = 1 + comb(8, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A slow search, and one without end."""
    return endless.write_endless(graphs.slow_model(tmp_path_factory.mktemp("slow"), NAMES, layers=2))


def are_gone(processes: set[int]) -> bool:
    return not any(Path(f"/proc/{number}").exists() for number in processes)


@pytest.mark.slow
def test_two_workers_answer_and_end_with_their_last_lines(folder: Path):
    with (
        live_server(folder / "models", folder / "ranges", workers="2", **endless.SETTINGS) as server,
        server.client() as client,
    ):
        workers = workers_of(server)
        assert server.process.pid not in workers
        end_with_the_server(client, endless.PATH, endless.request(), server)
        server.process.wait()
        eventually(lambda: are_gone(workers))
        assert "Traceback" not in server.log.read_text()


@pytest.mark.slow
def test_workers_do_not_outlive_their_parent(folder: Path):
    with live_server(folder / "models", folder / "ranges", workers="2") as server:
        workers = workers_of(server)
        os.kill(server.process.pid, signal.SIGKILL)
        eventually(lambda: are_gone(workers))
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.url}/livez")


def slow_request() -> dict[str, Any]:
    return {"instance": dict.fromkeys(NAMES, 0), "limits": {"engine": "cemsp", "deadline_ms": endless.HOUR_MS}}


class Reader(threading.Thread):
    """Reads one answer on a connection of its own; where that breaks off, what there was so far."""

    def __init__(self, server: LiveServer) -> None:
        super().__init__()
        self._server = server
        self.begun = threading.Event()
        self.lines: list[dict[str, Any]] = []
        self.was_cut = False

    def run(self) -> None:
        with self._server.client() as client, client.stream("POST", PATH, json=slow_request()) as response:
            try:
                for line in response.iter_lines():
                    self.lines.append(json.loads(line))
                    self.begun.set()
            except httpx.RemoteProtocolError:
                self.was_cut = True


def test_a_worker_that_is_killed_costs_only_its_own_answers_and_comes_back(folder: Path):
    """Of eight answers under way some are cut, without a last line; all others are whole and right."""
    with live_server(folder / "models", folder / "ranges", workers="2", **endless.SETTINGS) as server:
        workers = workers_of(server)
        readers = [Reader(server) for _ in range(8)]
        for reader in readers:
            reader.start()
        for reader in readers:
            assert reader.begun.wait(PATIENCE)
        os.kill(min(workers), signal.SIGKILL)
        for reader in readers:
            reader.join()
        for reader in readers:
            assert (reader.lines[-1]["type"] != "summary") == reader.was_cut
        whole = [reader.lines for reader in readers if not reader.was_cut]
        assert all(sum(line["type"] == "counterfactual" for line in lines) == ALL_ANSWERS for lines in whole)
        assert len(workers_of(server, 3) - workers) == 1
        for _ in range(20):
            assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE).status_code == 200


@pytest.mark.slow
def test_the_only_worker_comes_back_too(folder: Path):
    """Who asks meanwhile waits for it: the port stays open."""
    with live_server(folder / "models", folder / "ranges", **endless.SETTINGS) as server, server.client() as client:
        (worker,) = workers_of(server, 1)
        os.kill(worker, signal.SIGKILL)
        summary = json.loads(client.post(PATH, json=slow_request()).text.splitlines()[-1])
        assert (summary["type"], summary["count"]) == ("summary", ALL_ANSWERS)
        assert len(workers_of(server, 2)) == 2


@pytest.mark.slow
def test_a_stop_while_it_starts_leaves_nobody_behind(folder: Path):
    environment = {**os.environ, "FLIPSET_MODELS_DIR": str(folder / "models")}
    environment["FLIPSET_NORMAL_RANGES_DIR"] = str(folder / "ranges")
    with reserved_port() as port:
        process = subprocess.Popen(
            [FLIPSET, "serve"],
            env={**environment, "FLIPSET_PORT": str(port)},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # Its workers are there, and load what they are to serve.
        eventually(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
    # The processes that it started are in its session.
    eventually(lambda: not subprocess.run(["pgrep", "-s", str(process.pid)], capture_output=True, check=False).stdout)
