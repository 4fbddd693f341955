"""The steps of a link bound what they say they bound: on every point of a box, and narrowly on a single one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.core.through.links import Exp, Link, Shares, Sigmoid, Softmax
from app.core.through.steps import Added, Clipped, Inverse, Joined, Multiplied, Picked, Scaled, Size
from tests.support.scale import scaled
from tests.support.seeds import Seeds

ALL = np.array([[0, 1, 2]] * 3)
FACTOR, OFFSET = np.array([2.0, -3.0, 0.5]), np.array([1.0, 0.0, -1.0])
PLACES = np.array([2, 0, 0])


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


# What a step stands for, by its definition. The second value of those that take two is the square of the first.
STEPS: dict[str, tuple[Any, Callable[[np.ndarray], np.ndarray]]] = {
    "picked": (Picked((0,), PLACES), lambda x: x[:, PLACES]),
    "joined": (Joined((0, 1), np.array([0, 4, 2])), lambda x: np.stack([x[:, 0], x[:, 1] ** 2, x[:, 2]], axis=1)),
    "scaled": (Scaled((0,), FACTOR, OFFSET, "float32"), lambda x: x * FACTOR + OFFSET),
    "added": (Added((0, 1), "float32"), lambda x: x + x**2),
    "multiplied": (Multiplied((0, 1), "float32"), lambda x: x * x**2),
    "inverse": (Inverse((0,), OFFSET, "float32"), lambda x: OFFSET / x),
    "size": (Size((0,)), np.abs),
    "shares": (Shares((0,), ALL, "float32"), lambda x: x / np.abs(x).sum(axis=1, keepdims=True)),
    "sigmoid": (Sigmoid((0,), "float32"), lambda x: 1 / (1 + np.exp(-x))),
    "softmax": (Softmax((0,), ALL, "float32"), softmax),
    "exp": (Exp((0,), "float32"), np.exp),
    "clipped": (Clipped((0,), -0.5, 1.5), lambda x: np.clip(x, -0.5, 1.5)),
}


def square(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ends = np.stack([low**2, high**2])
    return np.where((low < 0) & (high > 0), 0.0, ends.min(axis=0)), ends.max(axis=0)


def bounds(step: Any, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return Link((step,)).bounds([(low, high), square(low, high)])


@pytest.mark.parametrize("name", STEPS)
def test_every_point_of_a_box_lies_within_the_bounds(name: str):
    step, means = STEPS[name]
    for seed in Seeds(scaled(40), first=60_000):
        rng = np.random.default_rng(seed)
        low, high = np.sort(rng.normal(size=(2, 1, 3)) * rng.choice([0.1, 1.0, 10.0]) + rng.choice([0.0, 3.0]), axis=0)
        inside = low + (high - low) * rng.random((50, 3))
        corners = np.where(rng.random((50, 3)) < 0.5, low, high)
        least, most = bounds(step, low, high)
        for points in (inside, corners):
            assert (least <= means(points)).all()
            assert (means(points) <= most).all()


@pytest.mark.parametrize("name", STEPS)
def test_bounds_on_a_single_point_are_narrow(name: str):
    step, means = STEPS[name]
    points = np.random.default_rng(1).uniform(0.2, 3.0, (100, 3))
    least, most = bounds(step, points, points)
    assert (most - least <= 4e-6 * (1 + np.abs(means(points)))).all()


@pytest.mark.parametrize("name", STEPS)
def test_what_is_said_to_rise_rises(name: str):
    """Along a line on which each element rises, falls or stands still."""
    step, means = STEPS[name]
    for signs in ([1.0, -1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]):
        steps = np.linspace(0.1, 0.9, 9)[:, None]
        points = 1.0 + steps * np.array(signs)
        said = Link((step,)).signs([np.array(signs), np.array(signs)])
        found = np.diff(means(points), axis=0)
        for element, sign in enumerate(said):
            if not np.isnan(sign):
                assert (found[:, element] * sign >= -1e-12).all()
                assert sign != 0 or np.abs(found[:, element]).max() < 1e-12


def test_shares_of_a_total_that_may_be_nought_are_not_known():
    """Without a sum of absolute values below, they may be of any size: 1 and -0.999 are 1000 and -999 of their sum."""
    low, high = Shares((0,), np.array([[0, 1]] * 2), "float32").bounds([(np.array([[1.0, -0.999]]),) * 2])
    assert (low < -999).all()
    assert (high > 1000).all()


def test_steps_follow_each_other():
    link = Link((Scaled((0,), FACTOR, OFFSET, "float32"), Sigmoid((1,), "float32"), Picked((2,), np.array([1]))))
    x = np.array([[0.5, 0.25, -1.0]])
    low, high = link.bounds([(x, x)])
    expected = 1 / (1 + np.exp(0.75))
    assert low[0, 0] <= expected <= high[0, 0]
    assert high[0, 0] - low[0, 0] < 2e-6


def test_without_a_step_the_sum_is_the_output():
    low, high = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    assert Link(()).bounds([(low, high)]) == (low, high)
