"""Bounds decide only what holds for every output within them, compared as the model's own type compares."""

import numpy as np
import pytest

from app.core.favourable import FavourableClasses, FavourableInterval
from app.core.through.decision import decided, merits
from tests.support.scale import scaled
from tests.support.seeds import Seeds

FLOAT32 = np.dtype(np.float32)
DECISIONS = [
    FavourableInterval(0.25, None),
    FavourableInterval(None, 0.5),
    FavourableInterval(-0.25, 0.5),
    FavourableClasses((1,), (0, 2)),
    FavourableClasses((0,), (1, 2)),
    FavourableClasses((2,), (0, 1)),
    FavourableClasses((0, 2), (1,)),
    FavourableClasses((1, 2), (0,), 0.5),
    FavourableClasses((0,), (1, 2), 0.1),
]
# Outputs of few values: ties are common.
GRID = np.float32([-0.5, -0.25, 0.0, 0.1, 0.25, 0.4, 0.5])


@pytest.mark.parametrize("favourable", DECISIONS)
def test_what_is_decided_holds_for_everything_within_the_bounds(favourable):
    decided_ones = 0
    for seed in Seeds(scaled(20), first=171_000):
        rng = np.random.default_rng(seed)
        ends = np.sort(rng.integers(0, len(GRID), (50, 3, 2)), axis=2)
        low, high = GRID[ends[..., 0]].astype(float), GRID[ends[..., 1]].astype(float)
        said = decided(favourable, low, high, FLOAT32)
        merit = merits(favourable, low, high, FLOAT32)
        for row in range(50):
            picked = GRID[rng.integers(ends[row, :, 0], ends[row, :, 1] + 1, (30, 3))]
            score = favourable.score(picked)
            holds = favourable.holds(picked, score)
            assert holds.all() or not said.yes[row]
            assert not holds.any() or not said.no[row]
            assert (favourable.merit(score) >= merit[0][row]).all()
            assert (favourable.merit(score) <= merit[1][row]).all()
        decided_ones += said.yes.any() + said.no.any()
    assert decided_ones


@pytest.mark.parametrize("favourable", DECISIONS)
@pytest.mark.parametrize("end", [np.nan, np.inf, -np.inf, 1e300])
def test_what_is_not_a_number_decides_nothing(favourable, end: float):
    low, high = np.array([[-9.0, -9.0, -9.0]]), np.array([[end, end, end]])
    assert not decided(favourable, low, high, FLOAT32).yes.any()
    assert not decided(favourable, low, high, FLOAT32).no.any()


def test_a_threshold_is_compared_in_the_type_of_the_outputs():
    """0.7 as float32 is less than 0.7."""
    near = np.array([[float(np.float32(0.7)), 0.0]])
    favourable = FavourableClasses((0,), (1,), 0.7)
    assert decided(favourable, near, near, FLOAT32).yes[0]
    assert not decided(favourable, near, near, np.dtype(np.float64)).yes[0]
