"""A mean over people, and how far it can be trusted."""

from collections.abc import Sequence

import numpy as np

from lab.paper.results import Mean

RESAMPLES = 10_000
SEED = 0
ENDS = (2.5, 97.5)


def mean(values: Sequence[float | None]) -> Mean:
    """The mean of one value for each person, those who have none left out.

    The 95 % interval is the percentile bootstrap over people: always the same draws, so the same values give the same
    interval. Of a single person the interval is the value: it says nothing about others.
    """
    there = np.array([value for value in values if value is not None], dtype=np.float64)
    if not np.isfinite(there).all():
        raise ValueError("a value to average is not a finite number")
    if len(there) == 0:
        return Mean(None, None, None, 0)
    middle = float(there.mean())
    low, high = _interval(there)
    # The mean of equal numbers can come out one bit off: the interval must hold the mean all the same.
    return Mean(middle, min(low, middle), max(high, middle), len(there))


def _interval(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    drawn = np.random.default_rng(SEED).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), ENDS)
    return float(low), float(high)
