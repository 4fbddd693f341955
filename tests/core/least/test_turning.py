"""Where a decision turns: favourable there, and not one number short of it."""

import numpy as np
import pytest

from app.core.favourable import Bools
from app.core.least.numbers import Numbers
from app.core.least.turning import Turn, Way, turns_of
from tests.support.scale import scaled
from tests.support.seeds import Seeds

FLOAT32 = Numbers(np.dtype(np.float32))


def turn_of(way: Way, favours: list[tuple[float, float]]) -> Turn:
    """Favourable inside any of these intervals, ends included."""

    def judge(values: list[np.ndarray], asked: list[int]) -> list[Bools]:
        assert asked == [0]
        return [np.array([any(low <= value <= high for low, high in favours) for value in values[0].tolist()])]

    (turn,) = turns_of([way], judge)
    return turn


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_places_are_in_the_order_of_numbers(dtype: type):
    numbers = Numbers(np.dtype(dtype))
    values = np.array([-1e30, -2.5, -1e-40, -0.0, 0.0, 1e-40, 0.3, 7.0], dtype=dtype)
    places = [numbers.place(value) for value in values.tolist()]
    assert places == sorted(places)
    assert numbers.at(places).tolist() == values.tolist()
    assert numbers.place(float(np.nextafter(dtype(0.3), dtype(1)))) == numbers.place(0.3) + 1
    assert numbers.place(-1e-45 if dtype is np.float32 else -5e-324) == -1


def test_on_a_monotone_way_it_is_the_least_that_would_do():
    for seed in Seeds(scaled(200)):
        rng = np.random.default_rng(seed)
        before, after = (float(value) for value in rng.normal(0, 10 ** rng.uniform(-2, 3), 2))
        edge = before + (after - before) * float(rng.random())
        favours = [(edge, np.inf)] if after > before else [(-np.inf, edge)]
        turn = turn_of(Way(FLOAT32, before, after), favours)
        if turn.enough in (before, after):
            continue
        assert turn.turns == 1
        there = np.float32(turn.enough)
        short = float(np.nextafter(there, np.float32(before)))
        assert any(low <= float(there) <= high for low, high in favours), seed
        assert not any(low <= short <= high for low, high in favours), seed
        assert np.float32(float(str(there))) == there


def test_whole_numbers_turn_at_a_whole_number():
    for seed in Seeds(scaled(200), first=1_000):
        rng = np.random.default_rng(seed)
        before, after = (float(value) for value in rng.integers(-40, 41, 2))
        if before == after:
            continue
        step = 1 if after > before else -1
        good = {float(value) for value in range(int(before) + step, int(after), step) if rng.random() < 0.3} | {after}
        turn = turn_of(
            Way(Numbers(np.dtype(np.float32), whole=True), before, after), [(value, value) for value in good]
        )
        assert turn.enough in good, seed
        assert turn.enough - step not in good, seed


def test_turns_that_are_seen_while_the_nearest_is_approached_count():
    """Every tenth number is asked about at first, then those between the last unfavourable one and the next."""
    way = Way(Numbers(np.dtype(np.float32), whole=True), 0.0, 330.0)
    assert turn_of(way, [(12.0, 12.0), (20.0, 330.0)]) == Turn(12.0, 3)


def test_the_splits_of_a_tree_leave_no_turn_unseen():
    """Favourable between two splits that lie close together, and beyond a third."""
    splits = [0.5, 0.5001, 0.9]
    favours = [(float(np.nextafter(np.float32(0.5), np.float32(1))), float(np.float32(0.5001))), (0.95, 2.0)]
    turn = turn_of(Way(FLOAT32, 0.0, 1.0, splits), favours)
    assert turn == Turn(float(str(np.nextafter(np.float32(0.5), np.float32(1)))), 3)


def test_what_is_favourable_without_the_change_needs_none_of_it():
    assert turn_of(Way(FLOAT32, 0.42, 0.36), [(0.0, 1.0)]) == Turn(0.42, 0)
