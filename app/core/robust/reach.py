"""Where measurements of a plan may lie: within three standard deviations of what each noisy feature then is."""

from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.robust.noise import NoisyFeature, NoisyRows, standard_errors
from app.core.subsets.masks import Indices

DEVIATIONS = 3.0

Rows = NDArray[Any]


class Reach:
    """The boxes of rows in which measurements of one person's plans lie."""

    def __init__(self, noisy: NoisyRows) -> None:
        self._noisy = noisy
        # The least and the largest that each value may be measured as.
        self._ends = [_ends(noisy.features[at], value) for at, value in zip(noisy.places, noisy.values, strict=True)]

    @property
    def whole(self) -> frozenset[int]:
        """The columns that hold whole numbers only."""
        noisy = zip(self._noisy.columns, self._noisy.features, strict=True)
        return frozenset(column for column, feature in noisy if feature.whole)

    def boxes(self, rows: Rows, values: Indices) -> tuple[Rows, Rows]:
        """The least and the largest cells of every plan, from its row and the values of its noisy features."""
        low, high = rows.copy(), rows.copy()
        with np.errstate(over="ignore"):
            for row, chosen in enumerate(values.tolist()):
                for column, (least, most) in zip(self._noisy.columns, map(self._ends.__getitem__, chosen), strict=True):
                    if not isnan(least):
                        low[row, column], high[row, column] = least, most
        return low, high

    def measured(self, row: Rows, values: Indices) -> dict[int, float]:
        """What a row of such a box measures, by position: values that lie within, and that the model reads as it."""
        found = {}
        for position, column, value in zip(self._noisy.positions, self._noisy.columns, values.tolist(), strict=True):
            least, most = self._ends[value]
            if not isnan(least):
                found[position] = min(max(float(row[column]), least), most)
        return found

    @property
    def within(self) -> Bools:
        """Which draws lie within."""
        return _within(tuple(feature.name for feature in self._noisy.features), self._noisy.draws)


@lru_cache(maxsize=256)
def _within(names: tuple[str, ...], draws: int) -> Bools:
    errors = np.array([standard_errors(name, draws) for name in names])
    held: Bools = (np.abs(errors) <= DEVIATIONS).all(axis=0)
    held.flags.writeable = False
    return held


def _ends(feature: NoisyFeature, value: float) -> tuple[float, float]:
    reach = DEVIATIONS * feature.noise.sd(value)
    ends = value - reach, value + reach
    return (float(np.rint(ends[0])), float(np.rint(ends[1]))) if feature.whole else ends
