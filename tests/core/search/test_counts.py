"""Counts of counts, with names that come more than once: every engine against brute force."""

from dataclasses import replace

import numpy as np
import pytest

from app.core.facts import Engine, Guarantee
from app.core.search import solver
from tests.support.brute_force import Case, feasible_sets, minimal_sets
from tests.support.constrained import random_count
from tests.support.networks import Network, at_least
from tests.support.scale import scaled
from tests.support.searching import Run
from tests.support.seeds import Seeds


def counting_case(seed: int, *, monotone: bool) -> tuple[Case, Network]:
    """A person with 3 to 8 changes, all possible, and one to three counts that can be met together."""
    rng = np.random.default_rng(seed)
    while True:
        width, hidden = int(rng.integers(3, 9)), 3
        first = rng.integers(-2, 4, (width, hidden)).astype(float)
        second = rng.integers(-2, 4, hidden).astype(float)
        network = Network(
            np.abs(first) if monotone else first, np.zeros(hidden), np.abs(second) if monotone else second, 0
        )
        network.second_bias = -float(rng.integers(0, 12))
        formulas = [random_count(rng, width) for _ in range(int(rng.integers(1, 4)))]
        case = Case([0.0] * width, [(1.0, None)] * width, network.favours, formulas=formulas)
        if feasible_sets(case):
            return case, network


def test_all_engines_agree_with_brute_force_where_the_model_is_monotone():
    for seed in Seeds(scaled(100)):
        case, network = counting_case(seed, monotone=True)
        truth = minimal_sets(case)
        assert set(Run(case, network, "lattice").answers) == truth
        assert set(Run(case, network, "cemsp").answers) == truth
        check_what_is_promised(Run(case, network, "auto", rows=60), truth)


def test_every_engine_keeps_its_promise_whatever_the_model():
    for seed in Seeds(scaled(100), first=1_000_000):
        case, network = counting_case(seed, monotone=False)
        truth = minimal_sets(case)
        assert set(Run(case, network, "lattice").answers) == truth
        check_what_is_promised(Run(case, network, "cemsp"), truth)
        check_what_is_promised(Run(case, network, "auto", rows=60), truth)


def check_what_is_promised(run: Run, truth: set[frozenset[int]]) -> None:
    answers, finished = set(run.answers), run.finished
    assert answers <= truth
    assert {answer for answer in truth if len(answer) <= finished.complete_up_to} <= answers
    if finished.stopped_by is None and finished.guarantee is Guarantee.EXACT:
        assert answers == truth


@pytest.mark.parametrize("engine", ["cemsp", "auto"])
def test_counts_that_no_solver_can_hold_are_left_to_the_lattice(monkeypatch: pytest.MonkeyPatch, engine: str):
    """It takes as many rows as it may, and says so; what it sends is right."""
    monkeypatch.setattr(solver, "MOST_CLAUSES", 100)
    case, network = at_least(3, of=10)
    case = replace(case, max_changes=7)
    run = Run(case, network, engine)
    assert set(run.answers) == minimal_sets(case)
    assert (run.finished.engine, run.finished.complete, run.search.solver.checks) == (Engine.LATTICE, True, 0)
    short = Run(case, network, engine, rows=60)
    assert (short.finished.engine, short.finished.stopped_by) == (Engine.LATTICE, "max_model_rows")
    assert short.finished.guarantee is Guarantee.EXACT
