"""The map that proposes seeds: only what keeps to the rules, and is larger than all that is settled."""

import time
from dataclasses import replace

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag
from app.core.facts import Engine, Guarantee
from app.core.search.seed_map import SeedMap
from app.core.turns import run_through
from tests.support.brute_force import Written
from tests.support.networks import Network, at_least
from tests.support.searching import Run, pose_case


@pytest.mark.parametrize(("settled", "most", "proposed"), [(3, 4, 15), (0, 2, 21), (2, 6, 42), (5, 6, 1)])
def test_no_seed_has_a_size_that_is_settled(settled: int, most: int, proposed: int):
    """Of 6 moves, each seed is ruled out by its size alone, until none is left: no smaller one comes after them."""
    case, _ = at_least(1, of=6)
    seeds = SeedMap(pose_case(replace(case, max_changes=most)), budget())
    run_through(seeds.read_rules(larger_than=settled))
    found = []
    while (seed := run_through(seeds.propose())) is not None:
        found.append(seed)
        made = [move for move in range(6) if seed >> (5 - move) & 1]
        solver = seeds.solver
        solver.add([-solver.made(move) if move in made else solver.made(move) for move in range(6)])
    assert len(set(found)) == len(found) == proposed
    assert {seed.bit_count() for seed in found} == set(range(settled + 1, most + 1))


def budget() -> Budget:
    return Budget(Limits(10**6, 600.0), time.perf_counter, time.perf_counter(), StopFlag())


def test_the_solver_is_not_asked_again_about_sizes_that_the_lattice_has_settled():
    """Up to 2 of 12 may change, which is not enough, or the first four and any others: only those are left to it.

    None of its seeds fails, so it assumes nothing. One that the lattice has judged would fail. Nor are the small
    subsets of its answer judged again: there are 79 of up to 2 changes.
    """
    case, plain = at_least(4, of=12)
    network = Recording(**vars(plain))
    every = ", ".join(f"f{i}" for i in range(12))
    rule = Written(
        f"at_most(2, {every}) or (f0 and f1 and f2 and f3)", lambda made: len(made) <= 2 or {0, 1, 2, 3} <= made
    )
    run = Run(replace(case, formulas=[rule]), network, "auto", rows=150)
    assert run.answers == [frozenset({0, 1, 2, 3})]
    assert (run.finished.engine, run.finished.guarantee) == (Engine.AUTO, Guarantee.EXACT)
    assert run.finished.complete
    assert sum(size <= 2 for size in network.sizes) == 79


class Recording(Network):
    """Remembers how many changes each row had: every change is from 0 to 1."""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.sizes = [*getattr(self, "sizes", []), *rows.sum(axis=1).tolist()]
        return super().__call__(rows)
