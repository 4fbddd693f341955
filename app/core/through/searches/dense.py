"""All subsets of few moves at once: their sums, what is favourable, what is feasible, and which of them are minimal."""

from collections.abc import Generator, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped
from app.core.facts import Fact, LevelFinished, Moment, Working
from app.core.formula import Formula, all_of, extent
from app.core.problem import Problem
from app.core.search.lattice import Explored
from app.core.search.oracle import Oracle
from app.core.subsets.masks import Masks, of_truths
from app.core.through.margins import Line, Margin
from app.core.through.searches import packed
from app.core.through.searches.packed import Numbers, Words
from app.core.through.searches.scored import Contradicted, Sender, WaysToLeaves
from app.core.through.searches.transform import AllSums, Block, coefficients

# Beyond so many moves branch and bound is quicker; sooner, if several sums decide.
MOST_MOVES = 22
MOST_MOVES_IN_SPACE = 16
# Words that are worked out between two looks at the clock, divided by the length of the formula.
AT_A_TIME = 2**22


def suits(margin: Margin, moves: int) -> bool:
    return moves <= (MOST_MOVES if isinstance(margin, Line) else MOST_MOVES_IN_SPACE)


class Flags:
    """One bit for each subset of some moves, the first move highest in its number: surely favourable, or perhaps."""

    def __init__(self, margin: Margin, moves: Sequence[int], budget: Budget) -> None:
        self.moves = list(moves)
        self._margin = margin
        self._budget = budget
        self._bit = {move: len(self.moves) - 1 - place for place, move in enumerate(self.moves)}
        words = packed.length(len(self.moves))
        self.yes, self.maybe = np.zeros(words, dtype=np.uint64), np.zeros(words, dtype=np.uint64)

    def bit_of(self, move: int) -> int:
        return self._bit[move]

    @cached_property
    def _sums(self) -> AllSums:
        alone = np.zeros(max(self.moves, default=0) + 1, dtype=np.int64)
        alone[self.moves] = [1 << self.bit_of(move) for move in self.moves]
        given = coefficients(self._margin.constant, self._margin.tables, alone)
        return AllSums(given, len(self.moves))

    @property
    def words_a_row(self) -> int:
        return self._sums.words_a_row

    @property
    def error(self) -> float:
        """How far rounding may put a sum off."""
        return self._sums.error

    def sums(self) -> Iterator[Block]:
        """The sums of all subsets, block by block."""
        return self._sums.blocks()

    def fill(self) -> Generator[Moment, None, None]:
        yield from self._budget.remember(self._sums.held + 6 * self.yes.nbytes)
        rows = self.words_a_row
        for block in self.sums():
            self._budget.check()
            yield Working()
            values = block.values.reshape(-1, block.values.shape[-1])
            yes, maybe = self._margin.sorted_out(values, self.error)
            self.yes.reshape(-1, rows)[:, block.word] = _words(yes)
            self.maybe.reshape(-1, rows)[:, block.word] = _words(maybe)
        if len(self.moves) < packed.IN_A_WORD:
            there = np.uint64((1 << 2 ** len(self.moves)) - 1)
            self.yes &= there
            self.maybe &= there

    def holding(self, *formulas: Formula) -> Generator[Working, None, Words]:
        """The subsets that satisfy all of the formulas."""
        rule = all_of(*formulas)
        step = max(1, AT_A_TIME // extent(rule) // 64)
        held = np.empty_like(self.yes)
        for start in range(0, len(held), step):
            self._budget.check()
            yield Working()
            words = np.arange(start, min(start + step, len(held)))
            held[words] = packed.holding(rule, self.bit_of, words)
        return held

    def masks(self, numbers: Numbers, among: int) -> Masks:
        """Subsets given by number, as subsets of so many moves."""
        made = np.zeros((len(numbers), among), dtype=np.bool_)
        for move in self.moves:
            made[:, move] = numbers >> self._bit[move] & 1
        return of_truths(made)


def _words(flags: NDArray[np.bool_]) -> Words:
    return np.packbits(flags, bitorder="little").view(np.uint64)


class Dense:
    """Searches all subsets of these moves of a problem."""

    def __init__(
        self, problem: Problem, margin: Margin, moves: Sequence[int], budget: Budget, ways: WaysToLeaves = None
    ) -> None:
        self._problem = problem
        self._ways = ways
        self._budget = budget
        self._flags = Flags(margin, moves, budget)
        self.nodes = 0

    def explore(self, oracle: Oracle, explored: Explored) -> Generator[Fact, None, None]:
        """Yields the answers level by level; `explored` says how far it came."""
        sender = Sender(self._problem, oracle, self._budget, explored, self._ways)
        try:
            proposed = yield from self._proposed()
        except Stopped as stopped:
            explored.stopped_by = stopped.by
            return
        self.nodes = 2 ** len(self._flags.moves)
        sizes = np.bitwise_count(proposed)
        while explored.size < self._problem.max_size:
            yield from self._level(proposed[sizes == explored.size + 1], sender)
            if explored.stopped_by is not None:
                return
            explored.size += 1
            yield LevelFinished(explored.size)
        explored.exhausted = True

    def _proposed(self) -> Generator[Moment, None, Numbers]:
        """What may be favourable and is feasible, less what contains a sure answer."""
        flags, moves = self._flags, len(self._flags.moves)
        yield from flags.fill()
        if packed.is_set(flags.yes, np.zeros(1, dtype=np.int64))[0]:
            # The model refuses the instance as it stands.
            raise Contradicted
        if self._problem.conjuncts:
            feasible = yield from flags.holding(*self._problem.conjuncts)
            flags.yes &= feasible
            flags.maybe &= feasible
        larger = packed.proper_supersets(flags.yes, moves)
        yield Working()
        # Some that may be favourable turn out to be: these close their supersets too.
        self._closed = np.zeros_like(flags.yes)
        proposed = packed.numbers_of((flags.yes | flags.maybe) & ~larger)
        return proposed[proposed > 0]

    def _level(self, numbers: Numbers, sender: Sender) -> Generator[Fact, None, None]:
        numbers = numbers[~packed.is_set(self._closed, numbers)]
        if not len(numbers):
            return
        sure = packed.is_set(self._flags.yes, numbers)
        favourable = yield from sender.sent(self._flags.masks(numbers, len(self._problem.moves)), sure)
        unforeseen = numbers[favourable & ~sure]
        if len(unforeseen):
            moves = len(self._flags.moves)
            self._closed |= packed.with_supersets(packed.of_numbers(unforeseen, moves), moves)
