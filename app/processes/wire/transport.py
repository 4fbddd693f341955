"""A transport that limits how long a client may leave its answer unread.

A closed asyncio transport waits for its reader, possibly for ever, and keeps its file open meanwhile.
"""

import asyncio
import fcntl
import struct
import termios
from collections.abc import Callable
from dataclasses import dataclass

# A client that reads this much within the time limit is slow, not gone.
LEAST_READ = 16 * 1024
LOOKS = 10


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds the service waits for its clients."""

    # From the first byte of a request to its last, or from the connection to the end of the first head.
    request: float = 60.0
    # For a reader to take `LEAST_READ` bytes of its answer, or all there is.
    write: float = 30.0
    # For a client that is still sending after its last answer: closing at once would discard the answer.
    linger: float = 5.0


class BoundedTransport(asyncio.Transport):
    """Wraps a transport, and aborts the connection if the client does not read."""

    def __init__(self, inner: asyncio.Transport, patience: Patience, on_unread: Callable[[], None]) -> None:
        super().__init__()
        self._inner = inner
        self._patience = patience
        self._on_unread = on_unread
        self._loop = asyncio.get_running_loop()
        self._is_closing = False
        self._is_read_paused = False
        self._linger: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None
        self._unread = 0
        # Since when the client has not read what waits for it; None if nothing waits.
        self.unread_since: float | None = None
        # Whether the client may still be sending.
        self.expects_more = False
        # What was written in this turn of the event loop.
        self._written: list[bytes] = []
        self.get_extra_info = inner.get_extra_info  # type: ignore[method-assign]

    def write(self, data: bytes) -> None:  # type: ignore[override]  # uvicorn writes nothing else
        """Send it at the end of this turn of the loop, so that a small answer goes out in one call."""
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)

    def _send(self) -> None:
        if self._written and not self._inner.is_closing():
            self._inner.write(b"".join(self._written))
        self._written.clear()

    def is_closing(self) -> bool:
        return self._is_closing or self._inner.is_closing()

    def close(self) -> None:
        """Close after everything is sent and the client has stopped sending; abort if that takes too long."""
        if self._is_closing:
            return
        self._is_closing = True
        self._send()
        if self.expects_more and not self._inner.is_closing():
            self._inner.write_eof()
            self.resume_reading()
            self._linger = self._loop.call_later(self._patience.linger, self._inner.close)
        else:
            self._inner.close()
        self.watch()

    def abort(self) -> None:
        self._is_closing = True
        self._inner.abort()

    def pause_reading(self) -> None:
        if not self._is_closing and not self._is_read_paused:
            self._is_read_paused = True
            self._inner.pause_reading()

    def resume_reading(self) -> None:
        if self._is_read_paused:
            self._is_read_paused = False
            self._inner.resume_reading()

    def watch(self) -> None:
        """From now on the client must read."""
        if self._look is None:
            self._unread, self.unread_since = self._waiting(), self._loop.time()
            self._look_later()

    def unwatch(self) -> None:
        """There is room again, or the connection has ended."""
        if self._look is not None and not self._is_closing:
            self._look.cancel()
            self._look = self.unread_since = None

    def lost(self) -> None:
        """The connection has ended."""
        for timer in (self._look, self._linger):
            if timer is not None:
                timer.cancel()
        self._look = self._linger = None

    def _look_later(self) -> None:
        self._look = self._loop.call_later(self._patience.write / LOOKS, self._look_again)

    def _look_again(self) -> None:
        unread, now = self._waiting(), self._loop.time()
        if unread <= max(0, self._unread - LEAST_READ):
            self._unread, self.unread_since = unread, now
        elif self.unread_since is not None and now - self.unread_since >= self._patience.write:
            self._on_unread()
            self.abort()
            return
        self._look_later()

    def _waiting(self) -> int:
        """How many bytes the client has not taken: ours, and those that the kernel holds for it."""
        held = self._inner.get_write_buffer_size()
        socket = self._inner.get_extra_info("socket")
        if socket is None or socket.fileno() < 0:
            return held
        # The kernel buffers megabytes: by our own count alone, a slow client looks as if it were gone.
        (outstanding,) = struct.unpack("i", fcntl.ioctl(socket.fileno(), termios.TIOCOUTQ, bytes(4)))
        return held + int(outstanding)
