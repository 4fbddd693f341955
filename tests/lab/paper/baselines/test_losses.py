"""The slopes of the losses are slopes, and a favourable row costs nothing more."""

import numpy as np
import pytest

from lab.paper.baselines.losses import hinge_loss, log_loss, unit_costs
from lab.paper.questions.question import Spread
from tests.lab.paper.baselines.problems import either_or, linear, small_differences


@pytest.mark.parametrize("loss", [log_loss, lambda network, rows: hinge_loss(network, rows, 1.0)])
def test_the_slopes_are_those_of_small_differences(loss):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    _, slopes = loss(either_or(), rows)
    np.testing.assert_allclose(slopes, small_differences(lambda near: loss(either_or(), near)[0], rows), atol=1e-6)


def test_the_hinge_is_what_the_logit_lacks():
    losses, slopes = hinge_loss(linear([2.0], -3.0), np.array([[0.0], [1.0], [3.0]]), margin=0.5)
    np.testing.assert_allclose(losses, [3.5, 1.5, 0.0])
    np.testing.assert_allclose(slopes, [[-2.0], [-2.0], [0.0]])


def test_a_refusal_beyond_doubt_still_has_a_slope():
    far = np.array([[-300.0]])
    np.testing.assert_allclose(log_loss(linear([2.0], 0.0), far)[1], [[-2.0]])
    np.testing.assert_allclose(hinge_loss(linear([2.0], 0.0), far, 1.0)[1], [[-2.0]])


def test_neither_loss_breaks_where_a_score_is_rounded():
    rows = np.array([[-1e5], [1e5]])
    assert np.isfinite(log_loss(linear([1.0], 0.0), rows)[0]).all()
    assert np.isfinite(hinge_loss(linear([1.0], 0.0), rows, 1.0)[1]).all()


def test_a_unit_costs_one_deviation():
    assert unit_costs(Spread(np.zeros(3), np.ones(3), np.array([0.5, 4.0, 0.0]))).tolist() == [2.0, 0.25, 1.0]
