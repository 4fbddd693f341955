"""HTTP as uvicorn speaks it, with an end to what a request may be before the app hears of it.

uvicorn with httptools reads a head and trailers of any length, and waits for the rest of a request for ever: a few
clients that send without end, or not at all, would take the memory or the open files of all others.
"""

import asyncio
import json
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api.exchanges import request_id

# Of a head, and of the trailers after the last chunk.
MOST_HEAD_BYTES = 64 * 1024
# From the first byte to the last, or from the connection to the end of the first head.
REQUEST_SECONDS = 60.0

LATE = f"Send the request within {REQUEST_SECONDS:.0f} seconds."
LONG = f"Send a head of at most {MOST_HEAD_BYTES // 1024} KB: address and headers together."


class TooLong(Exception):
    """The connection is closed: httptools need not go on."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection, whose requests are of bounded heads and come within bounded time."""

    request_seconds = REQUEST_SECONDS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # What was read since the last sign of progress: a beginning, a piece of a body, an end.
        self._loose_bytes = 0
        # What the fields of this head, or of these trailers, come to. One read can hold them all.
        self._field_bytes = 0
        self._in_head = True
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._loose_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._loose_bytes > MOST_HEAD_BYTES:
            self._end_long()
        elif self._timer is None and not self._answering:
            # uvicorn has stopped its own wait for the next request, and an empty line does not begin one.
            self._wait()

    def on_message_begin(self) -> None:
        self._in_head, self._loose_bytes, self._field_bytes = True, 0, 0
        self._wait()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count_field(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_field(len(name) + len(value) + len(": \r\n"))
        # After the head it is a trailer: nobody asks for those, and uvicorn would keep them.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._field_bytes = False, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._loose_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()
        # Until the next one begins there is no head.
        self._loose_bytes = 0

    def send_400_response(self, msg: str) -> None:
        # To uvicorn, what is too long is invalid too; it has its answer already.
        if not self.transport.is_closing():
            super().send_400_response(msg)

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _count_field(self, length: int) -> None:
        self._field_bytes += length
        if self._field_bytes > MOST_HEAD_BYTES:
            self._end_long()
            raise TooLong

    def _end_long(self) -> None:
        if self._in_head and not self._answering:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, LONG)
        else:
            # A refusal would stand in the midst of an answer, or speak of a head that was in order.
            self.transport.close()

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(self.request_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if self.pipeline or (self._in_head and self._answering):
            # The answer to an earlier request is on its way, and this one has to wait for it.
            self._wait()
        elif self._in_head:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, LATE)
        else:
            # Nothing has begun, or the app waits for the body: to it, the client has left.
            self.transport.close()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        made = request_id([])
        slug = status.phrase.lower().replace(" ", "-")
        problem = {
            "type": f"urn:flipset:problem:{slug}",
            "title": status.phrase,
            "status": int(status),
            "detail": detail,
            "instance": f"urn:flipset:request:{made}",
        }
        body = json.dumps({**problem, "errors": []})
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/problem+json\r\n"
        head += f"X-Request-ID: {made}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self.transport.write(f"{head}{body}".encode())
        self.transport.close()
