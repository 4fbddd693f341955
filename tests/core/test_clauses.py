"""Formulas as clauses, against the formulas themselves on every subset."""

import numpy as np
import pytest
import z3
from pysat.solvers import Cadical195

from app.core.clauses import clauses
from app.core.formula import Changed, Constant, Count, Formula, Not, Odd, holds

MOVES = 6


def some_formula(rng: np.random.Generator, depth: int) -> Formula:
    if depth == 0:
        return Changed(int(rng.integers(0, MOVES)))
    parts = tuple(some_formula(rng, depth - 1) for _ in range(int(rng.integers(1, 5))))
    match int(rng.integers(0, 4)):
        case 0:
            return Not(parts[0])
        case 1:
            return Odd(parts)
        case 2:
            return Constant(bool(rng.integers(0, 2)))
    low = int(rng.integers(0, len(parts) + 1))
    return Count(low, int(rng.integers(low, len(parts) + 1)), parts)


@pytest.mark.parametrize("seed", range(40))
def test_the_clauses_have_exactly_the_solutions_of_the_formulas(seed: int):
    rng = np.random.default_rng(seed)
    formulas = [some_formula(rng, int(rng.integers(1, 4))) for _ in range(int(rng.integers(1, 4)))]
    every = (np.arange(2**MOVES)[:, None] >> np.arange(MOVES) & 1).astype(np.bool_)
    wanted = np.all([holds(formula, every) for formula in formulas], axis=0)
    solver = Cadical195(bootstrap_with=clauses(formulas, MOVES, z3.Context()))
    for subset, feasible in zip(every, wanted, strict=True):
        assumed = [move + 1 if made else -move - 1 for move, made in enumerate(subset)]
        assert solver.solve(assumptions=assumed) == feasible
