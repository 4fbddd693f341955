"""The lattice of few moves, judged in one call: here calls are expensive, not rows."""

from collections.abc import Generator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped
from app.core.facts import Answers, Fact, Found, LevelFinished
from app.core.favourable import Bools
from app.core.formula import all_of, holds
from app.core.problem import Problem
from app.core.search.lattice import Explored, sent
from app.core.search.oracle import Oracle
from app.core.search.verdict import Verdict
from app.core.subsets.costs import costs_of
from app.core.subsets.dense_frontier import as_bits, minimal
from app.core.subsets.masks import Masks, as_truths, of_sets

# Up to so many moves all subsets are put together.
MOST_AT_ONCE = 10


def suits(problem: Problem, oracle: Oracle, budget: Budget) -> bool:
    """Whether all subsets fit one call of the model and the budget."""
    moves = len(problem.moves)
    return 0 < moves <= MOST_AT_ONCE and 2**moves <= min(oracle.batch_rows, budget.rows_left)


class JudgedSubsets(NamedTuple):
    """The numbers of the judged subsets, and the verdict on them."""

    numbers: NDArray[np.intp]
    verdict: Verdict | None


def judge(problem: Problem, oracle: Oracle, with_instance: bool) -> JudgedSubsets:
    """Judge every feasible subset, and the instance itself, the empty subset, if that is not known yet."""
    numbers = _asked_about(problem)[0 if with_instance else 1 :]
    every = _masks(len(problem.moves))
    masks = every if len(numbers) == len(every) else every[numbers]
    return JudgedSubsets(numbers, oracle.judge_small(masks, numbers) if len(numbers) else None)


def explore(
    problem: Problem, oracle: Oracle, budget: Budget, judged: JudgedSubsets | None
) -> Generator[Fact, None, Explored]:
    """Judge every feasible subset, unless `judged` is given, then yield the minimal answers size by size."""
    explored = Explored(size=0)
    try:
        found = _minimal(problem, judge(problem, oracle, with_instance=False) if judged is None else judged)
    except Stopped as stopped:
        explored.stopped_by = stopped.by
        return explored
    for size in range(1, problem.max_size + 1):
        if size in found:
            yield from sent(iter([Answers.of(found[size])]), explored, budget)
        if explored.stopped_by is not None:
            return explored
        explored.size = size
        yield _finished(size)
    explored.exhausted = True
    return explored


# Here a subset goes by its number: one bit a move, the first move highest.


_finished = cache(LevelFinished)


@cache
def _masks(moves: int) -> Masks:
    return of_sets(range(2**moves), moves)


@cache
def _truths(moves: int) -> Bools:
    return as_truths(_masks(moves), moves)


@cache
def members(moves: int) -> tuple[tuple[int, ...], ...]:
    """The moves of every subset."""
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in _truths(moves))


@cache
def _all(moves: int) -> NDArray[np.intp]:
    return np.arange(2**moves)


def feasible(problem: Problem) -> Bools:
    """Whether each subset is feasible."""
    moves = len(problem.moves)
    flags = holds(all_of(*problem.conjuncts), _truths(moves))
    flags &= np.bitwise_count(_masks(moves)) <= problem.max_size
    return flags


def _asked_about(problem: Problem) -> NDArray[np.intp]:
    """The feasible subsets, and always the empty one, which comes first."""
    moves = len(problem.moves)
    if not problem.conjuncts and problem.max_size == moves:
        return _all(moves)
    flags = feasible(problem)
    flags[0] = True
    return np.flatnonzero(flags)


def _minimal(problem: Problem, judged: JudgedSubsets) -> dict[int, list[Found]]:
    """The favourable subsets that contain no other one, by size and in the order of sending."""
    moves, (numbers, verdict) = len(problem.moves), judged
    if verdict is None:
        return {}
    flags = verdict.favourable
    if len(numbers) < 2**moves:
        flags = np.zeros(2**moves, dtype=np.bool_)
        flags[numbers] = verdict.favourable
    hits = _set_bits(minimal(as_bits(flags), moves))
    # Of one size, the falling numbers are in lexicographic order.
    hits.reverse()
    rows = hits if len(numbers) == 2**moves else np.searchsorted(numbers, hits).tolist()
    changed = [members(moves)[number] for number in hits]
    costs = map(costs_of(tuple([move.weight for move in problem.moves])).of, changed)
    scores, labels = [verdict.score[row] for row in rows], verdict.labels_of_favourable(rows)
    found: dict[int, list[Found]] = {}
    for each in map(Found, changed, costs, scores, labels):
        found.setdefault(len(each.moves), []).append(each)
    for same_size in found.values():
        same_size.sort(key=lambda each: each.cost)
    return found


def _set_bits(bits: int) -> list[int]:
    """The places of the bits that are set; there are few of them."""
    places = []
    while bits:
        lowest = bits & -bits
        places.append(lowest.bit_length() - 1)
        bits ^= lowest
    return places
