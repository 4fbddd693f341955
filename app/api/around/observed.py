"""The outermost layer: gives each request its id, and sees how it ends: it is then counted, logged and traced, once."""

import time
from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem_response
from app.observing.logs import log_request
from app.observing.metrics import Metrics
from app.observing.observed_requests import HEADER, ObservedRequest, enter, leave, request_id
from app.observing.tracing import Tracing
from app.observing.unexpected import log_unexpected

# Any other is whatever somebody has written.
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Observed:
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
        observed = ObservedRequest(request_id(scope["headers"]), method, began=time.perf_counter())
        span = None if self._tracing is None else self._tracing.begin(observed, scope["headers"])
        # Made here, so that all layers share the one in which a key's id is put.
        state = scope.setdefault("state", {})
        token = enter(observed)
        self._metrics.begin()
        try:
            await self._answer(observed, scope, receive, send)
        finally:
            observed.ended = time.perf_counter()
            observed.route = getattr(scope.get("route"), "path", "other")
            observed.key_id = state.get("key_id")
            if self._log_clients and scope.get("client"):
                observed.client = scope["client"][0]
            if observed.answer is not None:
                observed.figures = observed.answer.figures()
            if observed.disconnected and not observed.sent_bytes:
                observed.status = None
            self._metrics.end(observed)
            log_request(observed)
            if self._tracing is not None and span is not None:
                self._tracing.end(observed, span)
            leave(token)

    async def _answer(self, observed: ObservedRequest, scope: Scope, receive: Receive, send: Send) -> None:
        sending = _sending(observed, send)
        try:
            await self._app(scope, _receiving(observed, receive), sending)
        except ClientDisconnect:
            # Left in the middle of a file: nothing went wrong, and nobody is left to answer.
            observed.disconnected = True
        except Exception as error:  # noqa: BLE001  # uvicorn would log its text, which may quote the instance
            log_unexpected(error)
            if observed.status is None:
                await problem_response(error)(scope, receive, sending)
            # What has begun is cut: uvicorn closes the connection, and the last line is missing.


def _sending(observed: ObservedRequest, send: Send) -> Callable[[Message], Any]:
    header = (HEADER, observed.request_id.encode("ascii"))

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            observed.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), header]}
        else:
            observed.sent_bytes += len(message.get("body", b""))
            observed.complete = not message.get("more_body", False)
        await send(message)

    return sending


def _receiving(observed: ObservedRequest, receive: Receive) -> Callable[[], Any]:
    async def receiving() -> Message:
        message = await receive()
        # After the last byte the server says the same of every client.
        if message["type"] == "http.disconnect" and not observed.complete:
            observed.disconnected = True
        return message

    return receiving
