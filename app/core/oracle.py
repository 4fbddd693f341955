"""The oracle: judges subsets of moves by asking the model, in batches, within the budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget
from app.core.facts import Best
from app.core.favourable import Bools, Favourable, Floats
from app.core.problem import Move


class Scorer(Protocol):
    """A model: rows in, outputs out, one row of outputs for each row."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that the model reads its rows in."""
        ...

    @property
    def batch_rows(self) -> int:
        """How many rows a call should hold at the most, so that the clock is looked at often enough."""
        ...

    def columns(self, position: int) -> tuple[int, ...]:
        """The columns of a row that hold the feature at this position."""
        ...

    def cells(self, position: int, value: float) -> tuple[float, ...]:
        """What these columns hold for a value of the feature."""
        ...

    def runs(self, rows: int) -> int:
        """How often the model has to be called for so many rows."""
        ...

    def __call__(self, rows: NDArray[Any]) -> Floats:
        """Score the rows."""
        ...


def encoded_row(scorer: Scorer, instance: Sequence[float]) -> list[float]:
    """An instance, given by the values of its features, as the row that the model reads."""
    return [cell for position, value in enumerate(instance) for cell in scorer.cells(position, value)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the model says of the first so many of the subsets asked about."""

    favourable: Bools
    score: Floats
    label: NDArray[np.intp]

    @classmethod
    def of(cls, outputs: Floats, favourable: Favourable) -> "Verdict":
        score = favourable.score(outputs)
        # A score that is not a number, or is infinite, is no ground for a recommendation.
        holds = favourable.holds(outputs, score) & np.isfinite(score)
        return cls(holds, score, favourable.labels(outputs, holds))

    def __len__(self) -> int:
        return len(self.favourable)


@dataclass(slots=True)
class Meter:
    """What the model has cost so far."""

    rows: int = 0
    calls: int = 0
    seconds: float = 0.0


class Oracle:
    """Builds the candidate rows r(x, S), has them scored, and keeps count."""

    def __init__(
        self,
        scorer: Scorer,
        favourable: Favourable,
        instance: tuple[float, ...],
        moves: Sequence[Move],
        budget: Budget,
        meter: Meter | None = None,
    ) -> None:
        self._scorer = scorer
        self._favourable = favourable
        self._budget = budget
        self._sent = instance
        self._instance = np.array([encoded_row(scorer, instance)], dtype=scorer.dtype)
        columns = [scorer.columns(move.position) for move in moves]
        self._columns = np.array([column for group in columns for column in group], dtype=np.intp)
        # A move may take several columns with it; each belongs to one move.
        self._movers = np.repeat(np.arange(len(moves)), [len(group) for group in columns])
        self._values = self._instance[0, self._columns]
        targets = [cell for move in moves for cell in scorer.cells(move.position, move.target)]
        self._targets = np.array(targets, dtype=scorer.dtype)
        self._weights = [move.weight for move in moves]
        self.meter = Meter() if meter is None else meter
        self.best: Best | None = None

    def over(self, moves: Sequence[Move]) -> "Oracle":
        """An oracle for other moves of the same instance, on the same account."""
        return Oracle(self._scorer, self._favourable, self._sent, moves, self._budget, self.meter)

    @property
    def batch_rows(self) -> int:
        return self._scorer.batch_rows

    def judge_instance(self) -> Verdict:
        """What the model says of the instance as it stands: asked once, first, however little time there is."""
        self._budget.rows_left -= 1
        verdict = Verdict.of(self._timed(self._instance), self._favourable)
        self._remember_best(np.zeros((1, len(self._weights)), dtype=np.bool_), verdict)
        return verdict

    def judge(self, subsets: Bools) -> Verdict:
        """Judge subsets, one row of truth values each, as many from the front as the budget allows."""
        subsets = subsets[: self._budget.take_rows(len(subsets))]
        rows = np.repeat(self._instance, len(subsets), axis=0)
        rows[:, self._columns] = np.where(subsets[:, self._movers], self._targets, self._values)
        verdict = Verdict.of(self._timed(rows), self._favourable)
        self._remember_best(subsets, verdict)
        return verdict

    def _remember_best(self, subsets: Bools, verdict: Verdict) -> None:
        merits = np.where(np.isfinite(verdict.score), self._favourable.merit(verdict.score), -np.inf)
        index = int(np.argmax(merits))
        if self.best is None or merits[index] > self.best.merit:
            moves = tuple(np.flatnonzero(subsets[index]).tolist())
            cost = fsum(self._weights[move] for move in moves)
            self.best = Best(moves, cost, float(merits[index]), verdict.score[index], int(verdict.label[index]))

    def _timed(self, rows: NDArray[Any]) -> Floats:
        began = self._budget.clock()
        outputs = self._scorer(rows)
        self.meter.seconds += self._budget.clock() - began
        self.meter.rows += len(rows)
        self.meter.calls += self._scorer.runs(len(rows))
        return outputs
