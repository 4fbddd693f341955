"""Small random networks whose arithmetic is exact, so that no rounding can hide or make a difference."""

from dataclasses import dataclass

import numpy as np

from tests.support.brute_force import Case, movable


@dataclass
class Network:
    """Two layers of whole numbers. As a model of two classes it says (-z, z): favourable where z is above nought."""

    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: float
    batch_rows: int = 16_384
    dtype: np.dtype = np.dtype(np.float64)
    # What it takes a missing value for.
    unseen: float = 1.0

    def columns(self, position: int) -> tuple[int, ...]:
        return (position,)

    def cells(self, position: int, value: float) -> tuple[float, ...]:
        return (self.unseen if np.isnan(value) else value,)

    def runs(self, rows: int) -> int:
        return 1

    def value(self, rows: np.ndarray) -> np.ndarray:
        return np.maximum(rows @ self.first + self.first_bias, 0) @ self.second + self.second_bias

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        value = self.value(rows)
        return np.stack([-value, value], axis=1)

    def favours(self, row: list[float]) -> bool:
        return bool(self.value(np.nan_to_num(np.array(row, dtype=float), nan=self.unseen)) > 0)


def random_case(seed: int, *, monotone: bool = False) -> tuple[Case, Network]:
    """A person whom a random network refuses, with ranges of every kind and 1 to 12 movable features."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(2, 15))
    values = [float(value) for value in rng.integers(-6, 7, width)]
    ranges = [_random_range(rng, value) for value in values]
    guides = {i: float(rng.integers(-3, 4)) for i in range(width) if ranges[i] is None and rng.random() < 0.7}
    move_to = {i: policy for i in range(width) if (policy := _random_policy(rng, ranges[i])) is not None}
    whole = frozenset(i for i in range(width) if rng.random() < 0.2)
    case = _restricted(rng, Case(values, ranges, lambda row: False, guides, move_to, whole))
    count = len(movable(case))
    if not 1 <= count <= 12:
        return random_case(seed + 1_000_000, monotone=monotone)
    network = _random_network(rng, case, monotone)
    network.batch_rows = int(rng.choice([1, 5, 64, 16_384]))
    return Case(**{**vars(case), "favourable": network.favours}), network


def _random_range(rng: np.random.Generator, value: float) -> tuple[float | None, float | None] | None:
    """Two-sided, one-sided, a point, none at all; mostly such that the value lies outside."""
    low = float(rng.integers(-4, 3))
    high = low + float(rng.integers(1, 4))
    if rng.random() < 0.85:
        low, high = (value + 1, value + 3) if rng.random() < 0.5 else (value - 3, value - 1)
    one_sided = (low, None) if low > value else (None, high)
    kinds = [(low, high), one_sided, (None, high) if rng.random() < 0.3 else (low, high), (low, low), None]
    return kinds[int(rng.integers(0, len(kinds)))]


def _random_policy(
    rng: np.random.Generator, normal: tuple[float | None, float | None] | None
) -> tuple[str, float] | None:
    """Mostly none, which is the nearest end; else one that fits the range."""
    kind = int(rng.integers(0, 8))
    if normal is None or kind > 2:
        return None
    low, high = normal
    if low is None or high is None:
        return ("margin", 1.0) if kind == 0 else None
    return [("margin", (high - low) / 2), ("midpoint", 0.0), ("value", low)][kind]


def _restricted(rng: np.random.Generator, case: Case) -> Case:
    width = len(case.values)
    some = [i for i in range(width) if rng.random() < 0.15]
    kind = int(rng.integers(0, 5))
    return Case(
        **{
            **vars(case),
            "immutable": tuple(some) if kind == 0 else (),
            "directions": {i: str(rng.choice(["increase", "decrease"])) for i in some} if kind == 1 else {},
            "max_step": {i: float(rng.integers(0, 4)) for i in some} if kind == 2 else {},
            "max_changes": int(rng.integers(0, width + 1)) if kind == 3 else None,
        }
    )


def _random_network(rng: np.random.Generator, case: Case, monotone: bool) -> Network:
    """Refuses the person, but only just; a monotone one likes every move that the person can make."""
    width, hidden = len(case.values), 6
    first = rng.integers(-3, 4, (width, hidden)).astype(float)
    second = rng.integers(-3, 4, hidden).astype(float)
    if monotone:
        targets = movable(case)
        likes = [np.sign(targets.get(i, value) - value) for i, value in enumerate(case.values)]
        first = np.abs(first) * np.array(likes)[:, None]
        second = np.abs(second)
    network = Network(first, rng.integers(-6, 7, hidden).astype(float), second, 0.0)
    network.second_bias = -float(network.value(np.array(case.values))) - float(rng.integers(0, 12))
    return network


def at_least(count: int, of: int) -> tuple[Case, Network]:
    """A person for whom any so many of the changes suffice, and no fewer."""
    network = Network(np.ones((of, 1)), np.zeros(1), np.ones(1), 0.5 - count)
    return Case([0.0] * of, [(1.0, None)] * of, network.favours), network
