"""Shares of people with their 95 % intervals, and differences of two shares.

One share: the score interval of Wilson (1927). A difference: method 10 of Newcombe (1998), Statistics in Medicine 17,
873-890, which puts the score intervals of both shares together. Neither leaves the possible, and both hold for few
people and for shares near 0 and 1, where the textbook's interval does not.
"""

from math import sqrt
from typing import NamedTuple

# The 97.5th percentile of the normal distribution.
Z = 1.959963984540054


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
    """The share with its interval; of nobody there is none, and asking for one is a mistake."""
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
