"""Requests that have no end: a real server does not wait for ever, and does not read on for ever."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from app.protocol import BoundedProtocol
from tests.live_server import PATIENCE, LiveServer


class Hasty(BoundedProtocol):
    """The same, for tests that cannot wait for a minute."""

    request_seconds = 0.3


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, wait a while, and answer with its length."""
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message["body"]), message.get("more_body", False)
    await asyncio.sleep(1)
    body = str(length).encode()
    headers = [(b"content-length", str(len(body)).encode())]
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


def problem_of(received: bytes) -> dict[str, Any]:
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"Content-Type: application/problem+json" in head
    return json.loads(body)


def test_a_head_without_end_is_refused(server: LiveServer):
    with connected(int(server.url.rpartition(":")[2])) as end:
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


def test_a_long_head_that_ends_is_served(server: LiveServer):
    with connected(int(server.url.rpartition(":")[2])) as end:
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
