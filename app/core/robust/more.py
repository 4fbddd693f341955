"""Does improving more undo it? What the model says of every feasible superset of a plan."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Answers, Fact, Found, LevelFinished, Moment, Working
from app.core.favourable import Bools
from app.core.formula import all_of, holds
from app.core.problem import Problem
from app.core.search.lattice import BLOCK, UNPACKED, Explored, sent
from app.core.search.oracle import Oracle
from app.core.search.whole_lattice import JudgedSubsets
from app.core.subsets.costs import Costs
from app.core.subsets.masks import WORD, Masks, as_truths

# With more moves not every subset is asked about.
MOST_MOVES = 24
# With no more than this their order is remembered.
MOST_ORDERED = 16
# Subsets whose constraints are looked at together.
AT_ONCE = 2**16

# Here a subset goes by its number: one bit a move, the first move highest.
Numbers = NDArray[np.int64]


@lru_cache(maxsize=MOST_ORDERED + 1)
def _by_size(moves: int) -> Numbers:
    """The subsets of so many moves: the smallest first, then the first by their positions."""
    numbers = np.arange(2**moves)
    return numbers[np.lexsort((-numbers, np.bitwise_count(numbers)))]


@dataclass(frozen=True)
class KnownLattice:
    """Which subsets of so many moves are feasible, and which of those the model favours."""

    moves: int
    feasible: Bools
    favourable: Bools

    @cached_property
    def _breaking(self) -> Numbers:
        """The feasible subsets that are not favourable: the smallest first, then the first by their positions."""
        order = _by_size(self.moves) if self.moves <= MOST_ORDERED else _by_size.__wrapped__(self.moves)
        return order[(self.feasible > self.favourable)[order]]

    def breaks_with(self, plan: Iterable[int]) -> tuple[int, ...] | None:
        """The further moves of a smallest feasible superset that is not favourable; None if there is no such one."""
        made = sum(1 << (self.moves - 1 - move) for move in plan)
        larger = (self._breaking & made) == made
        first = int(larger.argmax()) if len(larger) else 0
        if not len(larger) or not larger[first]:
            return None
        added = int(self._breaking[first]) & ~made
        return tuple(move for move in range(self.moves) if added >> (self.moves - 1 - move) & 1)

    def is_lasting(self) -> Bools:
        """Whether no feasible superset of each subset, nor itself if it is feasible, is unfavourable."""
        broken = self.feasible & ~self.favourable
        for move in range(self.moves):
            without, with_it = _halves(broken, move)
            without |= with_it
        return ~broken


def _halves(flags: Bools, bit: int) -> tuple[Bools, Bools]:
    """Views of the flags of all subsets without a move, and of the same subsets with it."""
    split = flags.reshape(-1, 2, 1 << bit)
    return split[:, 0], split[:, 1]


def _without_larger(flags: Bools, moves: int) -> Bools:
    """Those of some subsets that contain no other of them."""
    below = np.zeros_like(flags)
    for bit in range(moves):
        # What holds for a subset itself, or for one of its subsets by the bits so far, holds for what contains it.
        without, with_it = _halves(below, bit)
        with_it |= without | _halves(flags, bit)[0]
    return flags & ~below


def known(problem: Problem, judged: JudgedSubsets) -> KnownLattice | None:
    """What one call of the model has told already."""
    moves, verdict = len(problem.moves), judged.verdict
    if verdict is None:
        return None
    if len(judged.numbers) == 2**moves:
        return KnownLattice(moves, np.ones(2**moves, dtype=np.bool_), verdict.favourable)
    feasible, favourable = np.zeros(2**moves, dtype=np.bool_), np.zeros(2**moves, dtype=np.bool_)
    feasible[judged.numbers] = True
    favourable[judged.numbers] = verdict.favourable
    # The instance is judged in any case; whether it is feasible does not matter to what contains a change.
    return KnownLattice(moves, feasible, favourable)


def ask(problem: Problem, oracle: Oracle, budget: Budget) -> Generator[Moment, None, KnownLattice]:
    """Ask the model about every feasible subset; `Stopped` if that is too much."""
    moves = len(problem.moves)
    if moves > MOST_MOVES:
        raise Stopped(StoppedBy.MAX_MODEL_ROWS)
    yield from budget.remember(4 * 2**moves)
    feasible, favourable = np.zeros(2**moves, dtype=np.bool_), np.zeros(2**moves, dtype=np.bool_)
    rule = all_of(*problem.conjuncts)
    for start in range(0, 2**moves, AT_ONCE):
        numbers = np.arange(start, min(start + AT_ONCE, 2**moves))
        allowed = holds(rule, as_truths(masks_of(numbers, moves), moves))
        numbers = numbers[allowed & (np.bitwise_count(numbers) <= problem.max_size)]
        feasible[numbers] = True
        done = 0
        for _, verdict in oracle.judge_all(masks_of(numbers, moves)):
            favourable[numbers[done : done + len(verdict)]] = verdict.favourable
            done += len(verdict)
            yield Working()
    return KnownLattice(moves, feasible, favourable)


def masks_of(numbers: Numbers, moves: int) -> Masks:
    return numbers.astype(np.uint64) << np.uint64(WORD - moves) if moves else np.zeros(len(numbers), dtype=np.uint64)


def explore(
    problem: Problem, oracle: Oracle, budget: Budget, lattice: KnownLattice | None
) -> Generator[Fact, None, Explored]:
    """Yield the minimal plans that no further improvement breaks, size by size.

    Whether a plan breaks depends on its supersets alone: what holds for it holds for all that contains it.
    """
    explored = Explored(size=0)
    try:
        if lattice is None:
            lattice = yield from ask(problem, oracle, budget)
        lasting = lattice.feasible & lattice.is_lasting()
        lasting[0] = False
        numbers = np.flatnonzero(_without_larger(lasting, lattice.moves))
        for size in range(1, problem.max_size + 1):
            blocks = _blocks(problem, oracle, numbers[np.bitwise_count(numbers) == size])
            yield from sent(blocks, explored, budget)
            if explored.stopped_by is not None:
                return explored
            explored.size = size
            yield LevelFinished(size)
    except Stopped as stopped:
        explored.stopped_by = stopped.by
        return explored
    explored.exhausted = True
    return explored


def _blocks(problem: Problem, oracle: Oracle, numbers: Numbers) -> Iterator[Answers]:
    """Plans of one size, a block at a time: the cheapest first, then the first by their positions."""
    moves, costs = len(problem.moves), Costs([move.weight for move in problem.moves])
    numbers = numbers[::-1]
    if not costs.uniform:
        chunks = (numbers[start : start + AT_ONCE] for start in range(0, len(numbers), AT_ONCE))
        known = [costs.of_truths(as_truths(masks_of(chunk, moves), moves)) for chunk in chunks]
        numbers = numbers[np.argsort(np.concatenate([np.zeros(0), *known]), kind="stable")]
    for start in range(0, len(numbers), UNPACKED):
        found: list[Found] = []
        for batch, verdict in oracle.judge_all(masks_of(numbers[start : start + UNPACKED], moves)):
            made = [tuple(np.flatnonzero(row).tolist()) for row in as_truths(batch, moves)]
            labels = verdict.labels_of_favourable(range(len(batch)))
            found += map(Found, made, map(costs.of, made), list(verdict.score), labels)
        yield from (Answers.of(found[block : block + BLOCK]) for block in range(0, len(found), BLOCK))
