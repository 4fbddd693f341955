"""What changes cost: the sum of their weights, which are decimal numbers. So 1, 1.42 and 5.86 are 8.28."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.subsets.masks import Indices

# Whole numbers below this are exact as floats too, so that their quotient is rounded only once.
MOST_EXACT = 2**53


@lru_cache(maxsize=64)
def costs_of(weights: tuple[float | Fraction, ...]) -> "Costs":
    """Made once for weights that come again: those of requests that have none of their own."""
    return Costs(weights)


class Costs:
    """Each weight as a whole number of one small unit: sums are exact, and a cost is the float nearest to its sum."""

    def __init__(self, weights: Sequence[float | Fraction]) -> None:
        self.uniform = len(set(weights)) <= 1
        if {*map(type, weights)} <= {int}:
            self._units, self._scale = list(map(int, weights)), 1
        else:
            parts = [weight if isinstance(weight, Fraction) else Fraction(repr(float(weight))) for weight in weights]
            self._scale = lcm(*(part.denominator for part in parts))
            self._units = [part.numerator * (self._scale // part.denominator) for part in parts]

    @cached_property
    def _array(self) -> NDArray[Any]:
        fits = max(sum(self._units), self._scale) < MOST_EXACT
        return np.array(self._units, dtype=np.int64 if fits else object)

    def of(self, moves: Iterable[int]) -> float:
        """The cost of one set of changes."""
        units = self._units
        return sum([units[move] for move in moves]) / self._scale

    def of_truths(self, truths: Bools) -> NDArray[np.float64]:
        """The cost of each set of changes, a row of truth values."""
        return np.asarray(truths.astype(self._array.dtype) @ self._array / self._scale, dtype=np.float64)

    def of_rows(self, members: Indices) -> NDArray[np.float64]:
        """The cost of each row of changes."""
        return np.asarray(self._array[members].sum(axis=1) / self._scale, dtype=np.float64)
