"""The outermost layer: gives each request its id, and sees how it ends: it is then counted, logged and traced, once."""

import time
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import log_unexpected, problem_response
from app.api.exchanges import HEADER, Exchange, enter, leave, request_id
from app.api.logs import log_request
from app.api.metrics import Metrics
from app.api.tracing import Tracing

# Any other is whatever somebody has written.
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Watched:
    """An app whose every request is watched."""

    def __init__(self, app: ASGIApp, metrics: Metrics, tracing: Tracing | None, log_clients: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._tracing = tracing
        self._log_clients = log_clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "other"
        exchange = Exchange(request_id(scope["headers"]), method, began=time.perf_counter())
        span = None if self._tracing is None else self._tracing.begin(exchange, scope["headers"])
        # Made here, so that all layers share the one in which a key's id is put.
        state = scope.setdefault("state", {})
        token = enter(exchange)
        self._metrics.begin()
        try:
            await self._answer(exchange, scope, receive, send)
        finally:
            exchange.ended = time.perf_counter()
            exchange.route = getattr(scope.get("route"), "path", "other")
            exchange.key_id = state.get("key_id")
            if self._log_clients and scope.get("client"):
                exchange.client = scope["client"][0]
            if exchange.answer is not None:
                exchange.account = exchange.answer.account()
            if exchange.disconnected and not exchange.sent_bytes:
                exchange.status = None
            self._metrics.end(exchange)
            log_request(exchange)
            if self._tracing is not None and span is not None:
                self._tracing.end(exchange, span)
            leave(token)

    async def _answer(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        sending = _sending(exchange, send)
        try:
            await self._app(scope, _receiving(exchange, receive), sending)
        except Exception as error:  # noqa: BLE001  # uvicorn would log its text, which may quote the instance
            log_unexpected(error)
            if exchange.status is None:
                await problem_response(error)(scope, receive, sending)
            # What has begun is cut: uvicorn closes the connection, and the last line is missing.


def _sending(exchange: Exchange, send: Send) -> Callable[[Message], Any]:
    header = (HEADER, exchange.request_id.encode("ascii"))

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            exchange.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), header]}
        else:
            exchange.sent_bytes += len(message.get("body", b""))
            exchange.complete = not message.get("more_body", False)
        await send(message)

    return sending


def _receiving(exchange: Exchange, receive: Receive) -> Callable[[], Any]:
    async def receiving() -> Message:
        message = await receive()
        # After the last byte the server says the same of every client.
        if message["type"] == "http.disconnect" and not exchange.complete:
            exchange.disconnected = True
        return message

    return receiving
