"""The runs of one request: they can be ended from any thread, now and for good."""

from math import inf

import onnxruntime


class Runs:
    """What ONNX Runtime is told about each run of one request, and when that is to end; times are of `perf_counter`."""

    __slots__ = ("are_ended", "held_everybody_up", "options", "until", "waited_for_until")

    def __init__(self, until: float) -> None:
        self.options = onnxruntime.RunOptions()
        self.until = until
        # As long as everybody else waits for this request; and whether that took too long.
        self.waited_for_until = inf
        self.held_everybody_up = False
        self.are_ended = False

    def end(self) -> None:
        """End the run at work, and all that would follow; the runtime looks between two operations of a graph."""
        if not self.are_ended:
            self.are_ended = True
            self.options.terminate = True
