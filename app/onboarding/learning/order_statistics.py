"""Percentiles of a reference group and their confidence intervals, by order statistics: CLSI EP28-A3c, section 9.

A limit is the value at rank p(n + 1), between two ranks interpolated. Its confidence interval reaches from one order
statistic to another, chosen so that each tail of the binomial distribution holds at most 5 %: table 8 of EP28-A3c.
"""

from math import ceil, exp, floor, lgamma, log, sqrt
from typing import NamedTuple

import numpy as np

from app.core.favourable import Floats

# Of a confidence interval of 90 %.
TAIL = 0.05
# So many standard deviations from the mean nothing is left of a binomial distribution.
FAR = 12


class Limit(NamedTuple):
    """A limit of a reference interval, and its 90 % confidence interval; an end is None where too few people are."""

    value: float
    low: float | None
    high: float | None


def percentile(ordered: Floats, share: float) -> Limit:
    """The limit below which this share of people lies. `ordered` is sorted."""
    first, last = ranks(len(ordered), share)
    value = float(np.quantile(ordered, share, method="weibull"))
    return Limit(value, _at(ordered, first), _at(ordered, last))


def ranks(count: int, share: float) -> tuple[int, int]:
    """The ranks, counted from 1, between which the percentile lies with a confidence of 90 %.

    A rank of 0, or beyond the last, says that there are too few people for that end.
    """
    low, chances = _binomial(count, share)
    below = np.cumsum(chances)
    lower = low + int(np.searchsorted(below, TAIL, side="right"))
    upper = low + 1 + int(np.searchsorted(below, 1 - TAIL, side="left"))
    return lower, upper


def _binomial(count: int, share: float) -> tuple[int, Floats]:
    """The chances of every number of people below the percentile that is worth a thought, and the first such number."""
    spread = FAR * sqrt(count * share * (1 - share)) + FAR
    low, high = max(0, floor(count * share - spread)), min(count, ceil(count * share + spread))
    return low, np.array([exp(_log_chance(count, share, below)) for below in range(low, high + 1)])


def _log_chance(count: int, share: float, below: int) -> float:
    ways = lgamma(count + 1) - lgamma(below + 1) - lgamma(count - below + 1)
    return ways + below * log(share) + (count - below) * log(1 - share)


def _at(ordered: Floats, rank: int) -> float | None:
    return float(ordered[rank - 1]) if 1 <= rank <= len(ordered) else None
