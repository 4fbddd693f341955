"""What the outermost layer sees of a request."""

import asyncio
import logging

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from app.api.around.observed import Observed
from app.observing.metrics import Metrics


async def left(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise ClientDisconnect


async def nothing() -> Message:
    return {"type": "http.request"}


async def nowhere(message: Message) -> None:
    """Nobody reads it."""


def test_a_client_who_leaves_a_file_is_not_logged_as_unexpected(caplog: pytest.LogCaptureFixture):
    watched = Observed(left, metrics=Metrics(None), tracing=None, log_clients=False)
    scope = {"type": "http", "method": "GET", "headers": [], "path": "/web/icon.svg"}
    with caplog.at_level(logging.INFO):
        asyncio.run(watched(scope, nothing, nowhere))
    (line,) = caplog.records
    assert line.levelname == "INFO"
    assert line.facts["disconnected"]
