"""Constraints that no subset can satisfy, and a smallest group of them that already contradicts itself."""

from collections.abc import Callable, Sequence

import numpy as np
import z3

from app.core.constraints import Item
from app.core.formula import Formula, holds
from app.core.problem import Problem
from app.core.seed_map import term

# Up to so many moves all subsets are looked at; a solver's context alone would cost more than that.
MOST_TABLED = 12


def conflicting_items(problem: Problem) -> tuple[Item, ...]:
    """A minimal group of items that cannot be met together; none where all of them can."""
    formulas = [problem.formula(item, problem.candidates) for item in problem.items]
    count = len(problem.candidates)
    nothing = np.zeros((1, count), dtype=np.bool_)
    if all(holds(formula, nothing)[0] for formula in formulas):
        return ()
    group = _tabled(formulas, count) if count <= MOST_TABLED else _solved(formulas, count)
    return tuple(problem.items[index] for index in group)


def _tabled(formulas: Sequence[Formula], count: int) -> list[int]:
    subsets = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
    tables = np.array([holds(formula, subsets) for formula in formulas])

    def contradict(group: list[int]) -> bool:
        return not tables[group].all(axis=0).any()

    everything = list(range(len(formulas)))
    return _minimal(everything, contradict) if contradict(everything) else []


def _solved(formulas: Sequence[Formula], count: int) -> list[int]:
    context = z3.Context()
    solver = z3.SolverFor("QF_FD", ctx=context)
    made = [z3.Bool(f"m{index}", context) for index in range(count)]
    asked = [z3.Bool(f"item{index}", context) for index in range(len(formulas))]
    for literal, formula in zip(asked, formulas, strict=True):
        solver.add(z3.Implies(literal, term(formula, made, context)))

    def contradict(group: list[int]) -> bool:
        return bool(solver.check(*(asked[index] for index in group)) == z3.unsat)

    if not contradict(list(range(len(formulas)))):
        return []
    names = {str(literal) for literal in solver.unsat_core()}
    core = [index for index, literal in enumerate(asked) if str(literal) in names]
    return _minimal(core, contradict)


def _minimal(group: list[int], contradict: Callable[[list[int]], bool]) -> list[int]:
    """Leave out whatever can be left out; what remains contradicts itself, and nothing smaller in it does."""
    for index in list(group):
        rest = [other for other in group if other != index]
        if contradict(rest):
            group = rest
    return group
