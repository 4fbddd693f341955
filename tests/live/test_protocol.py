"""Requests that have no end: a real server does not wait for ever, and does not read on for ever."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from app.protocol import BoundedProtocol
from tests.live_server import PATIENCE, LiveServer


class Hasty(BoundedProtocol):
    """The same, for tests that cannot wait for a minute."""

    request_seconds = 0.3


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, wait a while, and answer with its length; and say how many headers there were."""
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message["body"]), message.get("more_body", False)
    await asyncio.sleep(1)
    body = str(length).encode()
    headers = [(b"content-length", str(len(body)).encode()), (b"x-seen", str(len(scope["headers"])).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def hasty_port() -> Iterator[int]:
    config = uvicorn.Config(echo, port=0, http=Hasty, lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE)
    listening.close()


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


class Pipe(asyncio.Transport):
    """A transport that keeps what is written, for a protocol that is handed a request in one read."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closing = False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing


def written_after(request: bytes) -> bytes:
    """What is written before the connection is closed, where the request comes in one read."""
    return asyncio.run(_written_after(request))


async def _written_after(request: bytes) -> bytes:
    transport = Pipe()
    protocol = Hasty(uvicorn.Config(echo, log_level="critical"), ServerState(), {})
    protocol.connection_made(transport)
    protocol.data_received(request)
    assert transport.is_closing()
    protocol.connection_lost(None)
    return transport.written


def problem_of(received: bytes) -> dict[str, Any]:
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"Content-Type: application/problem+json" in head
    problem = json.loads(body)
    made = problem["instance"].removeprefix("urn:flipset:request:")
    assert f"X-Request-ID: {made}\r\n".encode() in head
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
def test_a_head_that_is_too_long_is_refused_also_where_it_comes_in_one_piece(address: bytes, headers: bytes):
    request = b"GET " + address + b" HTTP/1.1\r\nHost: here\r\n" + headers + b"\r\n"
    assert problem_of(written_after(request))["status"] == 431


def test_a_long_head_that_ends_is_served(server: LiveServer):
    with connected(port_of(server)) as end:
        end.sendall(b"GET /livez HTTP/1.1\r\nConnection: close\r\nHost: here\r\nX: " + b"x" * 50_000 + b"\r\n\r\n")
        assert all_of(end).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", [b"", b"P", b"POST / HTTP/1.1\r\nHost: here\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(hasty_port: int, sent: bytes):
    with connected(hasty_port) as end:
        end.sendall(sent)
        assert problem_of(all_of(end))["status"] == 408


def test_a_body_that_does_not_come_is_not_waited_for(hasty_port: int):
    with connected(hasty_port) as end:
        end.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\nfive!")
        assert all_of(end) == b""


def test_an_answer_takes_as_long_as_it_takes(hasty_port: int):
    """Even where the next request has begun and does not go on."""
    with connected(hasty_port) as end:
        end.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\nfive!GET / HT")
        received = all_of(end)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b"\r\n\r\n5" in received
    assert b"408" in received


def test_requests_on_one_connection_each_have_their_time(hasty_port: int):
    with connected(hasty_port) as end:
        for _ in range(2):
            end.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\n")
            time.sleep(0.1)
            end.sendall(b"five!")
            assert end.recv(65536).startswith(b"HTTP/1.1 200 ")


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
        end.sendall(b"\r\n\r\n")
        answer = end.recv(65536)
    assert answer == b""


def test_trailers_that_are_too_long_end_the_connection_also_where_they_come_in_one_piece():
    assert written_after(CHUNKED + b"X: x\r\n" * 17_000 + b"\r\n") == b""


def test_trailers_are_read_and_not_kept(hasty_port: int):
    with connected(hasty_port) as end:
        end.sendall(CHUNKED + b"X: x\r\nY: y\r\n\r\n")
        received = end.recv(65536)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b"x-seen: 2\r\n" in received


def test_an_empty_line_between_requests_does_not_keep_the_connection(hasty_port: int):
    with connected(hasty_port) as end:
        end.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert end.recv(65536).startswith(b"HTTP/1.1 200 ")
        end.sendall(b"\r\n")
        assert all_of(end) == b""


def test_a_refusal_is_no_part_of_the_answer_before_it():
    long = b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"
    assert written_after(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" + long) == b""
