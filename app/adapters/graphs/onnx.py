"""ONNX Runtime: one session a model, one thread a session. Reads graphs as the exporters write them."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.feeds import SCORES, TEXT, Offer, UnusableGraph, feeds_of, fixed_batch
from app.adapters.graphs.graph_file import why_unusable
from app.adapters.graphs.pacing import batch_rows_for, prompt_rows_for
from app.adapters.graphs.runs import Runs
from app.core.budget import Interrupted
from app.core.favourable import Floats

# What scikit-learn's and LightGBM's exporters write unless zipmap is off: a dictionary for each row.
MAPPED_SCORES = ("seq(map(int64,tensor(float)))", "seq(map(string,tensor(float)))")

# Where scores depend on how many rows are run together, it is always this many.
STEADY_BATCH = 64


class UnloadableGraph(Exception):
    """ONNX Runtime cannot load the file, or cannot score with it; the text says why."""


class ModelFailed(Exception):
    """The model failed on valid rows. The text says nothing about the rows.

    `reason` is ONNX Runtime's message, which may quote them: use it only for made-up rows, when a model is loaded.
    """

    def __init__(self, what: str, reason: str = "") -> None:
        super().__init__(what)
        self.reason = reason or what


def open_session(content: bytes) -> onnxruntime.InferenceSession:
    """Load a graph."""
    options = onnxruntime.SessionOptions()
    # With more threads the scores of some models depend on the size of the batch.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # The runtime's own format is checked less than ONNX is.
    options.add_session_config_entry("session.load_model_format", "ONNX")
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001  # its errors have no common base
        raise UnloadableGraph(f"ONNX Runtime cannot load it: {plainly(str(error))}") from None


# Messages of the runtime, and what Flipset says instead.
PLAIN_WORDS = {
    r"model_path must not be empty|xternal data": "its weights are in another file; "
    "export it with its weights inside the one file",
    r"Fatal error: (\S+?)\(-?\d+\) is not a registered function/op": "it uses the operator {0}, "
    "which is not one of the runtime's; custom operators are not served",
    "ZipMap": "its ZipMap, which makes a dictionary of the scores of each row, does not fit the rest; export it "
    'with zipmap off: convert_sklearn(model, ..., options={{id(model): {{"zipmap": False}}}})',
    r"No Op registered for (\S+)": "it uses the operator {0}, which the runtime does not have",
    r"No opset import for domain '(.*?)'": "it uses operators of the domain {0!r} that it does not declare",
    r"Failed to allocate memory|bad_alloc|bad allocation": "it needs more memory than its limit "
    "(FLIPSET_MODEL_MEMORY_MB)",
}


def plainly(text: str) -> str:
    """What ONNX Runtime said, in plain words where we know them."""
    for pattern, words in PLAIN_WORDS.items():
        if found := re.search(pattern, text):
            return words.format(*found.groups())
    return text.strip()


class OnnxGraph:
    """A loaded graph: which columns go into which input, and which output holds the scores."""

    def __init__(
        self, content: bytes, features: Sequence[ModelFeature], tensor: str | None, classes: Sequence[str]
    ) -> None:
        self._classes = tuple(classes)
        self._session = open_session(content)
        if why := why_unusable(content):
            raise UnloadableGraph(why)
        inputs = [Offer.of(argument) for argument in self._session.get_inputs()]
        self.feeds = feeds_of(inputs, features)
        self._batch = fixed_batch(inputs)
        self._takes_any = self._batch is None
        outputs = [Offer.of(argument) for argument in self._session.get_outputs()]
        self.output = _score_output(outputs, tensor)
        self._labels = [offer.name for offer in outputs if offer.type == TEXT]
        self.inputs = tuple(offer.name for offer in inputs)
        alone = self.feeds[0] if len(self.feeds) == 1 and not self.feeds[0].texts else None
        # One matrix is made in the graph's own type; what goes into several inputs is sorted out from float64.
        self.dtype = np.dtype(np.float64 if alone is None or alone.dtype is np.bool_ else alone.dtype)

    def dtype_of(self, column: int) -> np.dtype[Any]:
        """The type that the graph reads a column in."""
        feed = next(feed for feed in self.feeds if feed.columns.start <= column < feed.columns.stop)
        # Texts go in by their place, which any type can hold.
        return self.dtype if feed.texts else np.dtype(feed.dtype)

    def runs(self, rows: int) -> int:
        return 1 if self._batch is None else math.ceil(rows / self._batch)

    def run(self, rows: NDArray[Any], runs: Runs | None = None) -> Floats:
        """The scores of these rows, as a matrix with a row for each; `Interrupted` if the runs were ended."""
        if self._batch is None:
            # A row alone may go another way through the matrices than a row among others, and differ in its last bits.
            return self._run(padded(rows, max(len(rows), 2)), runs)[: len(rows)]
        parts = [rows[start : start + self._batch] for start in range(0, len(rows), self._batch)]
        return np.concatenate([self._run(padded(part, self._batch), runs)[: len(part)] for part in parts])

    def labels(self, rows: NDArray[Any]) -> list[str]:
        """The class labels that the graph itself gives these rows, as many as fit one call; empty if it gives none."""
        if len(self._labels) != 1:
            return []
        rows = rows if self._batch is None else padded(rows[: self._batch], self._batch)
        try:
            (labels,) = self._session.run(self._labels, {feed.name: feed.tensor(rows) for feed in self.feeds})
        except Exception:  # noqa: BLE001  # its errors have no common base; only the scores are needed
            return []
        return [str(label) for label in np.ravel(labels)]

    def settle_batch(self, rows: NDArray[Any]) -> None:
        """Find a way to run the graph in which the scores of a row do not depend on its neighbours.

        Any number of rows at a time, if that will do; else always the same number; else each row alone.
        """
        for batch in (None, STEADY_BATCH, 1) if self._takes_any else ():
            self._batch = batch
            if self._is_steady(rows):
                return

    def run_rows_alone(self) -> None:
        if self._takes_any:
            self._batch = 1

    def batch_rows(self, seconds: Callable[[int], float]) -> int:
        return batch_rows_for(seconds)

    def prompt_rows(self, seconds: Callable[[int], float]) -> int:
        return prompt_rows_for(seconds)

    def rows_together(self) -> int:
        """None, but for those that are scored promptly."""
        return 0

    def _is_steady(self, rows: NDArray[Any]) -> bool:
        together = self.run(rows)
        if self.run(rows[::-1].copy())[::-1].tobytes() != together.tobytes():
            return False
        sizes = (1, 2, 3, 7, 16, 61) if self._batch is None else (1, STEADY_BATCH - 1)
        for size in sizes:
            parts = [self.run(rows[start : start + size]) for start in range(0, len(rows), size)]
            if np.concatenate(parts).tobytes() != together.tobytes():
                return False
        return True

    def _run(self, rows: NDArray[Any], runs: Runs | None) -> Floats:
        options = None if runs is None else runs.options
        try:
            (scores,) = self._session.run([self.output], {feed.name: feed.tensor(rows) for feed in self.feeds}, options)
        except Exception as error:  # noqa: BLE001  # its errors have no common base; their text may quote the rows
            if runs is not None and runs.are_ended:
                raise Interrupted from None
            raise ModelFailed(type(error).__name__, str(error)) from None
        matrix = _from_maps(scores, self._classes) if isinstance(scores, list) else np.asarray(scores)
        if matrix.ndim == 0 or len(matrix) != len(rows):
            raise ModelFailed("the graph does not give a score for each row")
        return matrix.reshape(len(rows), -1)


def padded(rows: NDArray[Any], count: int) -> NDArray[Any]:
    """The last row again where rows are lacking."""
    return rows if len(rows) == count else np.concatenate([rows, np.repeat(rows[-1:], count - len(rows), axis=0)])


def _from_maps(scores: list[dict[Any, float]], classes: tuple[str, ...]) -> Floats:
    """Dictionaries by class: by its name; or, where the graph only numbers the classes, in the order of the numbers."""
    by_name = {str(key): key for key in scores[0]}
    if set(by_name) == set(classes):
        keys = [by_name[name] for name in classes]
    elif any(isinstance(key, str) for key in scores[0]):
        raise UnusableGraph("output.classes", f"the graph names its classes {', '.join(sorted(by_name))}")
    else:
        keys = sorted(scores[0])
    return np.array([[row[key] for key in keys] for row in scores], dtype=np.float32)


def _score_output(outputs: Sequence[Offer], tensor: str | None) -> str:
    usable = [offer.name for offer in outputs if offer.type in (*SCORES, *MAPPED_SCORES)]
    if tensor is None and len(usable) == 1:
        return usable[0]
    if tensor is not None and tensor in usable:
        return tensor
    offer = ", ".join(usable) or "no tensor of floating-point numbers"
    what = "say which output holds the scores" if tensor is None else f"the graph has no output {tensor!r}"
    raise UnusableGraph("output.tensor", f"{what}; it offers {offer}")
