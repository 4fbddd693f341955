"""The functions between the layers of a network: their values, their slopes, and straight lines that enclose them."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from app.core.favourable import Bools
from app.core.through.view import Numbers

# On a shorter interval two level lines do, and no slope has to be found between numbers that are almost equal.
SHORT = 1e-6


class Shape(StrEnum):
    """The activations that are seen through; every one rises."""

    IDENTITY = "identity"
    RELU = "relu"
    LEAKY_RELU = "leaky_relu"
    CLIP = "clip"
    ELU = "elu"
    SOFTPLUS = "softplus"
    SIGMOID = "sigmoid"
    TANH = "tanh"


class Lines(NamedTuple):
    """Lines above and below a function on an interval, one pair for each unit: slope * x + offset."""

    upper: Numbers
    upper_offset: Numbers
    lower: Numbers
    lower_offset: Numbers


@dataclass(frozen=True, slots=True)
class Activation:
    """A function of one number. `alpha` (0 to 1) belongs to its left side; `low` and `high` are where it stops."""

    shape: Shape
    alpha: float = 0.0
    low: float = -np.inf
    high: float = np.inf

    def values(self, x: Numbers) -> Numbers:
        return VALUES[self.shape](self, x)

    def slopes(self, x: Numbers) -> Numbers:
        return SLOPES[self.shape](self, x)

    @property
    def steepest(self) -> float:
        """No two points of the curve are farther apart in height than this times their distance."""
        return 0.25 if self.shape is Shape.SIGMOID else 1.0

    @property
    def is_exact(self) -> bool:
        """Whether the runtime computes it with comparisons and one product at the most."""
        return self.shape in (Shape.IDENTITY, Shape.RELU, Shape.LEAKY_RELU, Shape.CLIP)

    def lines(self, low: Numbers, high: Numbers) -> Lines:
        """Lines that enclose the function between `low` and `high`, which may be far apart or equal."""
        if self.shape is Shape.IDENTITY:
            one, nought = np.ones_like(low), np.zeros_like(low)
            return Lines(one, nought, one, nought)
        at_low, at_high = self.values(low), self.values(high)
        lines = self._bent_lines(low, high, at_low, at_high)
        short = high - low < SHORT
        if not short.any():
            return lines
        level = Lines(np.zeros_like(low), at_high, np.zeros_like(low), at_low)
        return Lines(*(np.where(short, flat, line) for flat, line in zip(level, lines, strict=True)))

    def _bent_lines(self, low: Numbers, high: Numbers, at_low: Numbers, at_high: Numbers) -> Lines:
        chord = np.clip((at_high - at_low) / np.maximum(high - low, SHORT), 0.0, self.steepest)
        # The line on the bulging side touches the curve in the middle.
        touch = (low + high) / 2
        tangent = self.slopes(touch)
        if self._is_convex:
            above = np.maximum(at_low - chord * low, at_high - chord * high)
            return Lines(chord, above, tangent, self.values(touch) - tangent * touch)
        convex, concave = self._bends(low, high)
        # Where the function bends both ways, the gentler of the slopes at the ends serves on both sides.
        gentle = np.minimum(self.slopes(low), self.slopes(high))
        upper = np.where(convex, chord, np.where(concave, tangent, gentle))
        lower = np.where(convex, tangent, np.where(concave, chord, gentle))
        at_touch = self.values(touch) - tangent * touch
        left_ends, right_ends = at_low - chord * low, at_high - chord * high
        return Lines(
            upper,
            np.where(convex, np.maximum(left_ends, right_ends), np.where(concave, at_touch, at_high - gentle * high)),
            lower,
            np.where(convex, at_touch, np.where(concave, np.minimum(left_ends, right_ends), at_low - gentle * low)),
        )

    @property
    def _is_convex(self) -> bool:
        """Whether it is so everywhere."""
        return self.shape not in (Shape.SIGMOID, Shape.TANH, Shape.CLIP)

    def _bends(self, low: Numbers, high: Numbers) -> tuple[Bools, Bools]:
        """Where another function is convex on all of the interval, and where it is concave."""
        if self.shape is Shape.CLIP:
            return high <= self.high, low >= self.low
        return high <= 0, low >= 0


def _sigmoid(_: Activation, x: Numbers) -> Numbers:
    power = np.exp(-np.abs(x))
    values: Numbers = np.where(x >= 0, 1.0, power) / (1.0 + power)
    return values


def _sigmoid_slope(_: Activation, x: Numbers) -> Numbers:
    power = np.exp(-np.abs(x))
    slopes: Numbers = power / (1.0 + power) ** 2
    return slopes


def _tanh_slope(_: Activation, x: Numbers) -> Numbers:
    power = np.exp(-2 * np.abs(x))
    slopes: Numbers = 4 * power / (1.0 + power) ** 2
    return slopes


def _elu(it: Activation, x: Numbers) -> Numbers:
    values: Numbers = np.where(x > 0, x, it.alpha * np.expm1(np.minimum(x, 0.0)))
    return values


def _elu_slope(it: Activation, x: Numbers) -> Numbers:
    slopes: Numbers = np.where(x > 0, 1.0, it.alpha * np.exp(np.minimum(x, 0.0)))
    return slopes


def _inside(it: Activation, x: Numbers) -> Numbers:
    slopes: Numbers = ((x > it.low) & (x < it.high)).astype(np.float64)
    return slopes


_Function = Callable[[Activation, Numbers], Numbers]

VALUES: dict[Shape, _Function] = {
    Shape.IDENTITY: lambda _, x: x,
    Shape.RELU: lambda _, x: np.maximum(x, 0.0),
    Shape.LEAKY_RELU: lambda it, x: np.where(x > 0, x, it.alpha * x),
    Shape.CLIP: lambda it, x: np.clip(x, it.low, it.high),
    Shape.ELU: _elu,
    Shape.SOFTPLUS: lambda _, x: np.logaddexp(0.0, x),
    Shape.SIGMOID: _sigmoid,
    Shape.TANH: lambda _, x: np.tanh(x),
}
SLOPES: dict[Shape, _Function] = {
    Shape.IDENTITY: lambda _, x: np.ones_like(x),
    Shape.RELU: lambda _, x: (x > 0).astype(np.float64),
    Shape.LEAKY_RELU: lambda it, x: np.where(x > 0, 1.0, it.alpha),
    Shape.CLIP: _inside,
    Shape.ELU: _elu_slope,
    Shape.SOFTPLUS: _sigmoid,
    Shape.SIGMOID: _sigmoid_slope,
    Shape.TANH: _tanh_slope,
}
