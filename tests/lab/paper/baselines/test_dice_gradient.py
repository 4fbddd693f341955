"""DiCE's rows are favourable and keep apart."""

import numpy as np
import pytest

from lab.paper.baselines.dice_gradient import JITTER, dice_gradient, spread_out
from tests.lab.paper.baselines.problems import linear, question, small_differences

UNITS = np.array([0.5, 1.0, 2.0])


def mean_distance(rows) -> float:
    return float(np.abs(rows[:, np.newaxis] - rows).sum(axis=2).mean())


def test_two_rows_have_the_determinant_that_pen_and_paper_give():
    """At a distance of 3 the kernel is 1 and 1/4: 1 - 1/16, but for what steadies it."""
    determinant, _ = spread_out(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 1.0]]), UNITS)
    assert determinant == pytest.approx((1 + JITTER) ** 2 - 1 / 16)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_its_slopes_are_those_of_small_differences(count: int):
    rows = np.random.default_rng(count).normal(size=(count, 3))
    _, slopes = spread_out(rows, UNITS)
    np.testing.assert_allclose(slopes, small_differences(lambda near: spread_out(near, UNITS)[0], rows), atol=1e-8)


def test_rows_that_meet_do_not_break_it():
    determinant, slopes = spread_out(np.ones((3, 3)), UNITS)
    assert 0 < determinant < 0.001
    assert np.isfinite(slopes).all()


def test_the_rows_keep_apart_only_because_of_the_diversity():
    asked = question(linear([1.0, 0.5, 0.2], -2.0), 3, count=4)
    apart, alone = dice_gradient(asked), dice_gradient(asked, diversity=0.0)
    assert asked.network.favourable(apart).all()
    assert asked.network.favourable(alone).all()
    assert mean_distance(apart) > 2 * mean_distance(alone)


def test_without_diversity_it_moves_the_feature_that_does_most_for_its_cost():
    """To the margin of the hinge, a logit of one."""
    rows = dice_gradient(question(linear([1.0, 0.5, 0.2], -2.0), 3), diversity=0.0)
    assert ((rows[:, 0] > 2.5) & (rows[:, 0] < 3.1)).any()
    assert asked_logits(rows) == pytest.approx([1.0] * len(rows), abs=0.05)


def asked_logits(rows) -> list[float]:
    return (rows @ [1.0, 0.5, 0.2] - 2.0).tolist()
