"""The lattice of few moves, judged in one call: what a level costs is then the number of calls, not of rows."""

from collections.abc import Generator, Iterator
from functools import cache
from itertools import combinations
from math import fsum

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped
from app.core.dense_frontier import Table, all_masks, as_bits, as_flags, proper_supersets, table
from app.core.facts import Fact, Found, LevelFinished
from app.core.favourable import Bools
from app.core.formula import all_of, holds
from app.core.lattice import Explored, sent
from app.core.masks import as_truths
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem

# Up to so many moves all subsets are put together.
MOST_MOVES = 10


def suits(problem: Problem, oracle: Oracle, budget: Budget) -> bool:
    """Whether all subsets fit one call of the model and the budget."""
    moves = len(problem.moves)
    return 0 < moves <= MOST_MOVES and 2**moves <= min(oracle.batch_rows, budget.rows_left)


def explore(problem: Problem, oracle: Oracle, budget: Budget) -> Generator[Fact, None, Explored]:
    """Judge every feasible subset, then tell of the minimal ones size by size."""
    explored = Explored(size=0)
    subsets = table(len(problem.moves))
    asked = _feasible(problem, subsets)
    try:
        verdict = oracle.judge(all_masks(subsets.moves)[asked]) if len(asked) else None
    except Stopped as stopped:
        explored.stopped_by = stopped.by
        return explored
    answers = {} if verdict is None else _minimal(problem, subsets, asked, verdict)
    for size in range(1, problem.largest + 1):
        yield from sent(iter(answers.get(size, ())), explored, budget)
        if explored.stopped_by is not None:
            return explored
        explored.size = size
        yield LevelFinished(size)
    explored.exhausted = True
    return explored


@cache
def _members(moves: int) -> tuple[tuple[int, ...], ...]:
    return tuple(members for size in range(moves + 1) for members in combinations(range(moves), size))


@cache
def _truths(moves: int) -> Bools:
    return as_truths(all_masks(moves), moves)


def _feasible(problem: Problem, subsets: Table) -> NDArray[np.intp]:
    """The places in the table of the feasible subsets, but not of the empty one."""
    stop = subsets.starts[problem.largest + 1]
    if not problem.conjuncts:
        return np.arange(1, stop)
    return np.flatnonzero(holds(all_of(*problem.conjuncts), _truths(subsets.moves)[1:stop])) + 1


def _minimal(problem: Problem, subsets: Table, asked: NDArray[np.intp], verdict: Verdict) -> dict[int, list[Found]]:
    """The favourable subsets that contain no other one, by size and in the order that they are sent in."""
    flags = np.zeros(2**subsets.moves, dtype=np.bool_)
    flags[subsets.numbers[asked]] = verdict.favourable
    favourable = as_bits(flags)
    minimal = as_flags(favourable & ~proper_supersets(favourable, subsets.moves), subsets.moves)
    rows = np.flatnonzero(minimal[subsets.numbers[asked]])
    answers: dict[int, list[Found]] = {}
    for found in _told(problem, subsets, asked, rows, verdict):
        answers.setdefault(len(found.moves), []).append(found)
    for same_size in answers.values():
        same_size.sort(key=lambda found: found.cost)
    return answers


def _told(
    problem: Problem, subsets: Table, asked: NDArray[np.intp], rows: NDArray[np.intp], verdict: Verdict
) -> Iterator[Found]:
    labels = verdict.labels(rows)
    for place, row, label in zip(asked[rows].tolist(), rows.tolist(), labels.tolist(), strict=True):
        moves = _members(subsets.moves)[place]
        yield Found(moves, fsum([problem.moves[move].weight for move in moves]), verdict.score[row], label)
