"""The lattice of few moves, judged in one call: what a level costs is then the number of calls, not of rows."""

from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped
from app.core.facts import Fact, LevelFinished
from app.core.favourable import Bools
from app.core.formula import all_of, holds
from app.core.lattice import Explored, cheapest_first, sent
from app.core.oracle import Oracle
from app.core.problem import Problem
from app.core.subsets import Members, as_truths

# Up to so many moves all subsets are put together; a table for each number is kept.
MOST_MOVES = 10


@dataclass(frozen=True, slots=True)
class Table:
    """All subsets of so many moves but the empty one, by size and then in lexicographic order."""

    truths: Bools
    masks: NDArray[np.int64]
    levels: tuple[tuple[slice, Members], ...]


@cache
def table(moves: int) -> Table:
    """Made once for each number of moves."""
    levels, truths, start = [], [], 0
    for size in range(1, moves + 1):
        members = np.array(list(combinations(range(moves), size)), dtype=np.uint8)
        levels.append((slice(start, start + len(members)), members))
        truths.append(as_truths(members, moves))
        start += len(members)
    together = np.concatenate(truths)
    return Table(together, together @ (1 << np.arange(moves)), tuple(levels))


def suits(problem: Problem, oracle: Oracle, budget: Budget) -> bool:
    """Whether all subsets fit one call of the model and the budget."""
    moves = len(problem.moves)
    return 0 < moves <= MOST_MOVES and 2**moves <= min(oracle.batch_rows, budget.rows_left)


def explore(problem: Problem, oracle: Oracle, budget: Budget) -> Generator[Fact, None, Explored]:
    """Judge every feasible subset, then tell of the minimal ones size by size."""
    explored = Explored(size=0)
    subsets = table(len(problem.moves))
    try:
        favourable, scores, labels = _judged(problem, oracle, subsets)
    except Stopped as stopped:
        explored.stopped_by = stopped.by
        return explored
    weights = [move.weight for move in problem.moves]
    covered = np.zeros(2 ** len(problem.moves), dtype=np.bool_)
    for size, (rows, members) in enumerate(subsets.levels[: problem.largest], start=1):
        minimal = favourable[rows] & ~covered[subsets.masks[rows]]
        if minimal.any():
            answers = cheapest_first(weights, members[minimal], scores[rows][minimal], labels[rows][minimal], budget)
            yield from sent(answers, explored, budget)
            if explored.stopped_by is not None:
                return explored
            _cover(covered, subsets.masks[rows][minimal])
        explored.size = size
        yield LevelFinished(size)
    explored.exhausted = True
    return explored


def _judged(problem: Problem, oracle: Oracle, subsets: Table) -> tuple[Bools, NDArray[Any], NDArray[np.intp]]:
    """What the model says of every subset; of an infeasible one that it is not favourable, without asking."""
    count = len(subsets.masks)
    largest = subsets.levels[problem.largest - 1][0].stop
    feasible = np.zeros(count, dtype=np.bool_)
    feasible[:largest] = holds(all_of(*problem.conjuncts), subsets.truths[:largest])
    if not feasible.any():
        return feasible, np.zeros(count), np.zeros(count, dtype=np.intp)
    verdict = oracle.judge(subsets.truths[feasible])
    favourable = np.zeros(count, dtype=np.bool_)
    favourable[feasible] = verdict.favourable
    scores = np.zeros(count, dtype=verdict.score.dtype)
    scores[feasible] = verdict.score
    labels = np.zeros(count, dtype=np.intp)
    labels[feasible] = verdict.label
    return favourable, scores, labels


def _cover(covered: Bools, masks: NDArray[np.int64]) -> None:
    """Mark the subsets and every superset of them, one move after the other."""
    covered[masks] = True
    for move in range(len(covered).bit_length() - 1):
        without, with_it = covered.reshape(-1, 2, 1 << move)[:, 0], covered.reshape(-1, 2, 1 << move)[:, 1]
        with_it |= without
