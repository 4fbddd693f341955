"""One gain for each move: the minimal answers are the minimal covers of a threshold, listed size by size.

A set whose sum surely suffices is minimal if it no longer surely suffices without its smallest gain. Sets grow by later
moves only, and are dropped as soon as the best completion is too small, or the worst one is not minimal.
"""

from collections.abc import Generator, Iterator
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Fact, LevelFinished, Moment, Working
from app.core.favourable import Bools
from app.core.problem import Problem
from app.core.search.lattice import Explored
from app.core.search.oracle import Oracle
from app.core.subsets.masks import Indices, Masks, as_bytes, single
from app.core.through.margins import Line, Margin
from app.core.through.searches.known import KnownAnswers
from app.core.through.searches.scored import Sender
from app.core.through.view import Numbers

# Pairs of a set and one more move that are looked at together.
AT_A_TIME = 2**16
# What rounding may do to a sum of gains, as a share of all gains together.
ROUNDING = 2.0**-40


class Gains(NamedTuple):
    """The sum without any move, the moves that help, and by how much."""

    start: float
    moves: Indices
    gains: Numbers


def gains_of(problem: Problem, margin: Margin) -> Gains | None:
    """The gains, where each move has one of its own and nothing constrains the sets but their size."""
    if problem.conjuncts or not isinstance(margin, Line) or not margin.is_rising:
        return None
    if any(len(table.moves) > 1 for table in margin.tables):
        return None
    start = float(margin.constant[0]) + sum(float(table.values[0, 0]) for table in margin.tables)
    gains = np.zeros(len(problem.moves))
    for table in margin.tables:
        gains[table.moves[0]] += table.values[1, 0] - table.values[0, 0]
    needed = {table.moves[0] for table in margin.tables}
    # Without such a move a set that may be favourable surely is.
    harmful = gains <= margin.cuts.no_to - margin.cuts.yes_from
    moves = np.array([move for move in sorted(needed) if not harmful[move]], dtype=np.intp)
    if (gains[moves] <= 0).any():
        # So little that only the model knows whether it helps.
        return None
    return Gains(start, moves, gains[moves])


class _Sets(NamedTuple):
    """Some sets of one size in the order of their positions: sum, smallest gain, and the place after the last move."""

    masks: Masks
    sums: Numbers
    smallest: Numbers
    after: NDArray[np.int32]

    def part(self, rows: slice | Bools) -> "_Sets":
        return _Sets(self.masks[rows], self.sums[rows], self.smallest[rows], self.after[rows])

    @property
    def held(self) -> int:
        return sum(array.nbytes for array in self)


