"""The oracle: judges subsets of moves by calling the model, in batches, within the budget."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Interrupted, Stopped, StoppedBy
from app.core.facts import Best
from app.core.favourable import Bools, Favourable, Floats
from app.core.following.following import Following
from app.core.following.rows import FollowingRows
from app.core.formula import Formula, all_of, holds
from app.core.problem import Move
from app.core.search.verdict import Leader, Verdict
from app.core.subsets.candidate_rows import CandidateRows, MoveCells, every_row
from app.core.subsets.frontier import SubsetChunk
from app.core.subsets.masks import Masks, as_truths, of_sets
from app.core.subsets.stepped_rows import SteppedRows

# A batch of rows takes no more than this, however wide they are: 4,096 rows of 2,000 columns.
BATCH_BYTES = 2**25


class Scorer(Protocol):
    """A model: rows in, outputs out, one row of outputs for each row."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that the model reads its rows in."""
        ...

    @property
    def batch_rows(self) -> int:
        """The most rows of a call, so that the search checks the clock often enough."""
        ...

    def columns(self, position: int) -> tuple[int, ...]:
        """The columns of a row that hold the feature at this position."""
        ...

    def cells(self, position: int, value: float) -> tuple[float, ...]:
        """What these columns hold for a value of the feature."""
        ...

    def runs(self, rows: int) -> int:
        """How many calls of the model this many rows take."""
        ...

    def __call__(self, rows: NDArray[Any]) -> Floats:
        """Score the rows; `Interrupted` if another thread ended it."""
        ...


def encoded_row(scorer: Scorer, instance: Sequence[float]) -> list[float]:
    """An instance, given by the values of its features, as the row that the model reads."""
    return [cell for position, value in enumerate(instance) for cell in scorer.cells(position, value)]


@dataclass(slots=True)
class ModelCost:
    """The rows, calls and seconds that the model has taken so far."""

    rows: int = 0
    calls: int = 0
    seconds: float = 0.0


# Which of some subsets satisfy the rules.
Rules = Callable[[Masks], Bools]


def satisfying(formulas: Sequence[Formula], moves: Sequence[Move]) -> Rules:
    """The rules that all these formulas make, for subsets of the moves."""
    rule = all_of(*formulas)
    return lambda masks: holds(rule, as_truths(masks, len(moves)))


