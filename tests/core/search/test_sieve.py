"""Many subsets against formulas: the same as all at once, with a pause every so often."""

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag, Stopped, StoppedBy
from app.core.formula import Changed, Count, all_of, holds
from app.core.search import sieve
from app.core.search.sieve import AT_A_TIME, Sieve
from app.core.subsets.masks import of_truths
from app.core.turns import run_through
from tests.core.search.test_clauses import MOVES, every_subset, some_formula
from tests.support.scale import scaled
from tests.support.seeds import Seeds


def budget(stop: StopFlag | None = None) -> Budget:
    return Budget(Limits(0, 600.0), lambda: 0.0, 0.0, stop or StopFlag())


@pytest.mark.parametrize("at_a_time", [1, 500, AT_A_TIME])
def test_a_part_at_a_time_comes_to_the_same_as_all_at_once(monkeypatch: pytest.MonkeyPatch, at_a_time: int):
    monkeypatch.setattr(sieve, "AT_A_TIME", at_a_time)
    subsets = every_subset(MOVES)
    for seed in Seeds(scaled(20)):
        rng = np.random.default_rng(seed)
        formulas = [some_formula(rng, 3) for _ in range(3)]
        truth = [holds(formula, subsets).tolist() for formula in formulas]
        held = Sieve(formulas, MOVES, budget())
        assert run_through(held.of_truths(subsets)).tolist() == truth
        assert run_through(held.of_masks(of_truths(subsets))).tolist() == truth


def test_a_long_formula_is_held_against_few_subsets_between_two_looks_at_the_clock():
    """A count of 990 pairs and 65,536 subsets of 1,000 moves: 260 million truth values, which took seconds."""
    pairs = tuple(all_of(Changed(2 * pair % 1_000), Changed((2 * pair + 1) % 1_000)) for pair in range(990))
    subsets = of_truths(np.zeros((2**16, 1_000), dtype=np.bool_))
    stop = StopFlag()
    steps = Sieve([Count(495, 495, pairs)], 1_000, budget(stop)).of_masks(subsets)
    next(steps)
    stop.hoist()
    with pytest.raises(Stopped) as stopped:
        next(steps)
    assert stopped.value.by is StoppedBy.SHUTDOWN
