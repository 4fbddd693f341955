"""The oracle of requests that ask for plans that hold: *favourable* then means more than the model's own decision."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.favourable import Bools, Favourable
from app.core.problem import Move
from app.core.robust.noise import NoisyFeature, NoisyRows
from app.core.search.oracle import ModelCost, Oracle, Scorer
from app.core.search.verdict import Verdict
from app.core.subsets.candidate_rows import MoveCells
from app.core.subsets.masks import Indices, Masks, as_truths

# For so few sets rows are put together one by one.
FEW = 32
# Draws are asked about in steps: most sets that do not hold show it in the first few.
FIRST_DRAWS = 8
GROWTH = 4

Counts = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class OtherModel:
    """Another model that judges the same rows: its own favourable side, the instance and where it has each feature."""

    name: str
    scorer: Scorer
    favourable: Favourable
    # For each feature of the model that is asked: its position in the other one.
    positions: tuple[int, ...]

    def oracle(self, instance: Sequence[float], moves: Sequence[Move], budget: Budget, meter: ModelCost) -> Oracle:
        own = [0.0] * len(instance)
        for value, position in zip(instance, self.positions, strict=True):
            own[position] = value
        moved = [move._replace(position=self.positions[move.position]) for move in moves]
        return Oracle(self.scorer, self.favourable, tuple(own), moved, budget, meter)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What an answer is held against: errors of these features, by position, and other models."""

    noisy: Mapping[int, NoisyFeature]
    draws: int
    others: tuple[OtherModel, ...] = ()
    # The share of the draws that a favourable subset must reach; None if nothing is required.
    require: float | None = None

    @property
    def needed(self) -> int:
        """The draws that must be favourable, of all."""
        if self.require is None or not self.noisy:
            return 0
        count = ceil(self.require * self.draws)
        # A product may round either way; the share is what counts.
        while count and (count - 1) / self.draws >= self.require:
            count -= 1
        return count if count / self.draws >= self.require else count + 1


class Failure(NamedTuple):
    """A row that the model refuses, and what it says of it."""

    row: NDArray[Any]
    label: int
    score: np.floating[Any]


class Drawn(NamedTuple):
    """In how many draws a set is favourable, and one that fails."""

    passed: int
    failure: Failure | None


class Planned(NamedTuple):
    """The rows that plans make, and which of all values that are measured the noisy features of each have."""

    rows: NDArray[Any]
    values: Indices


