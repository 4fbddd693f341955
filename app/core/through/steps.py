"""The steps of a link that rearrange what it has, and do arithmetic with it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.through.links import Bounds, Places, agreed, widened
from app.core.through.view import Numbers


@dataclass(frozen=True, slots=True)
class Picked:
    """Some columns of a value, in any order."""

    sources: tuple[int, ...]
    places: Places

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        return low[:, self.places], high[:, self.places]

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return values[0][self.places]


@dataclass(frozen=True, slots=True)
class Joined:
    """Columns of several values, side by side, in any order."""

    sources: tuple[int, ...]
    places: Places

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        low = np.hstack([each for each, _ in values])
        high = np.hstack([each for _, each in values])
        return low[:, self.places], high[:, self.places]

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return np.concatenate(list(values))[self.places]


@dataclass(frozen=True, slots=True)
class Scaled:
    """Each column times a constant, plus another."""

    sources: tuple[int, ...]
    factor: Numbers
    offset: Numbers
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        one, other = widened(*_sorted(low * self.factor, high * self.factor), self.dtype)
        return widened(one + self.offset, other + self.offset, self.dtype)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return values[0] * np.sign(self.factor)


@dataclass(frozen=True, slots=True)
class Added:
    """Two values, column by column."""

    sources: tuple[int, ...]
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        (low, high), (other_low, other_high) = values
        return widened(low + other_low, high + other_high, self.dtype)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return agreed(values[0], values[1])


@dataclass(frozen=True, slots=True)
class Multiplied:
    """Two values multiplied, column by column."""

    sources: tuple[int, ...]
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        (low, high), (other_low, other_high) = values
        corners = (low * other_low, low * other_high, high * other_low, high * other_high)
        return widened(np.minimum.reduce(corners), np.maximum.reduce(corners), self.dtype)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return np.where((values[0] == 0) & (values[1] == 0), 0.0, np.nan)


@dataclass(frozen=True, slots=True)
class Inverse:
    """A constant divided by each column. Where a column may be nought, anything may come of it."""

    sources: tuple[int, ...]
    numerator: Numbers
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        apart = (low > 0) | (high < 0)
        one = self.numerator / np.where(apart, low, 1.0)
        other = self.numerator / np.where(apart, high, 1.0)
        least, most = widened(*_sorted(one, other), self.dtype, 2)
        return np.where(apart, least, -np.inf), np.where(apart, most, np.inf)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        # It falls where the column keeps to one side of nought, which is not known here.
        return np.where(values[0] == 0, 0.0, np.nan)


@dataclass(frozen=True, slots=True)
class Size:
    """The absolute value of each column."""

    sources: tuple[int, ...]

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        return np.maximum(0.0, np.maximum(low, -high)), np.maximum(-low, high)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return np.where(values[0] == 0, 0.0, np.nan)


@dataclass(frozen=True, slots=True)
class Clipped:
    """Kept between two constants."""

    sources: tuple[int, ...]
    least: float
    most: float

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        return np.clip(low, self.least, self.most), np.clip(high, self.least, self.most)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return values[0]


def _sorted(one: Numbers, other: Numbers) -> Bounds:
    return np.minimum(one, other), np.maximum(one, other)
