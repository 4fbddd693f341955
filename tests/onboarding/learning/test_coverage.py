"""Confidence intervals hold what they promise: the true limit lies in them as often as they say."""

from collections.abc import Callable
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from app.onboarding.learning.intervals import Method, Sides, reference_interval
from app.onboarding.learning.order_statistics import percentile, ranks
from tests.support.scale import scaled
from tests.support.seeds import Seeds

NORMAL = NormalDist()
# A clean sample of any shape: what is drawn, and its true quantiles.
SHAPES = {
    "normal": (lambda rng, count: rng.normal(10, 2, count), lambda share: 10 + 2 * NORMAL.inv_cdf(share)),
    "lognormal": (
        lambda rng, count: rng.lognormal(1, 0.4, count),
        lambda share: float(np.exp(1 + 0.4 * NORMAL.inv_cdf(share))),
    ),
    "uniform": (lambda rng, count: rng.uniform(3, 5, count), lambda share: 3 + 2 * share),
}
Draw = Callable[[np.random.Generator, int], np.ndarray]


def promised(count: int, share: float) -> float:
    """From the definition: how often the order statistics of these ranks enclose the quantile."""
    low, high = ranks(count, share)
    return sum(comb(count, below) * share**below * (1 - share) ** (count - below) for below in range(low, high))


def tolerance(chance: float, draws: int) -> float:
    return 4 * sqrt(chance * (1 - chance) / draws)


@pytest.mark.parametrize("count", [120, 133, 240, 1000])
def test_no_interval_promises_less_than_nine_in_ten(count: int):
    assert all(promised(count, share) >= 0.9 for share in (0.025, 0.975, 0.05, 0.95))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [120, 400])
def test_the_true_percentile_lies_in_the_interval_as_often_as_promised(shape: str, count: int):
    draw, truth = SHAPES[shape]
    draws = scaled(1000)
    inside = 0
    for seed in Seeds(draws, first=210_000):
        limit = percentile(np.sort(draw(np.random.default_rng(seed), count)), 0.025)
        inside += limit.low <= truth(0.025) <= limit.high
    chance = promised(count, 0.025)
    assert abs(inside / draws - chance) < tolerance(chance, draws)


@pytest.mark.parametrize("shape", ["normal", "lognormal"])
def test_the_whole_of_it_holds_with_outliers_taken_out(shape: str):
    """Fences hardly ever drop anybody of a clean sample, so that nothing is lost of what is promised."""
    draw, truth = SHAPES[shape]
    draws = scaled(200)
    inside = 0
    for seed in Seeds(draws, first=220_000):
        interval = reference_interval(draw(np.random.default_rng(seed), 300), Sides.TWO)
        inside += interval.high.low <= truth(0.975) <= interval.high.high
    chance = promised(300, 0.975)
    assert inside / draws > chance - tolerance(chance, draws)


def test_the_bootstrap_of_the_robust_method_comes_close():
    """A percentile bootstrap of few people is a little too narrow; it is said to be 90 %, and is 80 % or more."""
    draws = scaled(30)
    inside = 0
    for seed in Seeds(draws, first=230_000):
        interval = reference_interval(np.random.default_rng(seed).normal(10, 2, 80), Sides.TWO)
        assert interval.method in (Method.ROBUST, Method.ROBUST_BOX_COX)
        inside += interval.low.low <= 10 + 2 * NORMAL.inv_cdf(0.025) <= interval.low.high
    assert inside / draws > 0.8 - tolerance(0.8, draws)
