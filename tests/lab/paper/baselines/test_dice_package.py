"""The package answers questions like any other method, and leaves no trace."""

import random

import numpy as np
import pytest

from lab.paper.baselines.dice_package import dice_package
from tests.lab.paper.baselines.problems import either_or, linear, never, question

pytest.importorskip("dice_ml")


@pytest.mark.parametrize("count", [1, 2, 6])
def test_it_gives_favourable_rows_within_the_data(count: int):
    rows = dice_package(question(either_or(), 3, count=count))
    assert rows.shape == (count, 3)
    assert either_or().favourable(rows).all()
    assert (np.abs(rows) <= 4.0 + 1e-6).all()


def test_what_it_does_not_move_stays_exactly():
    """It moves one feature, then two: of five some stay."""
    instance = np.array([0.1, 1 / 3, -np.pi, 2.0**0.5, 0.7])
    rows = dice_package(question(linear([1.0, 0.0, 0.0, 0.0, 0.0], -1.0), 5, instance=instance, count=6))
    assert ((rows == instance).sum(axis=1) >= 3).all()
    assert (rows[:, 0] > 1).all()


def test_its_features_are_drawn_apart():
    """With the package's own seed every feature would get the same value."""
    rows = dice_package(question(linear([1.0, 1.0], -4.5), 2, count=6))
    moved = rows[(rows != 0).all(axis=1)]
    assert len(moved)
    assert (np.abs(moved[:, 0] - moved[:, 1]) > 1e-3).all()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not():
    answers = [dice_package(question(either_or(), 3, seed=seed)).tobytes() for seed in (1, 1, 2)]
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


def test_it_leaves_the_generators_as_they_were():
    before, numpy_before = random.getstate(), np.random.get_state()[1].tolist()
    dice_package(question(either_or(), 3))
    assert random.getstate() == before
    assert np.random.get_state()[1].tolist() == numpy_before


def test_without_time_it_gives_no_rows():
    assert dice_package(question(either_or(), 3, seconds=0.0)).shape == (0, 3)


def test_where_it_finds_nothing_it_gives_no_rows_and_says_nothing(capfd):
    assert dice_package(question(never(), 3)).shape == (0, 3)
    assert capfd.readouterr() == ("", "")
