"""Requests that have no end: a real server does not wait for ever, and does not read on for ever."""

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from app.processes.wire.protocol import Bounded, BoundedH11, BoundedHttpTools, Door
from app.processes.wire.transport import Patience
from tests.live.clients.within import listening
from tests.support.live_server import PATIENCE, LiveServer
from tests.support.waiting import eventually

# Goes up when the app has the head of a request.
BEGUN = threading.Event()


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, wait a while, and answer with its length; and say how many headers there were."""
    BEGUN.set()
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message["body"]), message.get("more_body", False)
    await asyncio.sleep(0.5)
    body = str(length).encode()
    headers = [(b"content-length", str(len(body)).encode()), (b"x-seen", str(len(scope["headers"])).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# For tests that cannot wait for a minute.
HASTY = Patience(request=0.3, linger=0.3)


@pytest.fixture(scope="module", params=[BoundedHttpTools, BoundedH11])
def protocol(request: pytest.FixtureRequest) -> type[Bounded]:
    """Both parsers of uvicorn."""
    chosen: type[Bounded] = request.param
    return chosen


def echoing(door: Any) -> AbstractContextManager[int]:
    return listening(uvicorn.Config(echo, port=0, http=door, lifespan="off", log_level="error", timeout_keep_alive=1))


@pytest.fixture(scope="module")
def hasty_port(protocol: type[Bounded]) -> Iterator[int]:
    """It hardly waits: on a busy machine even a quick client may come too late."""
    with echoing(Door(HASTY, protocol=protocol)) as port:
        yield port


@pytest.fixture(scope="module")
def port(protocol: type[Bounded]) -> Iterator[int]:
    with echoing(Door(protocol=protocol)) as port:
        yield port


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as end:
        yield end


def all_of(end: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    received = b""
    while piece := end.recv(65536):
        received += piece
    return received


def until(end: socket.socket, last: bytes) -> bytes:
    """What comes up to this: an answer may come in several pieces."""
    received = b""
    while not received.endswith(last):
        piece = end.recv(65536)
        assert piece, received
        received += piece
    return received


def hastily(port: int, sent: bytes) -> bytes:
    """What comes back; sent again where this process came too late with it."""

    def received() -> bytes:
        with suppress(ConnectionError), connected(port) as end:
            end.sendall(sent)
            return all_of(end)
        return b""

    return eventually(received)


class Pipe(asyncio.Transport):
    """A transport that keeps what is written, for a protocol that is handed a request in one read."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closing = False

    def write(self, data: Any) -> None:
        self.written += data

    def write_eof(self) -> None:
        self.closing = True

    def close(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return 0


def written_after(request: bytes, protocol: type[Bounded]) -> bytes:
    """What is written before the connection is closed, where the request comes in one read."""
    return asyncio.run(_written_after(request, protocol))


async def _written_after(request: bytes, protocol: type[Bounded]) -> bytes:
    transport, door = Pipe(), Door(HASTY, protocol=protocol)
    connection = door(config=uvicorn.Config(echo, log_level="critical"), server_state=ServerState(), app_state={})
    connection.connection_made(transport)
    connection.data_received(request)
    assert transport.is_closing()
    connection.connection_lost(None)
    return transport.written


def problem_of(received: bytes) -> dict[str, Any]:
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower()
    problem = json.loads(body)
    made = problem["instance"].removeprefix("urn:flipset:request:")
    assert f"x-request-id: {made}\r\n".encode() in head.lower()
    return problem


def port_of(server: LiveServer) -> int:
    return int(server.url.rpartition(":")[2])


def test_a_head_without_end_is_refused(server: LiveServer):
    with connected(port_of(server)) as end:
        end.sendall(b"GET /livez HTTP/1.1\r\nHost: here\r\n")
        refused = b""
        try:
            for _ in range(200):
                end.sendall(b"X: " + b"x" * 10_000 + b"\r\n")
            refused = all_of(end)
        except (BrokenPipeError, ConnectionResetError):
            # The server did not read what was still coming.
            return
    assert problem_of(refused)["status"] == 431


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        (b"/livez", b"X: " + b"x" * 100_000 + b"\r\n"),
        (b"/livez", b"X: x\r\n" * 17_000),
        (b"/livez?" + b"x" * 100_000, b""),
    ],
    ids=["one header", "many headers", "address"],
)
def test_a_head_that_is_too_long_is_refused_also_where_it_comes_in_one_piece(
    protocol: type[Bounded], address: bytes, headers: bytes
):
    request = b"GET " + address + b" HTTP/1.1\r\nHost: here\r\n" + headers + b"\r\n"
    assert problem_of(written_after(request, protocol))["status"] == 431


