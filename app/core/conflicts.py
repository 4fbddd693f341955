"""Constraints that no subset can satisfy, and a minimal group of them that already contradicts itself."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import z3

from app.core.clauses import term, variables
from app.core.constraints import Item
from app.core.formula import Formula, holds
from app.core.problem import Problem

# Up to so many moves all subsets are looked at; a solver's context alone would cost more than that.
MOST_TABLED = 12


def conflicting_items(problem: Problem, seconds_left: Callable[[], float]) -> tuple[Item, ...]:
    """A minimal group of items that cannot be met together; none where all of them can, or where time does not tell.

    Where the time ends while the group is thinned out, it may hold more than it must.
    """
    if not problem.items:
        return ()
    formulas = [problem.formula(item, problem.candidates) for item in problem.items]
    count = len(problem.candidates)
    nothing = np.zeros((1, count), dtype=np.bool_)
    if all(holds(formula, nothing)[0] for formula in formulas):
        return ()
    group = _tabled(formulas, count) if count <= MOST_TABLED else _solved(formulas, count, seconds_left)
    return tuple(problem.items[index] for index in group)


def _tabled(formulas: Sequence[Formula], count: int) -> list[int]:
    """Count for each subset the items that it breaks, and leave out whatever leaves none without."""
    subsets = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
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


def _solved(formulas: Sequence[Formula], count: int, seconds_left: Callable[[], float]) -> list[int]:
    context = z3.Context()
    solver = z3.SolverFor("QF_FD", ctx=context)
    made = variables(count, context)
    asked = [z3.Bool(f"item{index}", context) for index in range(len(formulas))]
    for literal, formula in zip(asked, formulas, strict=True):
        solver.add(z3.Implies(literal, term(formula, made, context)))

    def contradict(group: list[int]) -> bool:
        solver.set("timeout", max(1, math.ceil(seconds_left() * 1000)))
        return seconds_left() > 0 and bool(solver.check(*(asked[index] for index in group)) == z3.unsat)

    if not contradict(list(range(len(formulas)))):
        return []
    names = {str(literal) for literal in solver.unsat_core()}
    group = [index for index, literal in enumerate(asked) if str(literal) in names]
    for index in list(group):
        rest = [other for other in group if other != index]
        if contradict(rest):
            group = rest
    return group
