"""A circuit breaker: where a server fails again and again, nobody waits for it for a while."""

import time
from collections.abc import Callable
from math import ceil
from threading import Lock

from app.adapters.predictors.failures import PredictorUnavailable

# So many failures one after the other open it, for so long.
MOST_FAILURES = 5
PAUSE_SECONDS = 5.0


class Breaker:
    """Counts failures. While it is open, `check` refuses; then it lets one call try, and the others wait for that."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._until = 0.0

    def check(self) -> None:
        """`PredictorUnavailable` while it is open."""
        with self._lock:
            if self._failures < MOST_FAILURES:
                return
            now = self._clock()
            if now < self._until:
                raise PredictorUnavailable("failed too often, and is left alone for a while", ceil(self._until - now))
            self._until = now + PAUSE_SECONDS

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._until = self._clock() + PAUSE_SECONDS

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0
