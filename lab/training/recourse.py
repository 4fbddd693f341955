"""How many of the people whom a model refuses have a way out, by trying every subset.

This is a second, deliberately plain reading of the files under `models/` and `normal_ranges/`: it
shares no code with the service. It covers what the shipped files use: numbers with one or two
bounds, `when` on a text or on a span, and the targets `nearest` and `midpoint`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from lab.training.export import MODELS, PROJECT

Rows = NDArray[np.float64]
Context = Mapping[str, str | float]
Table = Mapping[str, Any]


class Judge:
    """A written model together with its rule of what is favourable."""

    def __init__(self, name: str) -> None:
        """Open the ONNX file with one thread, so that a score does not depend on the batch."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(MODELS / name / "model.onnx", options)
        self.description = tomllib.loads((MODELS / name / "model.toml").read_text("utf-8"))
        self.features: list[str] = [entry["name"] for entry in self.description["features"]]
        output = self.description["output"]
        self._favourable = output["classes"].index(output["favourable"][0])
        self._threshold: float | None = output.get("threshold")

    def scores(self, rows: Rows) -> NDArray[np.float32]:
        """Score the favourable class on each row."""
        inputs = {"features": rows.astype(np.float32)}
        probabilities: NDArray[np.float32] = self._session.run(["probabilities"], inputs)[0]
        return probabilities[:, self._favourable]

    def accepts(self, rows: Rows) -> NDArray[np.bool_]:
        """Say for each row whether the model's answer is favourable."""
        scores = self.scores(rows)
        if self._threshold is None:
            return scores > np.float32(0.5)  # two classes: the favourable one wins
        return scores >= np.float32(self._threshold)


@dataclass(frozen=True)
class Recourse:
    """How many are refused, and how many of them have at least one favourable subset."""

    refused: int
    with_recourse: int

    @property
    def share(self) -> float:
        """The share of the refused who have a way out."""
        return self.with_recourse / self.refused


def measure(judge: Judge, rows: Rows, contexts: Sequence[Context], registry: str | None = None) -> Recourse:
    """Try every subset of the abnormal features of everyone who is refused."""
    name = registry or judge.description["normal_ranges"]
    ranges = tomllib.loads((PROJECT / "normal_ranges" / f"{name}.toml").read_text("utf-8"))
    refused = np.flatnonzero(~judge.accepts(rows))
    found = 0
    for position in refused.tolist():
        row = rows[position]
        targets = _targets(judge.features, row, contexts[position], ranges["features"])
        found += bool(judge.accepts(candidates(row, targets)).any())
    return Recourse(len(refused), found)


def candidates(row: Rows, targets: Mapping[int, float]) -> Rows:
    """Build one row for every subset of the targets."""
    choices = [(value, targets.get(index, value)) for index, value in enumerate(row)]
    return np.array(list(product(*(dict.fromkeys(choice) for choice in choices))))


def _targets(features: Sequence[str], row: Rows, context: Context, ranges: Mapping[str, Table]) -> dict[int, float]:
    """Find the abnormal features and the value that each would be moved to."""
    targets = {}
    for index, name in enumerate(features):
        if name not in ranges:
            continue
        chosen = next(r for r in ranges[name]["ranges"] if _holds(r.get("when", {}), context))
        low, high = chosen.get("low", -np.inf), chosen.get("high", np.inf)
        if not low <= row[index] <= high:
            nearest = low if row[index] < low else high
            middle = ranges[name]["move_to"] == "midpoint"
            targets[index] = (low + high) / 2 if middle else nearest
    return targets


def _holds(when: Mapping[str, str | Table], context: Context) -> bool:
    """Say whether every condition of a range holds for a person."""
    return all(name in context and _matches(condition, context[name]) for name, condition in when.items())


def _matches(condition: str | Table, value: str | float) -> bool:
    """Compare one known value with a text or with a span whose ends are included."""
    if isinstance(condition, str) or isinstance(value, str):
        return condition == value
    low: float = condition.get("low", -np.inf)
    high: float = condition.get("high", np.inf)
    return low <= value <= high
