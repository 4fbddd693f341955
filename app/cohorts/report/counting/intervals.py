"""Shares of people with their 95 % intervals, and differences and ratios of two shares.

One share: the score interval of Wilson (1927). A difference: method 10 of Newcombe (1998), Statistics in Medicine 17,
873-890, which puts the score intervals of both shares together. A ratio: the score interval of Koopman (1984),
Biometrics 40, 513-517. None leaves the possible, and all hold for few people and for shares near 0 and 1, where the
textbook's intervals do not.
"""

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

# The 97.5th percentile of the normal distribution.
Z = 1.959963984540054
# Halvings of an interval, after which floats hold no more.
HALVINGS = 60
# A ratio that nothing rules out where the one has nobody.
SMALLEST = 1e-9


class Part(NamedTuple):
    """So many out of so many."""

    some: int
    of: int

    @property
    def share(self) -> float:
        return self.some / self.of


class Interval(NamedTuple):
    """An estimate, and where it may lie."""

    value: float
    low: float
    high: float

    @property
    def excludes_nought(self) -> bool:
        return self.low > 0 or self.high < 0


def wilson(part: Part) -> Interval:
    """The share with its interval. Nobody has no share: asking for it is a mistake."""
    share, people = part.share, part.of
    scale = 1 + Z**2 / people
    centre = (share + Z**2 / (2 * people)) / scale
    reach = Z * sqrt(share * (1 - share) / people + Z**2 / (4 * people**2)) / scale
    # At the ends the formula gives 0 and 1 but for the last bits.
    low = 0.0 if part.some == 0 else centre - reach
    high = 1.0 if part.some == people else centre + reach
    return Interval(share, low, high)


def newcombe(one: Part, other: Part) -> Interval:
    """How much larger the share of the one is than that of the other."""
    first, second = wilson(one), wilson(other)
    difference = first.value - second.value
    down = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    up = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return Interval(difference, difference - down, difference + up)


def koopman(one: Part, other: Part) -> Interval:
    """How many times the share of the other that of the one is; asking where the other's is nought is a mistake."""
    # One division, so that exactly four fifths is not a digit less.
    value = (one.some * other.of) / (one.of * other.some)

    def excluded(ratio: float) -> bool:
        return _score(one, other, ratio) > Z**2

    # From a ratio that the data rule out, up or down to the first one that they do not.
    low = 0.0 if one.some == 0 else _edge(excluded, *_outside(excluded, value, 0.5))
    high = _edge(excluded, *_outside(excluded, value or SMALLEST, 2.0))
    return Interval(value, low, high)


def _score(one: Part, other: Part, ratio: float) -> float:
    """The square of the score statistic, with the most likely shares that have this ratio."""
    people = one.of + other.of
    half = ratio * (one.of + other.some) + one.some + other.of
    root = sqrt(max(half**2 - 4 * people * ratio * (one.some + other.some), 0.0))
    # As a quotient of sums: nothing is lost where the root is nearly as large as the half.
    second = 2 * (one.some + other.some) / (half + root)
    first = min(ratio * second, 1.0)
    spread = first * (1 - first) / one.of + ratio**2 * second * (1 - second) / other.of
    distance = (one.share - ratio * other.share) ** 2
    return distance / spread if spread > 0 else float(distance > 0) * (Z**2 + 1)


def _outside(excluded: Callable[[float], bool], start: float, factor: float) -> tuple[float, float]:
    """The first ratio on this way that is ruled out, and the one before it."""
    inside, at = start, start * factor
    while not excluded(at):
        inside, at = at, at * factor
    return at, inside


def _edge(excluded: Callable[[float], bool], outside: float, inside: float) -> float:
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        outside, inside = (middle, inside) if excluded(middle) else (outside, middle)
    return inside
