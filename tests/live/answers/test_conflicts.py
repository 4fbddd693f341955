"""A search for conflicts that would take minutes: others are served, and it ends with its client or with the server."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.api.describing import lines as described
from tests.live.asking import lines_of, refused, with_a_deadline
from tests.support import graphs
from tests.support.live_server import PATIENCE, LiveServer, live_server
from tests.support.networks import Network

NAMES = [f"f{index}" for index in range(60)]
INSTANCE = dict.fromkeys(NAMES, 0)
PATH = "/v1/models/m/counterfactuals"
# A quarter of the deadline is for conflicts: longer than any of these tests waits.
LONG_MS = 20 * PATIENCE * 1000


def parities() -> list[str]:
    """Forty-nine exclusive ors of 40 of the 60 features: no solver knows whether all of them can hold."""
    rng = np.random.default_rng(0)
    return [" xor ".join(rng.permutation(NAMES)[:40].tolist()) for _ in range(49)]


def puzzle(deadline_ms: int = LONG_MS) -> dict[str, Any]:
    return {"instance": INSTANCE, "constraints": {"formulas": parities()}, "limits": {"deadline_ms": deadline_ms}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 60 features that wants all of them to be 1."""
    folder = tmp_path_factory.mktemp("conflicts")
    network = Network(np.ones((60, 1)), np.zeros(1), np.ones(1), 0.5 - 60)
    graphs.write_network(folder / "models/m/model.onnx", network)
    graphs.write_model_toml(folder / "models/m", NAMES, registry="r")
    graphs.write_registry(folder / "ranges/r.toml", dict.fromkeys(NAMES, "{ low = 1 }"))
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[LiveServer]:
    """With one thread to search, so that whatever does not let go of it keeps everyone else out."""
    with live_server(folder / "models", folder / "ranges", search_threads="1", max_deadline_ms=str(LONG_MS)) as running:
        yield running


@contextmanager
def asked(server: LiveServer, path: str) -> Iterator[httpx.Client]:
    """While a client waits for the answer to the puzzle; when this ends, that client leaves."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    body = json.dumps(puzzle())
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with server.client() as others, socket.create_connection((host, int(port)), timeout=PATIENCE) as leaving:
        leaving.sendall((head + body).encode())
        wait_for_searches(others, 1)
        yield others


def wait_for_searches(client: httpx.Client, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while f"flipset_searches_in_flight {count:.1f}" not in client.get("/metrics").text:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("work", ["counterfactuals", pytest.param("subsets", marks=pytest.mark.slow)])
def test_others_are_served_meanwhile(server: LiveServer, work: str):
    few = {"instance": INSTANCE, "constraints": {"formulas": ["f0 or f1"]}, "limits": {"max_model_rows": 200}}
    with asked(server, f"/v1/models/m/{work}") as client:
        assert client.get("/livez").status_code == 200
        assert lines_of(client.post(PATH, json=few))[-1]["type"] == "summary"
        assert client.post("/v1/models/m/predictions", json={"instance": INSTANCE}).status_code == 200
        wait_for_searches(client, 1)


@pytest.mark.slow
@pytest.mark.parametrize("work", ["counterfactuals", "subsets"])
def test_it_ends_when_its_client_leaves(server: LiveServer, work: str):
    with asked(server, f"/v1/models/m/{work}"):
        pass
    with server.client() as client:
        wait_for_searches(client, 0)


@pytest.mark.slow
def test_it_ends_when_the_server_stops(server: LiveServer):
    with server.client() as client, server.client() as others, ThreadPoolExecutor(1) as thread:
        answer = thread.submit(client.post, PATH, json=puzzle())
        wait_for_searches(others, 1)
        server.terminate()
        assert refused(answer.result(PATIENCE), 503) == {}
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_an_answer_says_that_conflicts_are_not_ruled_out(server: LiveServer):
    """The solver did not find out in its share of the time, so nothing is said about it that is not known."""
    with server.client() as client:
        lines = lines_of(with_a_deadline(lambda ms: client.post(PATH, json=puzzle(ms))))
        described.Start.model_validate(lines[0])
        assert lines[0]["conflicts_ruled_out"] is False
        assert (lines[-1]["type"], lines[-1]["outcome"], lines[-1]["complete"]) == ("summary", "unknown", False)
        plain = lines_of(client.post(PATH, json={"instance": INSTANCE, "limits": {"max_model_rows": 100}}))
        assert "conflicts_ruled_out" not in plain[0]
