"""Answers that take a while: what arrives when, and how they end early. A real server with a slow model."""

import json
import threading
from collections.abc import Iterator
from math import comb
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.live import endless
from tests.live.asking import end_with_the_server, lines_of, refused, with_a_deadline
from tests.support import graphs
from tests.support.live_server import LiveServer, live_server
from tests.support.networks import Network
from tests.support.waiting import eventually

NAMES = [f"f{index}" for index in range(9)]
PATH = "/v1/models/slow/counterfactuals"
# The first feature alone, or any three of the other eight.
ALL_ANSWERS = 1 + comb(8, 3)

# The first of the endless features alone, or any seven of the others: the first answers come soon, the last never.
EARLY = "/v1/models/early/counterfactuals"
EARLY_OTHERS = 7

MANY = "/v1/models/many/counterfactuals"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A slow search, and two without end."""
    folder = endless.write_endless(graphs.slow_model(tmp_path_factory.mktemp("slow"), NAMES))
    graphs.write_slow_network(folder / "models/early/model.onnx", len(endless.NAMES), others=EARLY_OTHERS)
    graphs.write_model_toml(folder / "models/early", endless.NAMES, registry="endless")
    return folder


@pytest.fixture(scope="module")
def slow(folder: Path) -> Iterator[LiveServer]:
    with live_server(folder / "models", folder / "ranges", search_threads="1", **endless.SETTINGS) as running:
        yield running


def request(*fixed: str, **limits: Any) -> dict[str, Any]:
    """A person with nothing in order, of whom the fixed features cannot change."""
    limits = {"deadline_ms": endless.HOUR_MS, **limits}
    return {"instance": dict.fromkeys(NAMES, 0), "constraints": {"immutable": fixed}, "limits": limits}


def ask(client: httpx.Client, body: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.post(PATH, json=body).text.splitlines()]


@pytest.mark.parametrize("accept", ["application/x-ndjson", "text/event-stream", "application/json"])
@pytest.mark.parametrize("engine", ["lattice", "cemsp"])
def test_lines_arrive_while_the_search_goes_on(slow: LiveServer, accept: str, engine: str):
    """The start and the first answer arrive, though the search does not end before its reader leaves.

    That the start does not wait for the first answer, where the machine has time to send it: tests/api/test_streams.py.
    """
    with (
        slow.client() as client,
        client.stream("POST", EARLY, json=endless.request(engine), headers={"accept": accept}) as response,
    ):
        assert response.status_code == 200
        arrived = ""
        for piece in response.iter_text():
            arrived += piece
            if '"type":"counterfactual"' in arrived:
                break
    assert 0 < arrived.index('"type":"start"') < arrived.index('"type":"counterfactual"')
    assert '"type":"summary"' not in arrived


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_a_deadline_ends_the_search_with_a_summary(slow: LiveServer, engine: str):
    with slow.client() as client:
        lines = lines_of(with_a_deadline(lambda ms: client.post(endless.PATH, json=endless.request(engine, ms))))
    summary = lines[-1]
    assert (summary["type"], summary["complete"], summary["stopped_by"]) == ("summary", False, "deadline")
    assert summary["complete_up_to"] < endless.OTHERS
    assert summary["count"] == sum(line["type"] == "counterfactual" for line in lines)


@pytest.mark.slow
def test_a_stopping_server_ends_its_answers_with_their_last_line(folder: Path):
    with live_server(folder / "models", folder / "ranges", **endless.SETTINGS) as server, server.client() as client:
        end_with_the_server(client, endless.PATH, endless.request(), server)
        server.process.wait()
        assert "Traceback" not in server.log.read_text()


def test_people_who_ask_at_once_each_get_their_own_answer(slow: LiveServer):
    counts: dict[int, int] = {}

    def one(fixed: int) -> None:
        with slow.client() as client:
            counts[fixed] = ask(client, request(*NAMES[:fixed]))[-1]["count"]

    threads = [threading.Thread(target=one, args=(fixed,)) for fixed in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == {0: ALL_ANSWERS, **{fixed: comb(9 - fixed, 3) for fixed in range(1, 7)}}


@pytest.mark.slow
def test_one_answer_too_many_is_refused_until_another_ends(folder: Path):
    with (
        live_server(folder / "models", folder / "ranges", **endless.ONE_AT_A_TIME) as server,
        server.client() as client,
        server.client() as other,
    ):
        with client.stream("POST", endless.PATH, json=endless.request()) as response:
            # Kept: a reader that is thrown away closes its connection.
            lines = response.iter_lines()
            assert json.loads(next(lines))["type"] == "start"
            full = other.post(PATH, json=request())
            assert "busy" in full.json()["type"]
            assert refused(full, 503) == {}
            assert int(full.headers["retry-after"]) > 0
        # The reader has left: its place is free as soon as that is noticed.
        eventually(lambda: other.post(PATH, json=request(*NAMES[1:])).status_code == 200)


def many_answers(folder: Path, **limits: int) -> dict[str, Any]:
    """A model with more answers than the buffers hold, and a request for all of them."""
    names = [f"f{index}" for index in range(20)]
    network = Network(np.ones((20, 1)), np.zeros(1), np.ones(1), -4.5)
    graphs.write_network(folder / "models/many/model.onnx", network)
    graphs.write_model_toml(folder / "models/many", names, registry="many")
    graphs.write_registry(folder / "ranges/many.toml", dict.fromkeys(names, "{ low = 1 }"))
    return {"instance": dict.fromkeys(names, 0), "limits": limits}


@pytest.mark.slow
def test_a_slow_reader_holds_up_only_itself(tmp_path: Path):
    """Somebody asks for more than the buffers hold and reads nothing; the only thread that searches serves others."""
    body = many_answers(tmp_path, deadline_ms=endless.HOUR_MS)
    with (
        live_server(tmp_path / "models", tmp_path / "ranges", search_threads="1", **endless.SETTINGS) as server,
        server.client() as idle,
        server.client() as client,
        idle.stream("POST", MANY, json=body) as unread,
    ):
        assert unread.status_code == 200
        for _ in range(2):
            lines = client.post(MANY, json=body).text.splitlines()
            assert json.loads(lines[-1])["count"] == comb(20, 5)
        late = list(unread.iter_lines())
        assert json.loads(late[-1])["count"] == comb(20, 5)
        assert sum(map(len, late)) > 8 * 2**20


@pytest.mark.slow
def test_who_does_not_read_at_all_loses_its_place_some_time_after_the_deadline(tmp_path: Path):
    """The sooner the better, but by then more must have been found than the buffers hold."""
    body = many_answers(tmp_path)
    first = "import app.api.responding as responding; responding.READING_SECONDS = 1"
    limits = {"max_searches": "1", **endless.SETTINGS}
    with live_server(tmp_path / "models", tmp_path / "ranges", first=first, **limits) as server:
        assert any(
            _is_cut(server, {**body, "limits": {"deadline_ms": deadline_ms}})
            for deadline_ms in (2_000, 20_000, 200_000)
        )


def _is_cut(server: LiveServer, body: dict[str, Any]) -> bool:
    """Whether one who asks and reads nothing is given up; in any case somebody else gets the place."""
    name = f"unread-{body['limits']['deadline_ms']}"
    with (
        server.client() as idle,
        server.client() as client,
        idle.stream("POST", MANY, json=body, headers={"X-Request-ID": name}),
    ):
        small = {**body, "limits": {"max_counterfactuals": 1, "deadline_ms": endless.HOUR_MS}}
        eventually(lambda: client.post(MANY, json=small).status_code == 200)
        server.whole_log()
        (line,) = [line for line in server.lines() if line.get("request_id") == name]
    return line.get("disconnected", False)
