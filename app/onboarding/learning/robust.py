"""The robust method of Horn and Pesce for small groups: EP28-A3c, appendix B. Its intervals come from a bootstrap.

Values far from the middle count less: biweight estimators of the middle and of the spread, with the tuning constants
3.7 and 205.6 of the guideline.
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Floats
from app.onboarding.learning.order_statistics import TAIL, Limit

MIDDLE, SPREAD = 3.7, 205.6
# The median absolute deviation of a normal distribution, in its standard deviations; rounded as in the guideline.
NORMAL_MAD = 0.6745
RESAMPLES = 1000
# The same people always give the same interval.
SEED = 28
MOST_ROUNDS = 100
CLOSE = 1e-6


class TooManyAlike(Exception):
    """More than half of the values are the same: there is no robust spread."""


def robust_limits(values: Floats, shares: tuple[float, ...]) -> list[Limit]:
    """The limits below which these shares of people lie, each with its interval; `TooManyAlike`."""
    (middle,), (width,) = _middle_and_width(values[None, :])
    if width == 0:
        raise TooManyAlike
    rng = np.random.default_rng(SEED)
    drawn = values[rng.integers(0, len(values), (RESAMPLES, len(values)))]
    middles, widths = _middle_and_width(drawn)
    quantiles = [student_quantile(share, len(values) - 1) for share in shares]
    return [
        Limit(float(middle + t * width), *map(float, np.quantile(middles + t * widths, [TAIL, 1 - TAIL])))
        for t in quantiles
    ]


def _middle_and_width(rows: Floats) -> tuple[Floats, Floats]:
    """For each row of values: the biweight middle, and what a quantile of Student's t is multiplied with."""
    median = np.median(rows, axis=1, keepdims=True)
    mad = np.median(np.abs(rows - median), axis=1, keepdims=True) / NORMAL_MAD
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = _middle(rows, median, mad)
        spread = SPREAD * mad * _root((rows - median) / (SPREAD * mad), rows.shape[1])
        inner = MIDDLE * mad * _root((rows - median) / (MIDDLE * mad), rows.shape[1])
        error = MIDDLE * inner * _root((rows - middle) / (MIDDLE * inner), 1)
        width = np.sqrt(spread**2 + error**2)
    # Where more than half of the values are the same, they are the middle, and nothing spreads.
    alike = (mad == 0) | ~np.isfinite(width)
    return np.where(alike, median, middle)[:, 0], np.where(alike, 0.0, width)[:, 0]


def _middle(rows: Floats, start: Floats, mad: Floats) -> Floats:
    middle = start
    for _ in range(MOST_ROUNDS):
        distance = (rows - middle) / (MIDDLE * mad)
        weights = np.where(np.abs(distance) < 1, (1 - distance**2) ** 2, 0)
        moved = (rows * weights).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
        done = not np.any(np.abs(moved - middle) >= CLOSE)
        middle = np.where(np.isfinite(moved), moved, middle)
        if done:
            break
    return middle


def _root(distance: Floats, times: int) -> NDArray[np.float64]:
    inside = np.abs(distance) < 1
    square = np.where(inside, distance**2, 0)
    above = times * np.where(inside, square * (1 - square) ** 4, 0).sum(axis=1, keepdims=True)
    below = np.where(inside, (1 - square) * (1 - 5 * square), 0).sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(above / (below * np.maximum(1, below - 1))))


def student_quantile(share: float, degrees: int) -> float:
    """A quantile of Student's t, by the expansion of Cornish and Fisher: right to 1e-5 from 19 degrees on."""
    z, v = NormalDist().inv_cdf(share), float(degrees)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / v**power for power, term in enumerate(terms))
