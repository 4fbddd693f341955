"""Constraints that no subset can satisfy, and a minimal group of them that already contradicts itself."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.budget import Budget, Stopped
from app.core.constraints import Item
from app.core.facts import Moment
from app.core.formula import Formula, all_of, holds
from app.core.problem import Problem
from app.core.search.solver import Solver, is_readable
from app.core.steps.ladder import ladder_of

# Up to so many moves all subsets are looked at; a solver would take longer.
MOST_TABLED = 12


@dataclass(frozen=True, slots=True)
class Conflict:
    """Items that cannot be satisfied together, if there are any.

    `settled`: without items, all can be satisfied; with items, the group is minimal. Otherwise the budget ended first.
    """

    items: tuple[Item, ...] = ()
    settled: bool = True


NO_CONFLICT = Conflict()


def find_conflict(problem: Problem, budget: Budget) -> Generator[Moment, None, Conflict]:
    """Look for a conflict, in turns of some milliseconds. If there are several groups, early items are left out."""
    if not problem.items:
        return NO_CONFLICT
    formulas = problem.formulas(problem.candidates)
    count = len(problem.candidates)
    nothing = np.zeros((1, count), dtype=np.bool_)
    if all(holds(formula, nothing)[0] for formula in formulas):
        return NO_CONFLICT
    ladder = ladder_of(problem.candidates)
    rules = () if ladder is None else ladder.rules
    if count <= MOST_TABLED:
        group, settled = _tabled(formulas, count, rules), True
    else:
        group, settled = yield from _solved(formulas, count, rules, budget)
    return Conflict(tuple(problem.items[index] for index in group), settled)


def _tabled(formulas: Sequence[Formula], count: int, rules: Sequence[Formula]) -> list[int]:
    """A minimal conflict from the table of all subsets: drops each item without which no subset satisfies the rest.

    Subsets that break the `rules` of steps are none.
    """
    subsets = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
    if rules:
        subsets = subsets[holds(all_of(*rules), subsets)]
    breaks = [~holds(formula, subsets) for formula in formulas]
    broken = np.sum(breaks, axis=0)
    if not broken.all():
        return []
    group = []
    for index, by_this in enumerate(breaks):
        if (broken - by_this).all():
            broken = broken - by_this
        else:
            group.append(index)
    return group


def _solved(
    formulas: Sequence[Formula], count: int, rules: Sequence[Formula], budget: Budget
) -> Generator[Moment, None, tuple[list[int], bool]]:
    """The same with a solver, which names some of the items that contradict each other; and whether that is settled."""
    group: list[int] = []
    literals: list[int] = []
    core: set[int] = set()
    if not is_readable([*formulas, *rules]):
        return group, False
    solver = Solver(count, budget)
    try:
        literals = yield from solver.read([*formulas, *rules])
        for literal in literals[len(formulas) :]:
            solver.add([literal])
        literals = literals[: len(formulas)]
        if (yield from solver.satisfiable(*literals)):
            return group, True
        group, core = list(range(len(formulas))), solver.core()
        for index, literal in enumerate(literals):
            rest = [other for other in group if other != index]
            # Without an item that was not named, the others contradict each other all the same.
            if literal in core:
                if (yield from solver.satisfiable(*(literals[other] for other in rest))):
                    continue
                core = solver.core()
            group = rest
    except Stopped:
        return [index for index in group if literals[index] in core], False
    finally:
        solver.forget()
        budget.memory.give_back()
    return group, True
