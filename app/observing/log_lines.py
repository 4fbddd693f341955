"""Log lines are written by a thread, so that a log that nobody reads does not delay requests."""

import os
import time
from collections.abc import Callable
from queue import SimpleQueue
from select import select
from threading import Event, Thread

# What may wait to be written, in bytes. More is dropped.
MOST_WAITING = 4 * 2**20
# A pipe takes this much in one piece, even if others write to it (PIPE_BUF).
IN_ONE_PIECE = 4096
TURN_SECONDS = 0.02
# At the end of a process, the log has this long to take what is left.
LAST_SECONDS = 1.0


class LogLines:
    """Lines for one descriptor, written in their order, each whole or not at all."""

    def __init__(self, descriptor: int, most_waiting: int = MOST_WAITING) -> None:
        self._descriptor = descriptor
        self._most_waiting = most_waiting
        self._waiting: SimpleQueue[bytes | Event] = SimpleQueue()
        self._thread: Thread | None = None
        # One thread at a time changes each: the first is protected by the lock of the logging handler.
        self._taken = 0
        self._written = 0
        self.on_dropped: Callable[[], None] = lambda: None

    def put(self, line: bytes) -> bool:
        """Queue the line, unless too much is waiting; whether it was queued."""
        if self._taken - self._written + len(line) > self._most_waiting:
            return False
        if self._thread is None:
            self._thread = Thread(target=self._write_on, name="log", daemon=True)
            self._thread.start()
        self._taken += len(line)
        self._waiting.put(line)
        return True

    def flush(self, seconds: float = LAST_SECONDS) -> None:
        """Wait until all is written, but no longer than that."""
        if self._thread is not None:
            reached = Event()
            self._waiting.put(reached)
            reached.wait(seconds)

    def _write_on(self) -> None:
        while True:
            self._write_all(self._waiting.get())
            # Wait, so that lines are written together: waking up for each line would slow down other threads.
            time.sleep(TURN_SECONDS)

    def _write_all(self, entry: bytes | Event) -> None:
        """This, and all that waits behind it, as much at a time as goes in one piece."""
        piece = b""
        while True:
            if isinstance(entry, Event) or len(piece) + len(entry) > IN_ONE_PIECE:
                self._write(piece)
                piece = b""
            if isinstance(entry, Event):
                entry.set()
            else:
                piece += entry
            if self._waiting.empty():
                break
            entry = self._waiting.get()
        self._write(piece)

    def _write(self, lines: bytes) -> None:
        size = len(lines)
        while lines:
            try:
                lines = lines[os.write(self._descriptor, lines) :]
            except BlockingIOError:
                # Another process made the descriptor non-blocking.
                select([], [self._descriptor], [])
            except OSError:
                # There is no log any more.
                break
        self._written += size