def test_a_long_head_that_ends_is_served(server: LiveServer):
    with connected(port_of(server)) as end:
        end.sendall(b"GET /livez HTTP/1.1\r\nConnection: close\r\nHost: here\r\nX: " + b"x" * 50_000 + b"\r\n\r\n")
        assert all_of(end).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", [b"", b"P", b"POST / HTTP/1.1\r\nHost: here\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(hasty_port: int, sent: bytes):
    assert problem_of(hastily(hasty_port, sent))["status"] == 408


def test_a_body_that_does_not_come_is_not_waited_for(hasty_port: int):
    sent = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\nfive!"
    assert problem_of(hastily(hasty_port, sent))["status"] == 408


def test_an_answer_takes_as_long_as_it_takes(hasty_port: int):
    """Even where the next request has begun and does not go on."""
    sent = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\nfive!GET / HT"

    def answered() -> bytes:
        received = hastily(hasty_port, sent)
        return received if received.startswith(b"HTTP/1.1 200 ") else b""

    received = eventually(answered)
    assert b"\r\n\r\n5" in received
    assert b"408" in received


def test_requests_on_one_connection_each_have_their_time(protocol: type[Bounded]):
    """Two of them take longer than one may, by a clock that nobody else moves."""
    assert asyncio.run(_answered_by_a_clock(protocol)).count(b"HTTP/1.1 200 ") == 2


