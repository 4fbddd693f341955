"""More clients than there is room for, and clients that never read: all others are served."""

import http.client
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.live.asking import workers_of
from tests.support.live_server import PATIENCE, LiveServer, live_server

FILES = 128
FEW_FILES = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES}))"
ASK = b"GET /openapi.json HTTP/1.1\r\nHost: here\r\n\r\n"


def port_of(server: LiveServer) -> int:
    return int(server.url.rpartition(":")[2])


@contextmanager
def unreading(server: LiveServer, count: int, source: str = "127.0.0.1") -> Iterator[None]:
    """So many clients that ask for megabytes and read nothing; those that are refused go away."""
    with ExitStack() as stack:
        for _ in range(count):
            end = socket.create_connection(("127.0.0.1", port_of(server)), PATIENCE, (source, 0))
            stack.enter_context(end).setblocking(False)
            # One that was refused may have been told so already.
            with suppress(ConnectionError):
                end.send(150 * ASK)
        yield


def get(server: LiveServer, path: str, source: str = "127.0.0.1") -> tuple[int, bytes]:
    """On a connection of its own; how one is refused is always the same."""
    with closing(http.client.HTTPConnection("127.0.0.1", port_of(server), PATIENCE, (source, 0))) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        status, body = answer.status, answer.read()
    if status == 503:
        assert (answer.getheader("retry-after"), answer.getheader("connection")) == ("5", "close")
        assert json.loads(body)["type"] == "urn:flipset:problem:service-unavailable"
    return status, body


def get_at_last(server: LiveServer, path: str, source: str = "127.0.0.1") -> bytes:
    """As a client does that comes again when it is refused, in words or without."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(ConnectionError):
            status, body = get(server, path, source)
            if status == 200:
                return body
        time.sleep(0.1)
    raise AssertionError("nobody was served")


def counted(page: bytes, name: str, **labels: str) -> float:
    said = ",".join(f'{label}="{value}"' for label, value in labels.items())
    found = re.search(rf"^{name}{re.escape(f'{{{said}}}') if said else ''} (\S+)$", page.decode(), re.MULTILINE)
    return float(found[1]) if found else 0.0


@pytest.fixture(scope="module")
def small() -> Iterator[LiveServer]:
    """A server that may open few files, and waits for no reader for long."""
    with live_server(first=FEW_FILES, write_seconds="2") as running:
        yield running


@pytest.mark.slow
def test_clients_that_never_read_shut_out_nobody(small: LiveServer):
    (worker,) = workers_of(small, 1)
    with unreading(small, 106):
        for source in ("127.0.0.1", "127.0.0.2"):
            assert get_at_last(small, "/livez", source) == b'{"status":"alive"}'
        # They do not read, and so they are not waited for.
        until = time.monotonic() + PATIENCE
        while counted(page := get_at_last(small, "/metrics", "127.0.0.2"), "flipset_connections") > 1:
            assert time.monotonic() < until
            time.sleep(0.1)
    assert counted(page, "flipset_unread_total") > 0
    assert counted(page, "flipset_connections_full_total", limit="address", result="refused") > 0
    assert len(list(Path(f"/proc/{worker}/fd").iterdir())) < FILES // 2


@pytest.mark.slow
def test_running_out_of_files_is_logged_and_counted(small: LiveServer):
    with ExitStack() as stack:
        # From many addresses: no one of them has too many.
        for number in range(FILES):
            end = socket.create_connection(("127.0.0.1", port_of(small)), PATIENCE, (f"127.0.1.{number}", 0))
            stack.enter_context(end)
        page = get_at_last(small, "/metrics")
    full = [
        counted(page, "flipset_connections_full_total", limit="files", result=done) for done in ("refused", "gave_way")
    ]
    assert sum(full) > 0
    assert small.logs("this process may open no more files (ulimit -n)")


@pytest.mark.slow
def test_no_more_connections_than_may_be():
    limits = {"max_connections": "4", "max_connections_per_address": "2", "trusted_proxies": "127.0.0.9"}
    with live_server(**limits) as server, ExitStack() as stack:
        # A proxy connects for many people.
        with ExitStack() as proxy:
            for _ in range(4):
                assert proxy.enter_context(_from(server, "127.0.0.9")).get("/livez").status_code == 200
        one, other = (stack.enter_context(_from(server, "127.0.0.1")) for _ in range(2))
        _refused(server, [one, other], "127.0.0.1")
        others = [stack.enter_context(_from(server, f"127.0.0.{number}")) for number in (2, 3)]
        _refused(server, [one, other, *others], "127.0.0.4")
        # One that has been silent for a while gives way.
        assert get_at_last(server, "/livez", "127.0.0.4")


def _refused(server: LiveServer, busy: list[httpx.Client], source: str) -> None:
    """While these ask again and again; one that does not for a second, on a busy machine, would give way."""
    until = time.monotonic() + PATIENCE
    status = 200
    while status != 503:
        assert time.monotonic() < until
        for client in busy:
            # One that has just given way may find its connection closed.
            with suppress(httpx.TransportError):
                assert client.get("/livez").status_code in (200, 503)
        with suppress(ConnectionError):
            status, _ = get(server, "/livez", source)


def _from(server: LiveServer, source: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=source)
    return httpx.Client(base_url=server.url, transport=transport, timeout=PATIENCE)
