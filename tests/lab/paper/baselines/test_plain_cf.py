"""PlainCF ends just past the border, by way of the feature that costs least."""

import numpy as np

from lab.paper.baselines.plain_cf import plain_cf
from lab.paper.questions.question import Spread
from tests.lab.paper.baselines.problems import either_or, linear, question


def test_it_moves_the_feature_that_does_most_for_its_cost():
    """Both cost the same, the first does three times as much: it goes just past 1, and the second stays exactly."""
    rows = plain_cf(question(linear([3.0, 1.0], -3.0), 2))
    assert (rows[:, 1] == 0).all()
    assert ((rows[:, 0] > 1) & (rows[:, 0] < 1.5)).all()


def test_a_deviation_makes_a_unit_cheap():
    """Now a unit of the first costs ten times as much, so that the second has to go past 3."""
    spread = Spread(np.full(2, -4.0), np.full(2, 4.0), np.array([0.1, 1.0]))
    rows = plain_cf(question(linear([3.0, 1.0], -3.0), 2, spread=spread))
    assert (rows[:, 0] == 0).all()
    assert ((rows[:, 1] > 3) & (rows[:, 1] < 4.5)).all()


def test_the_weight_is_raised_until_the_row_is_favourable():
    """A unit costs a hundred times what it does for the decision: a weight of one would leave the person alone."""
    spread = Spread(np.full(1, -4.0), np.full(1, 4.0), np.array([0.01]))
    network = linear([1.0], -1.0)
    rows = plain_cf(question(network, 1, spread=spread))
    assert network.favourable(rows).all()


def test_it_finds_more_than_one_way_from_its_random_points():
    rows = plain_cf(question(either_or(), 3, count=30))
    assert either_or().favourable(rows).all()
    first, second = rows[:, 0] > 0.5, rows[:, 1] > 1
    assert first.any()
    assert second.any()
