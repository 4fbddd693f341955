"""What counts as favourable: a predicate on the model's outputs, in the outputs' own type."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]

# The label that a regression gives.
NO_CLASS = -1


@dataclass(frozen=True, slots=True)
class FavourableClasses:
    """The favourable side reaches the threshold together or, without a threshold, holds the best class."""

    classes: tuple[int, ...]
    others: tuple[int, ...]
    threshold: float | None = None

    def score(self, outputs: Floats) -> Floats:
        """The joint score of the favourable side, added column by column so that no batch size changes a bit."""
        total = outputs[:, self.classes[0]]
        for column in self.classes[1:]:
            total = total + outputs[:, column]
        return total

    def holds(self, outputs: Floats, score: Floats) -> Bools:
        """Whether each output is favourable. NaN never is: every comparison with it is false."""
        if self.threshold is not None:
            return np.greater_equal(score, outputs.dtype.type(self.threshold))
        best, rival = _highest(outputs, self.classes), _highest(outputs, self.others)
        if max(self.classes) < min(self.others):
            # As argmax does, a tie goes to the class that is named first.
            return np.greater_equal(best, rival)
        ahead: Bools = np.greater(best, rival)
        if max(self.others) < min(self.classes):
            return ahead
        tied = best == rival
        if tied.any():
            rows = outputs[tied]
            ahead[tied] = self._best(rows, self.classes) < self._best(rows, self.others)
        return ahead

    def labels(self, outputs: Floats, favourable: Bools) -> NDArray[np.intp]:
        """The best class of the side that the decision falls on."""
        if len(self.classes) == len(self.others) == 1:
            return np.where(favourable, self.classes[0], self.others[0])
        return np.where(favourable, self._best(outputs, self.classes), self._best(outputs, self.others))

    @property
    def only_label(self) -> int | None:
        """The label of every favourable row, if there is only one favourable class."""
        return self.classes[0] if len(self.classes) == 1 else None

    def merit(self, score: Floats) -> Floats:
        """How close a score comes; the higher the better."""
        return score

    @staticmethod
    def _best(outputs: Floats, columns: tuple[int, ...]) -> NDArray[np.intp]:
        if len(columns) == 1:
            return np.full(len(outputs), columns[0], dtype=np.intp)
        best: NDArray[np.intp] = np.asarray(columns, dtype=np.intp)[np.argmax(outputs[:, columns], axis=1)]
        return best


def _highest(outputs: Floats, columns: tuple[int, ...]) -> Floats:
    """The highest score among some classes, column by column: there are few of those, and many rows."""
    highest = outputs[:, columns[0]]
    for column in columns[1:]:
        highest = np.maximum(highest, outputs[:, column])
    return highest


@dataclass(frozen=True, slots=True)
class FavourableInterval:
    """A regression whose value lies between low and high, ends included."""

    low: float | None
    high: float | None

    def score(self, outputs: Floats) -> Floats:
        return outputs[:, 0]

    def holds(self, outputs: Floats, score: Floats) -> Bools:
        held: Bools = np.ones(len(score), dtype=np.bool_)
        if self.low is not None:
            held = held & np.greater_equal(score, outputs.dtype.type(self.low))
        if self.high is not None:
            held = held & np.less_equal(score, outputs.dtype.type(self.high))
        return held

    @property
    def only_label(self) -> int:
        return NO_CLASS

    def merit(self, score: Floats) -> Floats:
        """How close a value comes to the interval; 0 inside it."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        outside: Floats = -np.abs(score - np.clip(score, low, high))
        return outside

    def labels(self, outputs: Floats, favourable: Bools) -> NDArray[np.intp]:
        """A regression has no classes."""
        return np.full(len(outputs), NO_CLASS, dtype=np.intp)


Favourable = FavourableClasses | FavourableInterval
