"""HTTP as uvicorn speaks it, with an end to what a request may be before the app hears of it.

uvicorn with httptools reads a head of any length, and waits for the rest of a request for ever: a few clients that send
without end, or not at all, would take the memory or the open files of all others.
"""

import asyncio
import json
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 64 * 1024
# From the first byte to the last, or from the connection to the end of the first head.
REQUEST_SECONDS = 60.0

LATE = f"Send the request within {REQUEST_SECONDS:.0f} seconds."
LONG = f"Send a head of at most {MOST_HEAD_BYTES // 1024} KB: address and headers together."


class BoundedProtocol(HttpToolsProtocol):
    """One connection, whose requests are of bounded heads and come within bounded time."""

    request_seconds = REQUEST_SECONDS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_bytes = 0
        self._in_head = True
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, LONG)

    def on_message_begin(self) -> None:
        self._in_head, self._head_bytes = True, 0
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()
        # Until the next one begins there is no head.
        self._head_bytes = 0

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(self.request_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete
        if self.pipeline or (self._in_head and answering):
            # The answer to an earlier request is on its way, and this one has to wait for it.
            self._wait()
        elif self._in_head:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, LATE)
        else:
            # The app waits for the body: to it, the client has left.
            self.transport.close()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        slug = status.phrase.lower().replace(" ", "-")
        problem = {
            "type": f"urn:flipset:problem:{slug}",
            "title": status.phrase,
            "status": int(status),
            "detail": detail,
        }
        body = json.dumps({**problem, "errors": []})
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/problem+json\r\n"
        head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self.transport.write(f"{head}{body}".encode())
        self.transport.close()
