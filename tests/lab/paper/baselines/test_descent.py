"""Downhill ends where calculus says it does."""

import time

import numpy as np
import pytest

from lab.paper.baselines.descent import Pace, Pull, descend

PACE = Pace(steps=300, rate=0.1, tolerance=1e-9)


def bowl(bottom):
    return lambda rows: (((rows - bottom) ** 2).sum(axis=1), 2 * (rows - bottom))


def later() -> float:
    return time.thread_time() + 60


def test_it_ends_at_the_bottom_of_a_bowl():
    pull = Pull(np.zeros(2), np.zeros(2))
    ends = descend(bowl(np.array([2.0, -1.0])), pull, np.array([[0.0, 0.0], [5.0, 5.0]]), PACE, later())
    np.testing.assert_allclose(ends, [[2.0, -1.0], [2.0, -1.0]], atol=1e-2)


@pytest.mark.parametrize("start", [-3.0, 0.0, 0.2, 3.0])
def test_a_pull_holds_exactly_what_the_slope_cannot_move(start: float):
    """(c - b)^2 + w |c| is least at b - w/2 or b + w/2, and at nought where those lie beyond it."""
    bottom = np.array([3.0, 0.4, -0.4, -3.0])
    ends = descend(bowl(bottom), Pull(np.zeros(4), np.ones(4)), np.full((1, 4), start), PACE, later())
    np.testing.assert_allclose(ends, [[2.5, 0.0, 0.0, -2.5]], atol=1e-2)
    assert ends[0, 1:3].tolist() == [0.0, 0.0]


def test_it_stops_when_the_loss_does():
    asked = []

    def flat(rows):
        asked.append(rows)
        return np.zeros(len(rows)), np.zeros_like(rows)

    descend(flat, Pull(np.zeros(2), np.zeros(2)), np.ones((1, 2)), PACE, later())
    assert len(asked) < 10


def test_past_its_deadline_it_stays_where_it_is():
    starts = np.ones((2, 2))
    ends = descend(bowl(np.zeros(2)), Pull(np.zeros(2), np.ones(2)), starts, PACE, time.thread_time() - 1)
    np.testing.assert_array_equal(ends, starts)
