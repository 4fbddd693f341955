"""A client that asks for all there is: the others are served, and its places come back when it leaves."""

import json
import select
import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from app.adapters.keys.key import new_key
from app.adapters.keys.key_file import editing
from app.processes.wire.protocol import Door
from app.processes.wire.transport import Patience
from tests.live import endless
from tests.live.asking import PATH, PERSON, lines_of
from tests.live.clients.within import served
from tests.live.operation.test_crowds import counted
from tests.support.live_server import PATIENCE, ROOT, LiveServer, live_server
from tests.support.waiting import eventually

SMALL = {"instance": PERSON}
# Read in a thread, and so in turn with all that is searched.
THREADED = {**SMALL, "constraints": {"formulas": ["A or B"]}, "limits": {"deadline_ms": endless.HOUR_MS}}


def posted(path: str, body: Any, header: dict[str, str]) -> bytes:
    content = json.dumps(body)
    fields = {**header, "Host": "here", "Content-Type": "application/json", "Content-Length": str(len(content))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n{content}".encode()


def sending(stack: ExitStack, port: int, count: int, content: bytes) -> list[socket.socket]:
    """So many connections, each of which sends this and stays."""
    ends = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(count)]
    for end in ends:
        end.sendall(content)
    return ends


def status_of(end: socket.socket) -> int:
    """What an answer begins with; the rest of it stays where it is."""
    return int(end.recv(12).removeprefix(b"HTTP/1.1 "))


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, dict[str, str]]:
    """The headers of two keys."""
    headers = {}
    with editing(tmp_path / "keys.toml") as made:
        for name in ("greedy", "other"):
            made[name], text = new_key(name, None, None, "")
            headers[name] = {"Authorization": f"Bearer {text}"}
    return headers


@pytest.fixture
def server(tmp_path: Path, keys: dict[str, dict[str, str]]) -> Iterator[LiveServer]:
    """A search without end beside a quick one, for those who have a key."""
    folder = endless.write_endless(tmp_path)
    shutil.copytree(ROOT / "models/synthetic", folder / "models/synthetic")
    shutil.copy(ROOT / "normal_ranges/synthetic.toml", folder / "ranges")
    settings = {"keys_file": str(tmp_path / "keys.toml"), **endless.SETTINGS}
    with live_server(folder / "models", folder / "ranges", **settings) as running:
        yield running


@pytest.mark.slow
def test_a_hundred_long_searches_of_one_key_keep_no_other_key_out(server: LiveServer, keys: dict[str, dict[str, str]]):
    greedy, other = keys["greedy"], keys["other"]
    port = int(server.url.rpartition(":")[2])

    def under_way() -> float:
        return counted(client.get("/metrics", headers=other).content, "flipset_searches_in_flight")

    with server.client() as client:
        with ExitStack() as stack:
            ends = sending(stack, port, 100, posted(endless.PATH, endless.request(), greedy))
            assert Counter(map(status_of, ends)) == {200: 50, 429: 50}
            for body in (SMALL, THREADED):
                assert lines_of(client.post(PATH, json=body, headers=other))[-1]["complete"]
            assert client.post(PATH, json=SMALL, headers=greedy).status_code == 429
            # Not one of them has ended meanwhile, and the other's have.
            eventually(lambda: under_way() == 50)
        eventually(lambda: under_way() == 0)
        eventually(lambda: client.post(PATH, json=SMALL, headers=greedy).status_code == 200)


def test_two_hundred_unfinished_bodies_of_one_client_keep_no_other_out():
    half = posted(PATH, SMALL, {})[:-10]

    def ask(source: str) -> int:
        with closing(HTTPConnection("127.0.0.1", port, PATIENCE, (source, 0))) as connection:
            connection.request("POST", PATH, json.dumps(SMALL), {"Content-Type": "application/json"})
            return connection.getresponse().status

    with served(Door(Patience(request=3_600))) as port:
        with ExitStack() as stack:
            waiting = set(sending(stack, port, 200, half))
            statuses = Counter[int]()
            # The others are waited for: they get no answer.
            while statuses.total() < 150:
                refused, _, _ = select.select(waiting, [], [], PATIENCE)
                assert refused
                waiting -= set(refused)
                statuses.update(map(status_of, refused))
            assert statuses == {429: 150}
            assert ask("127.0.0.1") == 429
            assert ask("127.0.0.2") == 200
            assert select.select(waiting, [], [], 0)[0] == []
        eventually(lambda: ask("127.0.0.1") == 200)
