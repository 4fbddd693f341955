"""The runs of one request. Any thread can end them for good."""

import time
from collections.abc import Callable, Iterator
from math import inf

import onnxruntime

from app.core.facts import Working


class Runs:
    """The options of ONNX Runtime for the runs of one request, and when they must end, in `perf_counter` time."""

    __slots__ = ("_end_too", "are_ended", "options", "until")

    def __init__(self, until: float) -> None:
        self.options = onnxruntime.RunOptions()
        self.until = until
        self.are_ended = False
        # How to end what runs elsewhere at the moment.
        self._end_too: Callable[[], object] = int

    def ends_with(self, end: Callable[[], object]) -> None:
        """The current run is elsewhere: this is how to end it."""
        self._end_too = end
        if self.are_ended:
            end()

    def between_turns(self) -> Iterator[Working]:
        """Others may have a turn. It does not count towards the time of these runs."""
        left, self.until = self.until - time.perf_counter(), inf
        yield Working()
        self.until = time.perf_counter() + left

    def end(self) -> None:
        """End the current run and all later ones; the runtime checks between two operations of a graph."""
        if not self.are_ended:
            self.are_ended = True
            self.options.terminate = True
            self._end_too()
