"""Fixtures that more than one room of the tests needs."""

from collections.abc import Iterator

import httpx
import pytest

from tests.live_server import LiveServer, live_server


@pytest.fixture(scope="session")
def server() -> Iterator[LiveServer]:
    """The shipped models, served by a real process."""
    with live_server() as running:
        yield running


@pytest.fixture(scope="session")
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client() as connected:
        yield connected
