"""A linear relation between values of the changed row, judged in float64, term by term as it is written."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np


class Sign(StrEnum):
    """How the two sides compare."""

    AT_MOST = "<="
    BELOW = "<"
    AT_LEAST = ">="
    ABOVE = ">"
    EQUAL = "=="


COMPARE: Mapping[Sign, Callable[[Any, Any], Any]] = {
    Sign.AT_MOST: operator.le,
    Sign.BELOW: operator.lt,
    Sign.AT_LEAST: operator.ge,
    Sign.ABOVE: operator.gt,
    Sign.EQUAL: operator.eq,
}


class Term(NamedTuple):
    """A multiple of a feature; without a feature, a number."""

    factor: float
    feature: int | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """Two sums of terms that compare like this on the changed row."""

    left: tuple[Term, ...]
    sign: Sign
    right: tuple[Term, ...]

    @property
    def features(self) -> tuple[int, ...]:
        """Every feature that it names, once, in the order of their positions."""
        return tuple(sorted({term.feature for term in (*self.left, *self.right) if term.feature is not None}))

    def holds(self, value_of: Callable[[int], Any]) -> Any:
        """Whether it holds for values, numbers or arrays of them. It asks nothing of what is missing."""
        left, right = (_sum(side, value_of) for side in (self.left, self.right))
        missing = np.isnan(left) | np.isnan(right)
        return COMPARE[self.sign](left, right) | missing


def _sum(terms: tuple[Term, ...], value_of: Callable[[int], Any]) -> Any:
    total: Any = np.float64(0.0)
    # An infinite sum compares like one.
    with np.errstate(over="ignore", invalid="ignore"):
        for factor, feature in terms:
            total = total + (np.float64(factor) if feature is None else np.float64(factor) * value_of(feature))
    return total