class Covers:
    """Lists the minimal covers."""

    def __init__(self, problem: Problem, margin: Line, gains: Gains, budget: Budget) -> None:
        self._problem = problem
        self._given = gains
        self._budget = budget
        self._low, self._high = margin.cuts.no_to, margin.cuts.yes_from
        self._rounding = ROUNDING * (abs(gains.start) + float(gains.gains.sum()))
        self._bits = single(len(problem.moves))[gains.moves]
        self._ends = _Ends(gains.gains)
        # Favourable sets of which the view was not sure: larger sets may contain them.
        self._unforeseen = KnownAnswers()
        self._met: list[_Sets] = []
        self.nodes = 0

    def explore(self, oracle: Oracle, explored: Explored) -> Generator[Fact, None, None]:
        """Yields the answers level by level; `explored` says how far it came."""
        sender = Sender(self._problem, oracle, self._budget, explored)
        most = min(self._problem.max_size, len(self._given.moves))
        while explored.size < most and self._leads_on(explored.size + 1):
            if not self._budget.wants_answers():
                explored.stopped_by = StoppedBy.MAX_COUNTERFACTUALS
                return
            try:
                yield from self._level(explored.size + 1, sender, explored)
            except Stopped as stopped:
                explored.stopped_by = stopped.by
            if explored.stopped_by is not None:
                return
            explored.size += 1
            yield LevelFinished(explored.size)
        explored.exhausted = True

    def _leads_on(self, size: int) -> bool:
        """Whether sets of this size, or of a larger one, can be minimal."""
        return bool(self._given.start + self._ends.bottom[0, size] - self._ends.least[0] < self._high + self._rounding)

    def _level(self, size: int, sender: Sender, explored: Explored) -> Generator[Fact, None, None]:
        """Sends block by block where positions alone say in which order, and otherwise all at once."""
        kept: list[_Sets] = []
        for step in self._sets(size):
            if not isinstance(step, _Sets):
                yield step
                continue
            if not sender.streams:
                kept.append(step)
                yield from self._budget.remember(2 * sum(sets.held for sets in kept))
                continue
            yield from self._sent(step, sender)
            if explored.stopped_by is not None:
                return
        if kept:
            yield from self._sent(_Sets(*map(np.concatenate, zip(*kept, strict=True))), sender)
        for met in self._met:
            for place in np.unique(met.after).tolist():
                self._unforeseen.add(as_bytes(met.masks[met.after == place]), self._move_before(place))
        self._met = []

    def _move_before(self, place: int) -> int:
        return int(self._given.moves[place - 1])

    def _without_known(self, sets: _Sets) -> _Sets:
        """Less those that contain an answer, which has the same last move: without it they contain none."""
        doubtful = np.flatnonzero(sets.sums > self._low - self._rounding)
        contains = np.zeros(len(sets.sums), dtype=np.bool_)
        for place in np.unique(sets.after[doubtful]).tolist():
            rows = doubtful[sets.after[doubtful] == place]
            contains[rows] = self._unforeseen.within(as_bytes(sets.masks[rows]), self._move_before(place))
        return sets.part(~contains) if contains.any() else sets

    def _sent(self, sets: _Sets, sender: Sender) -> Generator[Fact, None, None]:
        sure = sets.sums >= self._high
        favourable = yield from sender.sent(sets.masks, sure)
        met = sets.part(favourable & ~sure)
        if len(met.sums):
            self._met.append(met)

    def _sets(self, size: int) -> Iterator[_Sets | Moment]:
        """The sets of this size that may be minimal answers, in the order of their positions."""
        none = np.zeros_like(self._bits[:1])
        nothing = np.array([self._given.start]), np.array([inf]), np.zeros(1, dtype=np.int32)
        waiting: list[tuple[int, _Sets]] = [(size, _Sets(none, *nothing))]
        at_once = max(1, AT_A_TIME // len(self._given.moves))
        while waiting:
            self._budget.check()
            yield Working()
            left, sets = waiting.pop()
            if len(sets.sums) > at_once:
                waiting.append((left, sets.part(slice(at_once, None))))
            larger = self._extended(sets.part(slice(at_once)), left)
            yield from self._budget.remember(sum(each.held for _, each in waiting) + larger.held)
            if left == 1:
                yield larger
            elif len(larger.sums):
                waiting.append((left - 1, larger))

    def _extended(self, sets: _Sets, left: int) -> _Sets:
        """With one of the later moves more, where `left` moves are wanted and a completion may be minimal."""
        gains, ends = self._given.gains, self._ends
        later = np.arange(len(gains))
        sums = sets.sums[:, None] + gains
        smallest = np.minimum(sets.smallest[:, None], gains)
        enough = sums + ends.top[1:, left - 1] > self._low - self._rounding
        least = np.minimum(smallest, ends.least[1:]) if left > 1 else smallest
        minimal = sums + ends.bottom[1:, left - 1] - least < self._high + self._rounding
        flat = np.flatnonzero(enough & minimal & (later >= sets.after[:, None]))
        rows, added = flat // len(gains), flat % len(gains)
        self.nodes += len(flat)
        masks = sets.masks[rows] | self._bits[added]
        larger = _Sets(masks, sums.reshape(-1)[flat], smallest.reshape(-1)[flat], (added + 1).astype(np.int32))
        return self._without_known(larger) if self._unforeseen.held else larger


class _Ends:
    """For each place in the order of positions, and each number of later moves: their largest and smallest sums."""

    def __init__(self, gains: Numbers) -> None:
        count = len(gains)
        self.top = np.full((count + 1, count + 2), -inf)
        self.bottom = np.full((count + 1, count + 2), inf)
        self.least = np.full(count + 1, inf)
        for place in range(count + 1):
            rising = np.sort(gains[place:])
            self.top[place, : len(rising) + 1] = np.cumsum([0.0, *rising[::-1]])
            self.bottom[place, : len(rising) + 1] = np.cumsum([0.0, *rising])
            self.least[place] = rising[0] if len(rising) else inf
