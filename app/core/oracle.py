"""The oracle: judges subsets of moves by asking the model, in batches, within the budget."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget
from app.core.favourable import Bools, Favourable, Floats
from app.core.problem import Problem


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

    def __call__(self, rows: NDArray[Any]) -> Floats:
        """Score the rows."""
        ...


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


class Oracle:
    """Builds the candidate rows r(x, S), has them scored, and keeps count."""

    def __init__(self, scorer: Scorer, favourable: Favourable, problem: Problem, budget: Budget) -> None:
        self._scorer = scorer
        self._favourable = favourable
        self._budget = budget
        self._columns = np.array([move.position for move in problem.moves], dtype=np.intp)
        self._instance = np.array([problem.instance], dtype=scorer.dtype)
        self._values = self._instance[0, self._columns]
        self._targets = np.array([move.target for move in problem.moves], dtype=scorer.dtype)
        self.rows = 0
        self.calls = 0
        self.seconds = 0.0

    @property
    def batch_rows(self) -> int:
        return self._scorer.batch_rows

    def judge_instance(self) -> Verdict:
        """What the model says of the instance as it stands: asked once, first, however little time there is."""
        self._budget.rows_left -= 1
        return Verdict.of(self._timed(self._instance), self._favourable)

    def judge(self, subsets: Bools) -> Verdict:
        """Judge subsets, one row of truth values each, as many from the front as the budget allows."""
        subsets = subsets[: self._budget.take_rows(len(subsets))]
        rows = np.repeat(self._instance, len(subsets), axis=0)
        rows[:, self._columns] = np.where(subsets, self._targets, self._values)
        return Verdict.of(self._timed(rows), self._favourable)

    def _timed(self, rows: NDArray[Any]) -> Floats:
        began = self._budget.clock()
        outputs = self._scorer(rows)
        self.seconds += self._budget.clock() - began
        self.rows += len(rows)
        self.calls += 1
        return outputs
