"""The Box-Cox transform: the power that makes values most like a normal distribution, and the way back."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np

from app.core.favourable import Floats

# Where the power is looked for.
MOST_POWER = 5.0
# The likelihood may fall by so much within a confidence interval of 95 %: half of a chi-square of one degree.
WITHIN = 1.920729
GOLDEN = (5**0.5 - 1) / 2
# More values say no more about the power.
MOST_VALUES = 20_000


@dataclass(frozen=True, slots=True)
class BoxCox:
    """A transform that was fitted: the values are shifted to be positive, then raised to a power."""

    power: float
    shift: float
    # Whether values as they are would do as well: a power of 1 lies in the confidence interval.
    is_needless: bool

    def there(self, values: Floats) -> Floats:
        positive = np.maximum(values + self.shift, np.finfo(np.float64).tiny)
        return _transformed(positive, self.power)

    def back(self, values: Floats) -> Floats:
        if abs(self.power) < 1e-9:
            return np.exp(values) - self.shift
        inner = np.maximum(self.power * values + 1, 0)
        with np.errstate(divide="ignore"):
            return np.asarray(inner ** (1 / self.power) - self.shift)


def fit_box_cox(values: Floats) -> BoxCox:
    """The power of the greatest likelihood, found by golden sections. Values that are not positive are shifted."""
    shift = _shift(values)
    some = values[:: max(1, len(values) // MOST_VALUES)] + shift
    logs = float(np.log(some).sum())

    def likelihood(power: float) -> float:
        spread = float(np.var(_transformed(some, power)))
        return -len(some) / 2 * log(spread) + (power - 1) * logs if spread > 0 else -np.inf

    power = _highest(likelihood, -MOST_POWER, MOST_POWER)
    return BoxCox(power, shift, likelihood(1.0) >= likelihood(power) - WITHIN)


def _shift(values: Floats) -> float:
    """Nothing if all values are positive; else what puts the smallest a hundredth of the width above 0."""
    least, width = float(values.min()), float(np.ptp(values))
    return 0.0 if least > 0 else -least + (width or 1.0) / 100


def _transformed(positive: Floats, power: float) -> Floats:
    logs = np.log(positive)
    # By expm1: close to 0 a power less 1 would lose its digits.
    return np.asarray(logs if abs(power) < 1e-9 else np.expm1(np.clip(power * logs, -700, 700)) / power)


def _highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one summit is highest."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-6:
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
    return (low + high) / 2