class Oracle:
    """Builds the candidate rows r(x, S), has them scored, and keeps count."""

    def __init__(
        self,
        scorer: Scorer,
        favourable: Favourable,
        instance: tuple[float, ...],
        moves: Sequence[Move],
        budget: Budget,
        meter: ModelCost | None = None,
        following: Following | None = None,
    ) -> None:
        self._scorer = scorer
        self._following = following
        self._favourable = favourable
        self._budget = budget
        self._sent = instance
        self._instance = np.array(encoded_row(scorer, instance), dtype=scorer.dtype)
        self._moves = tuple(moves)
        self.meter = ModelCost() if meter is None else meter
        # None: every judged subset satisfies the rules.
        self.rules: Rules | None = None
        self._last: tuple[Masks, Verdict] | None = None
        self._within_rules, self._anyhow = Leader(), Leader()
        self._succeeded = False
        # Whether equally good subsets are compared from batch to batch, because they come in no order.
        self.compares_ties = False
        # The type of the model's outputs, once it was asked.
        self.outputs_dtype: np.dtype[Any] | None = None

    @property
    def favourable(self) -> Favourable:
        return self._favourable

    def over(self, moves: Sequence[Move], rules: Rules | None) -> "Oracle":
        """An oracle for other moves of the same instance, with the same budget and costs."""
        other = self._like(moves)
        other.rules = rules
        other.outputs_dtype = self.outputs_dtype
        return other

    def _like(self, moves: Sequence[Move]) -> "Oracle":
        given = self._scorer, self._favourable, self._sent, moves, self._budget, self.meter
        return Oracle(*given, self._following)

    @property
    def batch_rows(self) -> int:
        return min(self._scorer.batch_rows, max(1, BATCH_BYTES // self._instance.nbytes))

    @property
    def held(self) -> int:
        """Bytes that it takes to put rows together."""
        return self._rows.held if "_rows" in vars(self) else 0

    def forget_rows(self) -> None:
        """Let go of what it holds; a further question makes it anew."""
        vars(self).pop("_rows", None)

    def cells_of(self, moves: Sequence[Move]) -> tuple[NDArray[Any], list[MoveCells]]:
        """The instance as the model reads it, and what moves of it change."""
        scorer = self._scorer
        return self._instance, [
            MoveCells(scorer.columns(move.position), scorer.cells(move.position, move.target)) for move in moves
        ]

    @cached_property
    def _rows(self) -> CandidateRows | SteppedRows | FollowingRows:
        has_steps = len({move.position for move in self._moves}) < len(self._moves)
        rows = (SteppedRows if has_steps else CandidateRows)(*self.cells_of(self._moves))
        following = self._following
        return rows if following is None else FollowingRows(rows, self._moves, following, self._scorer)

    def judge_instance(self) -> Verdict:
        """Judge the unchanged instance: once, first, and even if there is hardly any time."""
        self._budget.rows_left -= 1
        return self._said(of_sets([0], len(self._moves)), self._instance[None])

    def judge(self, masks: Masks) -> Verdict:
        """Judge subsets, as many from the front as the budget allows."""
        masks = masks[: self._budget.take_rows(len(masks))]
        return self._said(masks, self._rows.of(masks))

    def judge_chunk(self, chunk: SubsetChunk) -> Verdict:
        """The same for a part of a chunk, whose rows are easier to put together."""
        chunk = chunk.part(slice(0, self._budget.take_rows(len(chunk.masks))))
        return self._said(chunk.masks, self._rows.of_chunk(chunk))

    def judge_rows(self, rows: NDArray[Any]) -> Verdict:
        """Judge rows of the caller's own making, which the caller has taken from the budget."""
        return Verdict.of(self._timed(rows), self._favourable)

    def rows_of(self, masks: Masks) -> NDArray[Any]:
        """The rows of subsets, valid until the next call."""
        return self._rows.of(masks)

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
        if self._following is not None:
            return self._said(masks, self._rows.of(masks))
        rows = every_row(*self.cells_of(self._moves))
        return self._said(masks, rows if len(numbers) == len(rows) else rows[numbers])

    def _said(self, masks: Masks, rows: NDArray[Any]) -> Verdict:
        verdict = self._narrowed(masks, Verdict.of(self._timed(rows), self._favourable))
        self._rank_last()
        self._last = masks, verdict
        return verdict

    def _narrowed(self, masks: Masks, verdict: Verdict) -> Verdict:
        """The verdict where more is asked of a favourable subset; here nothing is."""
        return verdict

    def _rank_last(self) -> None:
        """Check whether the last batch holds a better subset than all before; done late, because it is rarely needed.

        It is needed only if there is no answer. A favourable subset then breaks a rule, so it is of no interest.
        """
        if self._last is None or self._succeeded:
            return
        (masks, verdict), self._last = self._last, None
        if self.rules is None and verdict.favourable.any():
            self._succeeded = True
            return
        merits = self._favourable.merit(verdict.score)
        if merits.max() < self._within_rules.merit or (
            merits.max() == self._within_rules.merit and not self.compares_ties
        ):
            return
        merits = np.where(np.isfinite(verdict.score) & ~verdict.favourable, merits, -np.inf)
        if self.rules is not None:
            self._anyhow.follow(masks, verdict, merits)
        self._within_rules.follow(masks, verdict, self._within(masks, merits))

    def _within(self, masks: Masks, merits: Floats) -> Floats:
        """The merits of subsets that satisfy the rules; checks only those that are better than the best so far."""
        better = np.flatnonzero(merits > self._within_rules.merit)
        if self.rules is None or not len(better):
            return merits
        kept = np.full_like(merits, -np.inf)
        allowed = better[self.rules(masks[better])]
        kept[allowed] = merits[allowed]
        return kept

    @property
    def best(self) -> Best | None:
        """The closest subset so far that satisfies the rules, if there is no answer."""
        self._rank_last()
        return self._within_rules.best(self._moves)

    @property
    def best_without_rules(self) -> Best | None:
        """The closest subset so far, whether it satisfies the rules or not; None if there are no rules."""
        self._rank_last()
        return self._anyhow.best(self._moves)

    def _timed(self, rows: NDArray[Any]) -> Floats:
        began = self._budget.clock()
        try:
            outputs = self._scorer(rows)
        except Interrupted:
            raise Stopped(self._budget.time_over() or StoppedBy.DEADLINE) from None
        self.outputs_dtype = outputs.dtype
        self.meter.seconds += self._budget.clock() - began
        self.meter.rows += len(rows)
        self.meter.calls += self._scorer.runs(len(rows))
        return outputs
