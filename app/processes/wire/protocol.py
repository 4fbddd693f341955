"""uvicorn's HTTP with limits: plain requests, one at a time, each within its time, and clients that read their answers.

uvicorn lets its parsers decide where a request ends, and waits for its clients for ever. Here `framing` decides where
a request ends, for both parsers, and `transport` closes connections whose clients do not read.
"""

import asyncio
import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from app.observing.observed_requests import request_id
from app.processes.wire.connections import ConnectionLimits, Connections, Counts, Uncounted
from app.processes.wire.framing import MOST_HEAD_BYTES, Framer, Unframed
from app.processes.wire.transport import BoundedTransport, Patience

if TYPE_CHECKING:
    # Or H11Protocol: what is used of either is the same.
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
else:
    Base = object

CLOSE = (b"connection", b"close")
UNCOUNTED = Uncounted()
FULL = "The service has too many connections. Try again in a few seconds."
NO_REQUEST = "Send a method and an address as in RFC 9112, such as GET /livez."


class Bounded(Base):
    """One connection. The parser behind it gets a request only after `framing` has accepted its head."""

    transport: BoundedTransport

    def __init__(self, patience: Patience, connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self._patience = patience
        self._connections = connections
        # The app's lifespan provides it for all connections.
        self._counts: Counts = self.app_state.get("connection_counts", UNCOUNTED)
        self._framer = Framer()
        self._timer: asyncio.TimerHandle | None = None
        self._serve, self._is_last = self.app, False
        self._heard = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(BoundedTransport(transport, self._patience, self._counts.unread))
        self._heard = self.loop.time()
        if self._connections.admit(self, self._address, _descriptor(transport), self._heard, self._counts) is None:
            self._wait()
        elif self._connections.may_be_told(self):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, FULL)
        else:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._connections.leave(self, self._address, self._counts)
        self.transport.lost()
        super().connection_lost(exc)

    def waits_since(self) -> float | None:
        if self.transport.unread_since is not None:
            return self.transport.unread_since
        return None if self._is_answering and self._framer.is_complete else self._heard

    def give_way(self) -> None:
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.transport.watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.transport.unwatch()

    def data_received(self, data: bytes) -> None:
        # Once the connection is closing, nothing that comes is read.
        if not self.transport.is_closing():
            self._heard = self.loop.time()
            self._framer.feed(data)
            self._go_on()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._heard = self.loop.time()
        if self._framer.waiting and not self.transport.is_closing():
            self._go_on()

    def send_400_response(self, msg: str) -> None:
        self._refuse(HTTPStatus.BAD_REQUEST, NO_REQUEST)

    def _go_on(self) -> None:
        try:
            if not self._framer.is_complete:
                self._pass_on(self._framer.body())
            elif not self._is_answering:
                self._begin()
            elif self._framer.waiting > MOST_HEAD_BYTES:
                # The next request must wait for this answer, and the rest of it stays in the kernel.
                self.flow.pause_reading()
        except Unframed as error:
            self.logger.warning("Invalid HTTP request received.")
            self._refuse(error.status, error.detail)

    def _begin(self) -> None:
        head = self._framer.head()
        content = b"" if head is None else head.content + self._framer.body()
        is_whole = head is not None and self._framer.is_complete
        # Nearly every request arrives in one piece, and needs no timer.
        if self._timer is None and not is_whole and (head is not None or self._framer.waiting):
            self._unset_keepalive_if_required()
            self._wait()
        if head is not None:
            self._is_last = head.is_last
            self.app = self._serve if is_whole and not head.is_last else self._serve_last
            self._pass_on(content)

    def _pass_on(self, content: bytes) -> None:
        self.transport.expects_more = not self._framer.is_complete
        if self._framer.is_complete:
            self._stop_waiting()
        if content:
            super().data_received(content)

    async def _serve_last(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, and close the connection afterwards, unless the whole request arrives before the answer begins.

        A proxy that has its answer may drop the rest of the request. What it sends next would be taken for that rest.
        """

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start" and (self._is_last or not self._framer.is_complete):
                message = {**message, "headers": [*message.get("headers", ()), CLOSE]}
            await send(message)

        await self._serve(scope, receive, sending)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self._patience.request, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._refuse(HTTPStatus.REQUEST_TIMEOUT, f"Send the request within {self._patience.request:g} seconds.")

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Say what is wrong, and read no further."""
        if self.transport.is_closing():
            return
        self._stop_waiting()
        has_begun = self._is_answering and self.cycle.response_started
        if self._is_answering:
            # To the app, the client has left.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if not has_begun:
            self.transport.write(refusal(status, detail))
        self.transport.expects_more = True
        self.transport.close()


def _descriptor(transport: asyncio.Transport) -> int:
    socket = transport.get_extra_info("socket")
    return 0 if socket is None else int(socket.fileno())


def refusal(status: HTTPStatus, detail: str) -> bytes:
    """A complete response to something that is not a request yet, in the format of all other refusals."""
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
    head += f"X-Request-ID: {made}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    head += "Retry-After: 5\r\n\r\n" if status is HTTPStatus.SERVICE_UNAVAILABLE else "\r\n"
    return f"{head}{body}".encode()


class BoundedH11(Bounded, H11Protocol):  # type: ignore[misc]  # see Base
    """With the parser in Python, which uvicorn always has."""


try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:
    # It has no wheel for every machine.
    PROTOCOL: type[Bounded] = BoundedH11
else:

    class BoundedHttpTools(Bounded, HttpToolsProtocol):
        """With the parser in C."""

    PROTOCOL = BoundedHttpTools


@dataclass
class Door:
    """Makes the protocol object of each connection of a process. uvicorn calls it like a protocol class."""

    patience: Patience = Patience()
    limits: ConnectionLimits = ConnectionLimits()
    protocol: type[Bounded] = PROTOCOL

    def __post_init__(self) -> None:
        self._connections = Connections(self.limits)

    def __call__(self, **options: Any) -> Bounded:
        return self.protocol(self.patience, self._connections, **options)