async def _answered_by_a_clock(protocol: type[Bounded]) -> bytes:
    loop, now = asyncio.get_running_loop(), 0.0
    loop.time = lambda: now  # type: ignore[method-assign]
    transport, door = Pipe(), Door(HASTY, protocol=protocol)
    connection = door(config=uvicorn.Config(echo, log_level="critical"), server_state=ServerState(), app_state={})
    connection.connection_made(transport)
    for _ in range(2):
        for piece, seconds in ((b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\n", 0.2), (b"five!", 1.0)):
            connection.data_received(piece)
            # All that is to be done by now is done before the clock moves on.
            for _ in range(100):
                await asyncio.sleep(0)
            now += seconds
            for _ in range(100):
                await asyncio.sleep(0)
    connection.connection_lost(None)
    return transport.written


CHUNKED = (
    b"POST /v1/models/hcv/predictions HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
)


@pytest.mark.parametrize("piece", [b"X: " + b"x" * 10_000 + b"\r\n", b"x" * 10_000], ids=["many", "one that is long"])
def test_trailers_without_end_are_not_read(server: LiveServer, piece: bytes):
    answer = b""
    with connected(port_of(server)) as end, suppress(BrokenPipeError, ConnectionResetError):
        end.sendall(CHUNKED + b"X: x")
        for _ in range(1000):
            end.sendall(piece)
        answer = all_of(end)
    # The app may have refused the request already: it does not say that it is JSON.
    assert not answer or problem_of(answer)["status"] in (415, 431)


def test_trailers_that_are_too_long_are_refused_also_where_they_come_in_one_piece(protocol: type[Bounded]):
    refused = written_after(CHUNKED + b"X: x\r\n" * 17_000 + b"\r\n", protocol)
    assert problem_of(refused)["status"] == 431


def test_trailers_are_read_and_not_kept(port: int):
    with connected(port) as end:
        end.sendall(CHUNKED + b"X: x\r\nY: y\r\n\r\n")
        received = until(end, b"\r\n\r\n2")
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b"x-seen: 2\r\n" in received


def test_an_empty_line_between_requests_does_not_keep_the_connection(port: int):
    with connected(port) as end:
        end.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert until(end, b"\r\n\r\n0").startswith(b"HTTP/1.1 200 ")
        end.sendall(b"\r\n")
        assert all_of(end) == b""


def test_a_refusal_comes_after_the_answer_before_it(port: int):
    with connected(port) as end:
        end.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")
        received = all_of(end)
    answer, _, refused = received.partition(b"HTTP/1.1 431")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n0")
    assert problem_of(refused)["status"] == 431


def test_requests_that_come_together_are_answered_one_after_the_other(port: int):
    with connected(port) as end:
        head = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n"
        bodies = b"".join(head % length + b"x" * length for length in (1, 22, 333))
        end.sendall(
            bodies + b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: here\r\n\r\n"
        )
        answers = all_of(end).split(b"HTTP/1.1 200 OK\r\n")
    # Nothing behind the last one is read.
    assert [answer.rpartition(b"\r\n\r\n")[2] for answer in answers] == [b"", b"1", b"22", b"333", b"0"]


def test_a_body_that_is_broken_on_the_way_is_refused(port: int):
    """The app has the head already, and waits for the rest."""
    BEGUN.clear()
    with connected(port) as end:
        end.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
        assert BEGUN.wait(PATIENCE)
        end.sendall(b"zz\r\n" + b"x" * 1000)
        refused = problem_of(all_of(end))
    assert (refused["status"], refused["type"]) == (400, "urn:flipset:problem:bad-request")
    assert "hexadecimal" in refused["detail"]


JAVA = (
    b"POST /v1/models/hcv/predictions HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: %d\r\n"
    b"Host: here\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\n"
    b"User-Agent: Java-http-client/21.0.5\r\nContent-Type: application/json\r\n\r\n"
)


@pytest.mark.parametrize("upgrade", [b"h2c", b"websocket", b"foo"])
def test_an_upgrade_that_is_not_spoken_is_ignored(server: LiveServer, upgrade: bytes):
    """As Java's client asks for HTTP/2: it is answered in HTTP/1.1, and its connection is kept."""
    with connected(port_of(server)) as end, server.client() as client:
        for example in client.get("/v1/models/hcv/examples").json()["examples"]:
            asked = {"instance": example["request"]["instance"]}
            body = json.dumps(asked).encode()
            head = (JAVA % len(body)).replace(b"h2c", upgrade)
            # Together, and one after the other.
            for pieces in ([head + body], [head, body]):
                for piece in pieces:
                    end.sendall(piece)
                    time.sleep(0.02)
                answer = http.client.HTTPResponse(end)
                answer.begin()
                assert answer.status == 200
                assert answer.getheader("connection") is None
                assert json.loads(answer.read()) == client.post("/v1/models/hcv/predictions", json=asked).json()


def test_an_answer_that_comes_before_the_whole_request_ends_the_connection(server: LiveServer):
    """And reaches the client that is still sending."""
    with connected(port_of(server)) as end:
        end.sendall(b"POST /nowhere HTTP/1.1\r\nHost: here\r\nContent-Length: 8000000\r\n\r\n")
        answer = http.client.HTTPResponse(end)
        answer.begin()
        assert (answer.status, answer.getheader("connection")) == (404, "close")
        end.sendall(b"x" * 8_000_000)
        assert json.loads(answer.read())["status"] == 404
        assert end.recv(1) == b""


FILE = b"GET /docs/files/swagger-ui-bundle.js HTTP/1.1\r\nHost: here\r\nX-Request-ID: %b\r\n"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_who_leaves_a_file_is_no_surprise(server: LiveServer, count: int):
    """Nor who has asked for more than one: the file is sent in many pieces, and nobody takes them."""
    for number in range(10):
        name = f"left-{count}-{number}"
        with connected(port_of(server)) as end:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            end.sendall((FILE % name.encode() + b"\r\n") * count)
            end.recv(1)
    _is_no_surprise(server, f"left-{count}-")


def _is_no_surprise(server: LiveServer, name: str) -> None:
    server.whole_log()
    assert {line["message"] for line in server.lines() if line.get("request_id", "").startswith(name)} == {"request"}


def test_who_breaks_off_a_request_whose_answer_comes_already_is_no_surprise(server: LiveServer):
    with connected(port_of(server)) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        end.sendall(FILE % b"broken-off" + b"Transfer-Encoding: chunked\r\n\r\n")
        assert end.recv(9) == b"HTTP/1.1 "
        end.sendall(b"zz\r\n")
        # The answer is cut, and nothing stands in the midst of it.
        assert b"HTTP/1.1" not in all_of(end)
    _is_no_surprise(server, "broken-off")


def test_an_old_client_is_not_told_to_continue(port: int):
    with connected(port) as end:
        end.sendall(b"POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}")
        received = all_of(end)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close\r\n" in received.lower()
