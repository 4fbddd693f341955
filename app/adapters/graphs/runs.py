"""The runs of one request. Any thread can end them for good."""

import onnxruntime


class Runs:
    """The options of ONNX Runtime for the runs of one request, and when they must end, in `perf_counter` time."""

    __slots__ = ("are_ended", "options", "until")

    def __init__(self, until: float) -> None:
        self.options = onnxruntime.RunOptions()
        self.until = until
        self.are_ended = False

    def end(self) -> None:
        """End the current run and all later ones; the runtime checks between two operations of a graph."""
        if not self.are_ended:
            self.are_ended = True
            self.options.terminate = True
