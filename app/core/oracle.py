"""The oracle: judges subsets of moves by asking the model, in batches, within the budget."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, inf, isfinite
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Interrupted, Stopped, StoppedBy
from app.core.candidate_rows import CandidateRows, Cells, every_row
from app.core.facts import Best
from app.core.favourable import Bools, Favourable, Floats
from app.core.frontier import Chunk
from app.core.masks import Masks, as_truths, of_sets, sizes
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
        """Score the rows; `Interrupted` where somebody has ended that."""
        ...


def encoded_row(scorer: Scorer, instance: Sequence[float]) -> list[float]:
    """An instance, given by the values of its features, as the row that the model reads."""
    return [cell for position, value in enumerate(instance) for cell in scorer.cells(position, value)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the model says of the first so many of the subsets asked about."""

    favourable: Bools
    score: Floats
    outputs: Floats
    target: Favourable

    @classmethod
    def of(cls, outputs: Floats, target: Favourable) -> "Verdict":
        score = target.score(outputs)
        favourable = target.holds(outputs, score)
        if not (isfinite(score.max()) and isfinite(score.min())):
            # A score that is infinite is no ground for a recommendation.
            favourable &= np.isfinite(score)
        return cls(favourable, score, outputs, target)

    @property
    def label(self) -> NDArray[np.intp]:
        """The class that each row is given."""
        return self.labels(slice(None))

    def labels(self, rows: NDArray[np.intp] | slice) -> NDArray[np.intp]:
        """The same for some rows: few are told of, and only for those it is worked out."""
        return self.target.labels(self.outputs[rows], self.favourable[rows])

    def labels_of_favourable(self, rows: Sequence[int]) -> list[int]:
        """The same for rows that are favourable."""
        only = self.target.only_label
        return self.labels(np.array(rows, dtype=np.intp)).tolist() if only is None else [only] * len(rows)

    def row(self, row: int) -> "Verdict":
        """The verdict on one row, in memory of its own."""
        only = slice(row, row + 1)
        return Verdict(self.favourable[only].copy(), self.score[only].copy(), self.outputs[only].copy(), self.target)

    def label_of(self, row: int) -> int:
        return int(self.labels(slice(row, row + 1))[0])

    def __len__(self) -> int:
        return len(self.favourable)


@dataclass(slots=True)
class Meter:
    """What the model has cost so far."""

    rows: int = 0
    calls: int = 0
    seconds: float = 0.0


class _Leader(NamedTuple):
    """The best subset so far, and what the model said of it; it is told of at the end, if at all."""

    mask: Masks
    verdict: Verdict


def _first(masks: Masks, rows: NDArray[np.intp]) -> int:
    """Of several rows that are as good: the smallest subset, then the first by its positions.

    Beyond one word, subsets are asked about in that order anyway.
    """
    if len(rows) > 1 and masks.ndim == 1:
        tied = masks[rows]
        return int(rows[np.lexsort((~tied, sizes(tied)))[0]])
    return int(rows[0])


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
        self._instance = np.array(encoded_row(scorer, instance), dtype=scorer.dtype)
        self._moves = tuple(moves)
        self.meter = Meter() if meter is None else meter
        self._last: tuple[Masks, Verdict] | None = None
        self._leader: Best | _Leader | None = None
        self._best_merit = -inf

    def over(self, moves: Sequence[Move], best: Best) -> "Oracle":
        """An oracle for other moves of the same instance, on the same account; `best` is the best that is known."""
        other = Oracle(self._scorer, self._favourable, self._sent, moves, self._budget, self.meter)
        other._leader, other._best_merit = best, best.merit
        return other

    @property
    def batch_rows(self) -> int:
        return self._scorer.batch_rows

    @cached_property
    def _cells(self) -> list[Cells]:
        scorer = self._scorer
        return [Cells(scorer.columns(move.position), scorer.cells(move.position, move.target)) for move in self._moves]

    @cached_property
    def _rows(self) -> CandidateRows:
        return CandidateRows(self._instance, self._cells)

    def judge_instance(self) -> Verdict:
        """What the model says of the instance as it stands: asked once, first, however little time there is."""
        self._budget.rows_left -= 1
        return self._said(of_sets([0], len(self._moves)), self._instance[None])

    def judge(self, masks: Masks) -> Verdict:
        """Judge subsets, as many from the front as the budget allows."""
        masks = masks[: self._budget.take_rows(len(masks))]
        return self._said(masks, self._rows.of(masks))

    def judge_chunk(self, chunk: Chunk) -> Verdict:
        """The same for a part of a chunk, whose rows are easier to put together."""
        chunk = chunk.part(slice(0, self._budget.take_rows(len(chunk.masks))))
        return self._said(chunk.masks, self._rows.of_chunk(chunk))

    def judge_all(self, masks: Masks) -> Iterator[tuple[Masks, Verdict]]:
        """Judge these subsets batch by batch, each batch with its verdict; `Stopped` where the budget ends."""
        start = 0
        while start < len(masks):
            batch = masks[start : start + self.batch_rows]
            verdict = self.judge(batch)
            yield batch[: len(verdict)], verdict
            start += len(verdict)

    def judge_small(self, masks: Masks, numbers: NDArray[np.intp]) -> Verdict:
        """Judge subsets of few moves, given by their numbers too; the budget is known to allow them all."""
        self._budget.take_rows(len(numbers))
        rows = every_row(self._instance, self._cells)
        return self._said(masks, rows if len(numbers) == len(rows) else rows[numbers])

    def _said(self, masks: Masks, rows: NDArray[Any]) -> Verdict:
        verdict = Verdict.of(self._timed(rows), self._favourable)
        self._rank_last()
        self._last = masks, verdict
        return verdict

    def _rank_last(self) -> None:
        """See whether the last batch holds a better subset than all before; only when somebody may need to know."""
        if self._last is None:
            return
        (masks, verdict), self._last = self._last, None
        merits = self._favourable.merit(verdict.score)
        if merits.max() <= self._best_merit:
            return
        merits = np.where(np.isfinite(verdict.score), merits, -np.inf)
        row = _first(masks, np.flatnonzero(merits == merits.max()))
        if self._leader is None or merits[row] > self._best_merit:
            self._best_merit = float(merits[row])
            self._leader = _Leader(masks[row : row + 1], verdict.row(row))

    @property
    def best(self) -> Best:
        """The subset that came closest to a favourable answer so far; the instance itself at least has been judged."""
        self._rank_last()
        if isinstance(self._leader, Best):
            return self._leader
        assert self._leader is not None, "nothing has been judged yet"
        mask, verdict = self._leader
        moves = tuple(np.flatnonzero(as_truths(mask, len(self._moves))[0]).tolist())
        cost = fsum(self._moves[move].weight for move in moves)
        return Best(moves, cost, self._best_merit, verdict.score[0], verdict.label_of(0))

    def _timed(self, rows: NDArray[Any]) -> Floats:
        began = self._budget.clock()
        try:
            outputs = self._scorer(rows)
        except Interrupted:
            raise Stopped(self._budget.time_over() or StoppedBy.DEADLINE) from None
        self.meter.seconds += self._budget.clock() - began
        self.meter.rows += len(rows)
        self.meter.calls += self._scorer.runs(len(rows))
        return outputs