class Trials:
    """Judges sets of moves of one person by every draw and every other model, within a budget."""

    def __init__(
        self,
        scorer: Scorer,
        favourable: Favourable,
        instance: tuple[float, ...],
        moves: Sequence[Move],
        conditions: Conditions,
        budget: Budget,
        meter: ModelCost,
    ) -> None:
        self._given, self._moves = moves, len(moves)
        self._oracle = Oracle(scorer, favourable, instance, moves, budget, meter)
        self._budget = budget
        self.noisy: NoisyRows | None = None
        if conditions.noisy:
            self.noisy = NoisyRows(scorer, instance, moves, conditions.noisy, conditions.draws)
        self.draws = conditions.draws if conditions.noisy else 0
        self.others = [other.oracle(instance, moves, budget, meter) for other in conditions.others]

    def approved(self, other: Oracle, masks: Masks) -> Verdict:
        """What another model says of all of these sets."""
        return joined([verdict for _, verdict in other.judge_all(masks)])

    def passed(self, masks: Masks, draws: slice) -> Counts:
        """In how many of these draws each set is favourable."""
        found = [np.zeros(0, dtype=np.intp)]
        for start, stop in self._batches(len(masks), draws):
            found.append(self._held(self._planned(masks[start:stop]), draws)[0].sum(axis=1))
        return np.concatenate(found)

    def drawn(self, planned: Planned, within: Bools) -> list[Drawn]:
        """Each plan in all draws; of those that are `within`, the first that fails."""
        draws, found = slice(0, self.draws), list[Drawn]()
        for start, stop in self._batches(len(planned.rows), draws):
            held, rows, verdict = self._held(Planned(planned.rows[start:stop], planned.values[start:stop]), draws)
            failing = within > held
            for plan, first in enumerate(failing.argmax(axis=1).tolist()):
                at = plan * self.draws + first
                failure = Failure(rows[at], verdict.label_of(at), verdict.score[at]) if failing[plan, first] else None
                found.append(Drawn(int(np.count_nonzero(held[plan])), failure))
        return found

    def _batches(self, sets: int, draws: slice) -> Iterator[tuple[int, int]]:
        """The first and the end of each batch of sets that these draws of are judged together."""
        at_once = max(1, self._oracle.batch_rows // len(range(*draws.indices(self.draws))))
        return ((start, min(sets, start + at_once)) for start in range(0, sets, at_once))

    def _held(self, planned: Planned, draws: slice) -> tuple[Bools, NDArray[Any], Verdict]:
        """In which of these draws each set is favourable; the rows of all draws, and what the model says of them."""
        assert self.noisy is not None
        rows = self.noisy.rows(*planned, draws)
        verdict = self.judged(rows)
        return verdict.favourable.reshape(len(planned.rows), -1), rows, verdict

    def judged(self, rows: NDArray[Any]) -> Verdict:
        """What the model says of rows; `Stopped` where the budget ends."""
        most = self._oracle.batch_rows
        return joined([self._judged(rows[start : start + most]) for start in range(0, len(rows), most)])

    def _judged(self, rows: NDArray[Any]) -> Verdict:
        if self._budget.take_rows(len(rows)) < len(rows):
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)
        return self._oracle.judge_rows(rows)

    def planned(self, plans: Sequence[tuple[int, ...]]) -> Planned:
        """Few plans, put together one by one: to prepare tables for many would take longer."""
        assert self.noisy is not None
        instance, cells = self._cells
        rows = np.repeat(instance[None], len(plans), axis=0)
        for row, plan in zip(rows, plans, strict=True):
            for move in plan:
                for column, value in zip(*cells[move], strict=True):
                    row[column] = value
        return Planned(rows, self.noisy.values_of(plans))

    def _planned(self, masks: Masks) -> Planned:
        """Any number of sets, valid until the next call."""
        assert self.noisy is not None
        made = as_truths(masks, self._moves)
        if len(masks) > FEW:
            return Planned(self._oracle.rows_of(masks), self.noisy.values_where(made))
        return self.planned([tuple(np.flatnonzero(row).tolist()) for row in made])

    @cached_property
    def _cells(self) -> tuple[NDArray[Any], list[MoveCells]]:
        return self._oracle.cells_of(self._given)

    def holding(self, masks: Masks, needed: int) -> Indices:
        """Which of these sets every other model favours, and so many of the draws."""
        left = np.arange(len(masks))
        for other in self.others:
            if len(left):
                left = left[self.approved(other, masks[left]).favourable]
        return left[self._enough(masks[left], needed)] if needed and len(left) else left

    def _enough(self, masks: Masks, needed: int) -> Bools:
        """Whether each set passes that many draws. It is asked no further once that is settled."""
        passed, open_still = np.zeros(len(masks), dtype=np.intp), np.arange(len(masks))
        for draws in _steps(self.draws):
            passed[open_still] += self.passed(masks[open_still], draws)
            so_far = passed[open_still]
            can_fail, can_pass = so_far < needed, so_far + (self.draws - draws.stop) >= needed
            open_still = open_still[can_fail & can_pass]
            if not len(open_still):
                break
        return passed >= needed


def joined(parts: Sequence[Verdict]) -> Verdict:
    """The verdicts on several batches as one."""
    if len(parts) == 1:
        return parts[0]
    favourable, score, outputs = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("favourable", "score", "outputs")
    )
    return Verdict(favourable, score, outputs, parts[0].target)


def _steps(draws: int) -> Iterator[slice]:
    start, size = 0, FIRST_DRAWS
    while start < draws:
        yield slice(start, min(draws, start + size))
        start, size = start + size, size * GROWTH


class HoldingOracle(Oracle):
    """Calls a subset favourable only if it holds under the conditions too."""

    def __init__(
        self,
        scorer: Scorer,
        favourable: Favourable,
        instance: tuple[float, ...],
        moves: Sequence[Move],
        budget: Budget,
        conditions: Conditions,
        meter: ModelCost | None = None,
    ) -> None:
        super().__init__(scorer, favourable, instance, moves, budget, meter)
        self._conditions = conditions
        self._trials = Trials(scorer, favourable, instance, moves, conditions, budget, self.meter)

    def _like(self, moves: Sequence[Move]) -> Oracle:
        given = self._scorer, self._favourable, self._sent, moves, self._budget, self._conditions, self.meter
        return HoldingOracle(*given)

    def judge_instance(self) -> Verdict:
        # By every draw and every model, whatever rows there are.
        budget = self._budget
        lacking = max(0, 1 + self._conditions.draws + len(self._conditions.others) - budget.rows_left)
        budget.rows_left += lacking
        verdict = super().judge_instance()
        budget.rows_left = max(0, budget.rows_left - lacking)
        return verdict

    def _narrowed(self, masks: Masks, verdict: Verdict) -> Verdict:
        favoured = np.flatnonzero(verdict.favourable)
        if not len(favoured):
            return verdict
        held = np.zeros(len(verdict), dtype=np.bool_)
        held[favoured[self._trials.holding(masks[favoured], self._conditions.needed)]] = True
        return replace(verdict, favourable=held, decided=verdict.favourable)
