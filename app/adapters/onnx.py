"""ONNX Runtime: one session a model, one thread a session."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from app.core.favourable import Floats

INPUT_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64}
OUTPUT_TYPES = ("tensor(float)", "tensor(double)")

# No call should keep a search from its clock for longer than about this.
BATCH_SECONDS = 0.05
MOST_BATCH_ROWS = 4**7


class UnloadableGraph(Exception):
    """The file is not a graph that ONNX Runtime can load."""


class UnusableGraph(Exception):
    """The graph is not one that Flipset can serve: the field of `model.toml` it concerns, and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class ModelFailed(Exception):
    """The model broke down on rows that looked right. Says nothing of the rows."""


class OnnxGraph:
    """A loaded graph with one matrix in, and the tensor of it that holds the scores."""

    def __init__(self, content: bytes, width: int, tensor: str | None) -> None:
        self._session = _session(content)
        self._input, self.dtype = _matrix_input(self._session, width)
        self._output = _score_output(self._session, tensor)

    def run(self, rows: NDArray[Any]) -> Floats:
        """The score tensor for these rows, as a matrix with a row for each."""
        try:
            (scores,) = self._session.run([self._output], {self._input: rows})
        except Exception as error:  # noqa: BLE001  # its errors have no common base; their text may quote the rows
            raise ModelFailed(type(error).__name__) from None
        scores = np.asarray(scores)
        if scores.ndim == 0 or len(scores) != len(rows):
            raise ModelFailed("the graph does not give a score for each row")
        return scores.reshape(len(rows), -1)


def _session(content: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # With more threads the scores of some models depend on the size of the batch.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001  # the same: no common base
        raise UnloadableGraph(f"ONNX Runtime cannot load it: {error}") from None


def _matrix_input(session: onnxruntime.InferenceSession, width: int) -> tuple[str, np.dtype[Any]]:
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise UnusableGraph("features", f"the graph has {len(inputs)} inputs; one matrix is needed")
    (entry,) = inputs
    if entry.type not in INPUT_TYPES:
        raise UnusableGraph("features", f"the graph reads {entry.type}; known are {', '.join(INPUT_TYPES)}")
    if len(entry.shape) != 2 or isinstance(entry.shape[0], int):
        raise UnusableGraph("features", f"the graph's input has the shape {entry.shape}; needed is [any, {width}]")
    if isinstance(entry.shape[1], int) and entry.shape[1] != width:
        raise UnusableGraph("features", f"the graph reads {entry.shape[1]} features, {width} are named")
    return str(entry.name), np.dtype(INPUT_TYPES[entry.type])


def _score_output(session: onnxruntime.InferenceSession, tensor: str | None) -> str:
    usable = [output.name for output in session.get_outputs() if output.type in OUTPUT_TYPES]
    if tensor is None and len(usable) == 1:
        return str(usable[0])
    if tensor is not None and tensor in usable:
        return tensor
    offer = ", ".join(usable) or "no tensor of floating-point numbers (from scikit-learn, export with zipmap off)"
    what = (
        "say which of the graph's outputs holds the scores" if tensor is None else f"the graph has no output {tensor!r}"
    )
    raise UnusableGraph("output.tensor", f"{what}; it offers {offer}")


class OnnxScorer:
    """The model as the core sees it: rows in, one score a class (or one value) out."""

    def __init__(self, graph: OnnxGraph, activation: str, columns: int) -> None:
        self._graph = graph
        self._activation = activation
        self._columns = columns
        self.dtype = graph.dtype
        self.batch_rows = 1

    def __call__(self, rows: NDArray[Any]) -> Floats:
        outputs = _activated(self._graph.run(rows), self._activation)
        if self._columns == 2 and outputs.shape[1] == 1:
            # One output for two classes is the score of the second.
            return np.hstack([1 - outputs, outputs])
        return outputs

    def warm_up(self, width: int) -> None:
        """Check the shape of what comes out, and choose a batch that takes no longer than it should."""
        outputs = self(np.zeros((2, width), dtype=self.dtype))
        if outputs.shape != (2, self._columns):
            got = outputs.size / 2
            raise UnusableGraph("output", f"the graph gives {got:g} scores a row where {self._columns} are needed")
        self.batch_rows = batch_rows_for(lambda rows: self._seconds(rows, width))

    def _seconds(self, rows: int, width: int) -> float:
        matrix = np.zeros((rows, width), dtype=self.dtype)
        best = float("inf")
        for _ in range(2):
            began = time.perf_counter()
            self(matrix)
            best = min(best, time.perf_counter() - began)
        return best


def batch_rows_for(seconds: Callable[[int], float]) -> int:
    """The largest power of four whose rows fit the time of a batch, given the time that so many rows take.

    So coarse a step makes it the same from one start to the next, and with it the number of calls.
    """
    rows = 1
    while rows < MOST_BATCH_ROWS and 4 * seconds(rows) <= BATCH_SECONDS:
        rows *= 4
    return rows


def _activated(outputs: Floats, activation: str) -> Floats:
    """Turn raw outputs into scores, row by row, in the type they came in."""
    if activation == "softmax":
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        shares: Floats = powers / powers.sum(axis=1, keepdims=True)
        return shares
    if activation == "sigmoid":
        # exp of a positive number may overflow, so each side has its own form.
        power = np.exp(-np.abs(outputs))
        return np.where(outputs >= 0, 1 / (1 + power), power / (1 + power))
    return outputs
