"""Stable Neighbor Search climbs from PlainCF's answers, and never far."""

import numpy as np
import pytest

from lab.paper.baselines.plain_cf import plain_cf
from lab.paper.baselines.sns import RADIUS, sns, stability
from lab.paper.questions.network import Layer, Network
from tests.lab.paper.baselines.problems import either_or, linear, question, refused, small_differences
from tests.lab.paper.test_network import random_network


def test_the_stability_is_the_integral():
    """That of the logistic function from 0 to 2 is log((1 + e^2) / 2), here over a way of 2."""
    heights, _ = stability(linear([2.0, 0.0], 0.0), np.array([[1.0, 7.0]]))
    assert heights[0] == pytest.approx(np.log((1 + np.exp(2)) / 2) / 2, abs=1e-3)


def test_its_slopes_are_those_of_small_differences():
    network = random_network(1, 3, 6, 1)
    rows = np.random.default_rng(2).normal(size=(5, 3))
    _, slopes = stability(network, rows)
    np.testing.assert_allclose(slopes, small_differences(lambda near: stability(network, near)[0], rows), atol=1e-7)


def test_on_a_plane_it_goes_straight_up_to_the_end_of_its_ball():
    asked = question(linear([3.0, 4.0], -3.0), 2)
    np.testing.assert_allclose(sns(asked), plain_cf(asked) + RADIUS * np.array([0.6, 0.8]), atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5])
def test_its_rows_are_near_favourable_and_more_stable(seed: int):
    network = random_network(seed, 3, 8, 8, 1)
    asked = question(network, 3, instance=refused(network), count=6)
    before, after = plain_cf(asked), sns(asked)
    assert (np.linalg.norm(after - before, axis=1) <= RADIUS + 1e-9).all()
    assert (network.favourable(after) >= network.favourable(before)).all()
    assert (stability(network, after)[0] >= stability(network, before)[0]).all()


def test_it_does_not_climb_out_of_what_is_favourable():
    """Only between 2.5 and 3.5: the mean score on the way still rises a little past that."""
    tent = Network(
        [
            Layer(np.array([[1.0, -1.0]]), np.array([-3.0, 3.0])),
            Layer(np.array([[-8.0], [-8.0]]), np.array([4.0])),
        ]
    )
    assert stability(tent, np.array([[3.55]]))[0] > stability(tent, np.array([[3.45]]))[0]
    rows = sns(question(tent, 1, count=6))
    assert ((rows > 3.3) & (rows < 3.5)).all()


def test_the_score_rises():
    asked = question(either_or(), 3)
    assert (either_or().scores(sns(asked)) > either_or().scores(plain_cf(asked))).all()
