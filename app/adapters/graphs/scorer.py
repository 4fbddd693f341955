"""The scorer: a graph as the core sees it, tried and measured when a model is loaded."""

import time
from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.features import ModelFeature, placed
from app.adapters.graphs.feeds import Feed, UnusableGraph
from app.adapters.graphs.onnx import ModelFailed, UnloadableGraph
from app.adapters.graphs.runs import Runs
from app.adapters.structures.served import Served
from app.core.favourable import Floats

# So many rows are tried when a model is loaded.
TRIED = 200


class Graph(Protocol):
    """What scores rows: a graph in this process, or a predictor elsewhere."""

    dtype: np.dtype[Any]
    feeds: tuple[Feed, ...]
    inputs: tuple[str, ...]

    @property
    def output(self) -> str | None: ...
    def dtype_of(self, column: int) -> np.dtype[Any]: ...
    def runs(self, rows: int) -> int: ...
    def run(self, rows: NDArray[Any], runs: Runs | None = None) -> Floats: ...
    def labels(self, rows: NDArray[Any]) -> list[str]: ...
    def settle_batch(self, rows: NDArray[Any]) -> None: ...
    def run_rows_alone(self) -> None: ...
    def batch_rows(self, seconds: Callable[[int], float]) -> int: ...
    def prompt_rows(self, seconds: Callable[[int], float]) -> int: ...
    def rows_together(self) -> int: ...


class Trial(NamedTuple):
    """The scores and labels that a graph gave to the trial rows."""

    raw: Floats
    labels: list[str]


class ModelScorer:
    """The model as the core sees it: rows in, one score per class (or one value) out."""

    def __init__(self, graph: Graph, features: Sequence[ModelFeature], activation: str, outputs: int) -> None:
        self.graph = graph
        self._features = tuple(features)
        self._places = placed(features)
        self._plain = [feature.type != "category" for feature in features]
        self.activation = activation
        self._outputs = outputs
        self._runs: Runs | None = None
        self.dtype = graph.dtype
        # The type of the scores, once it has been tried.
        self.score_dtype: np.dtype[Any] = np.dtype(np.float32)
        self.batch_rows = 1
        # None where it cannot be tried with rows that are made up.
        self.trial: Trial | None = None
        # Whether every score is known to lie between 0 and 1.
        self.probabilities = outputs > 1 and activation != "none"
        # How many rows one call may score on the event loop; 0 if even one row takes too long.
        self.prompt_rows = 0

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the graph calls its inputs."""
        return self.graph.inputs

    def served(self, content: bytes, classes: Sequence[str]) -> Served:
        """How the service reads the graph of this file, for those who want to see through it."""
        graph = self.graph
        assert graph.output is not None, "a graph in this process says what it gives"
        return Served(content, graph.feeds, self._places, graph.output, tuple(classes), self.activation, self._outputs)

    @property
    def rows_together(self) -> int:
        """So many rows are asked about with the instance, because one call more would cost more than they do."""
        return self.prompt_rows or min(self.batch_rows, self.graph.rows_together())

    def columns(self, position: int) -> tuple[int, ...]:
        return self._places[position]

    def cells(self, position: int, value: float) -> tuple[float, ...]:
        # Most values are numbers, and a number is its own cell.
        return (value,) if self._plain[position] and not isnan(value) else self._features[position].cells(value)

    def dtype_at(self, position: int) -> np.dtype[Any]:
        """The type that the graph reads the feature at this position in."""
        return self.graph.dtype_of(self._places[position][0])

    def runs(self, rows: int) -> int:
        return self.graph.runs(rows)

    def within(self, runs: Runs) -> "ModelScorer":
        """The same for one request, whose runs can be ended."""
        # As `copy` does, in a fifth of the time.
        other = object.__new__(ModelScorer)
        vars(other).update(vars(self))
        other._runs = runs
        return other

    def __call__(self, rows: NDArray[Any]) -> Floats:
        return self.scores(self.graph.run(rows, self._runs))

    def scores(self, raw: Floats) -> Floats:
        """What the graph gives, as one score a class or one value."""
        outputs = _activated(raw, self.activation)
        if self._outputs == 2 and outputs.shape[1] == 1:
            # One output for two classes is the score of the second.
            return np.hstack([1 - outputs, outputs])
        return outputs

    def warm_up(self) -> None:
        """Check the shape of the scores, and choose the size of a batch; `UnusableGraph` or `UnloadableGraph`."""
        outputs = self(self._noughts(2))
        if outputs.shape != (2, self._outputs):
            got = outputs.size / 2
            raise UnusableGraph("output", f"the graph gives {got:g} scores per row; {self._outputs} are needed")
        self._check_again(self._noughts(2))
        self.score_dtype = outputs.dtype
        self._settle()
        self.batch_rows = self.graph.batch_rows(self._seconds)
        self.prompt_rows = self.graph.prompt_rows(self._seconds)

    def _settle(self) -> None:
        """Try the graph on made-up rows: find how to run it, and check its scores."""
        rng = np.random.default_rng(0)
        rows = np.array(
            [[cell for feature in self._features for cell in feature.some_cells(rng)] for _ in range(TRIED)]
        )
        try:
            self._check_again(rows.astype(self.dtype))
            self.graph.settle_batch(rows.astype(self.dtype))
            raw = self.graph.run(rows.astype(self.dtype))
            self.trial = Trial(raw, self.graph.labels(rows.astype(self.dtype)))
        except ModelFailed:
            # Such a graph does not take any number; each row then answers for itself.
            self.graph.run_rows_alone()
            return
        alone = self._outputs == 2 and raw.shape[1] == 1 and self.activation == "none"
        if alone and np.any((raw < 0) | (raw > 1)):
            reason = "the one score of the graph is not always between 0 and 1: it needs sigmoid"
            raise UnusableGraph("output.activation", reason)
        self.probabilities |= self._outputs > 1 and (alone or are_shares(raw))

    def _check_again(self, rows: NDArray[Any]) -> None:
        """Check that the same rows get the same scores again."""
        if self.graph.run(rows).tobytes() != self.graph.run(rows).tobytes():
            raise UnloadableGraph("gives other scores for the same rows when asked again")

    def _noughts(self, rows: int) -> NDArray[Any]:
        """Rows of zeros, and of the first of each category."""
        row = [cell for feature in self._features for cell in feature.cells(0.0)]
        return np.repeat(np.array([row], dtype=self.dtype), rows, axis=0)

    def _seconds(self, rows: int) -> float:
        matrix = self._noughts(rows)
        best = float("inf")
        # The shortest of three tries: the machine may pause, which is not the model's fault.
        for _ in range(3):
            began = time.perf_counter()
            self(matrix)
            best = min(best, time.perf_counter() - began)
        return best


def are_shares(scores: Floats) -> bool:
    """Whether the scores of each row are shares of 1, give or take what a sum of float32 loses."""
    return bool(np.all(scores >= 0) and np.all(np.abs(scores.sum(axis=1) - 1) < 1e-3))


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
