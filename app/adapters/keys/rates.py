"""The rates of keys: one number for each key, in memory that all processes of a server share."""

import fcntl
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import reduction
from typing import Any

MINUTE = 60_000_000_000
NUMBER = 8
# Places for numbers, each key's found by the hash of its id: so many that no two of a thousand keys will ever meet.
# The memory is taken only where something stands.
PLACES = 2**36


class RatesLost(Exception):
    """The database that several servers count in does not answer."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests per minute, and how many of them may come at once."""

    a_minute: int
    burst: int

    @property
    def interval(self) -> int:
        """Nanoseconds from one request to the next, where they come evenly."""
        return MINUTE // self.a_minute


def counted(due: int, now: int, rate: Rate) -> tuple[int, int]:
    """Count one more request (GCRA): when the next is due if all come evenly, and how much too early this one came.

    A request that came too early does not count. All times are in nanoseconds.
    """
    following = max(due, now) + rate.interval
    early = following - now - rate.burst * rate.interval
    return (due, early) if early > 0 else (following, 0)


class RateMeter:
    """Counts the requests of each key. A copy in another process uses the same memory."""

    def __init__(self, descriptor: int | None = None, clock: Callable[[], int] = time.monotonic_ns) -> None:
        # The clock must be one that all processes of the machine share.
        self._descriptor = _memory() if descriptor is None else descriptor
        self._clock = clock

    def wait(self, name: str, rate: Rate) -> int:
        """Count one more request. Returns 0 if it is within the rate, otherwise the nanoseconds to wait."""
        place = NUMBER * (int.from_bytes(sha256(name.encode()).digest()[:8]) % PLACES)
        # The system frees a lock whose process was killed, which no semaphore in shared memory would survive.
        fcntl.lockf(self._descriptor, fcntl.LOCK_EX, NUMBER, place)
        try:
            due = int.from_bytes(os.pread(self._descriptor, NUMBER, place), "little")
            following, early = counted(due, self._clock(), rate)
            if not early:
                os.pwrite(self._descriptor, following.to_bytes(NUMBER, "little"), place)
        finally:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, NUMBER, place)
        return early

    def __reduce__(self) -> tuple[Any, ...]:
        # Only while a process is started, which inherits the descriptor.
        return _inherited, (reduction.DupFd(self._descriptor),)


def _inherited(descriptor: Any) -> RateMeter:
    return RateMeter(descriptor.detach())


def _memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("flipset-rates")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
