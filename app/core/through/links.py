"""What a model makes of its sums: a short chain of steps, each of which bounds what the runtime computes.

A value is a pair of arrays, the lower and the upper bounds, with a row for each subset (or set of subsets) and a
column for each element. Every step widens its result by what the runtime may lose to rounding there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.through.view import Numbers

Bounds = tuple[Numbers, Numbers]
Places = NDArray[np.intp]

# A rounding loses at most half of this share of a number; the rest is left as a margin, and for what we lose ourselves.
LOSS = {"float32": 2.0**-23, "float64": 2.0**-51}
# Numbers beyond this may overflow float32, alone or added up; nothing is claimed about what follows from them.
MOST = 1e34
# The least that may be lost where numbers are so small that the runtime rounds them to nought.
LEAST = {"float32": 2.0**-126, "float64": 2.0**-1022}
# How far the runtime's own functions are off, in units of LOSS: measured 1.4 (sigmoid), 2 (softmax) and 0.7 (exp).
SIGMOID_LOSS = 5
SOFTMAX_LOSS = 8
EXP_LOSS = 4


class Step(Protocol):
    """One step of a link: bounds on its result from bounds on earlier values."""

    @property
    def sources(self) -> tuple[int, ...]:
        """The places of the values that it takes. The sums come first, then the results of the steps before it."""
        ...

    def bounds(self, values: Sequence[Bounds]) -> Bounds: ...

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        """Whether each element rises (1) or falls (-1) with the one form there is, or neither (0); NaN: unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Link:
    """The steps from the sums to the outputs; the last one gives them. Without a step the first sum is the output."""

    steps: tuple[Step, ...]

    def bounds(self, sums: Sequence[Bounds]) -> Bounds:
        values = list(sums)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for step in self.steps:
                values.append(step.bounds([values[source] for source in step.sources]))
        low, high = values[-1]
        for least, most in values[len(sums) :]:
            if not (least.min(initial=0.0) > -MOST and most.max(initial=0.0) < MOST):
                held = ((least > -MOST) & (most < MOST)).all(axis=1, keepdims=True)
                low, high = np.where(held, low, -np.inf), np.where(held, high, np.inf)
        return low, high

    def signs(self, sums: Sequence[Numbers]) -> Numbers:
        """Whether each output rises or falls with the only form, given that of the elements of the sums."""
        values = list(sums)
        for step in self.steps:
            values.append(step.signs([values[source] for source in step.sources]))
        return values[-1]


def widened(low: Numbers, high: Numbers, dtype: str, losses: float = 1.0) -> Bounds:
    """The same bounds with room for so many roundings; each by itself, so that it rises with what it bounds."""
    share, least = losses * LOSS[dtype], losses * LEAST[dtype]
    return low - share * np.abs(low) - least, high + share * np.abs(high) + least


@dataclass(frozen=True, slots=True)
class Shares:
    """Each column's share of the sum of all in its group, where none is negative."""

    sources: tuple[int, ...]
    groups: Places
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        # Where one may be negative, the total may be nought, or nearly so.
        unknown = (low[:, self.groups] < 0).any(axis=2)
        least, most = self._shares(low, high), self._shares(high, low, 1)
        return np.where(unknown, -np.inf, least), np.where(unknown, np.inf, most)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return _ahead(values[0], self.groups)

    def _shares(self, own: Numbers, others: Numbers, side: int = -1) -> Numbers:
        """The share of each column, with the others at their other end."""
        rest = others[:, self.groups].sum(axis=2) - others
        total = own + np.maximum(rest, 0.0)
        # Where all may be nought, the runtime does not divide.
        share: Numbers = np.where(total > 0, own / np.where(total > 0, total, 1.0), float(side > 0))
        room = SOFTMAX_LOSS + self.groups.shape[1]
        widest: Numbers = share + side * room * (LOSS[self.dtype] * share + LEAST[self.dtype])
        return widest


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """1 / (1 + exp(-x))."""

    sources: tuple[int, ...]
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        room = SIGMOID_LOSS * LOSS[self.dtype]
        return np.maximum(_sigmoid(low) - room, 0.0), _sigmoid(high) + room

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return values[0]


@dataclass(frozen=True, slots=True)
class Softmax:
    """exp(x) as a share of the sum in its group; `groups` has, for each column, all columns of its group."""

    sources: tuple[int, ...]
    groups: Places
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        room = (SOFTMAX_LOSS + self.groups.shape[1]) * LOSS[self.dtype]
        return np.maximum(self._shares(low, high) - room, 0.0), self._shares(high, low) + room

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return _ahead(values[0], self.groups)

    def _shares(self, own: Numbers, others: Numbers) -> Numbers:
        """The share of each column, with the others at their other end."""
        gaps = others[:, self.groups] - own[:, :, None]
        itself = self.groups == np.arange(self.groups.shape[0])[:, None]
        shares: Numbers = 1.0 / np.exp(np.where(itself, 0.0, gaps)).sum(axis=2)
        return shares


@dataclass(frozen=True, slots=True)
class Exp:
    """exp(x)."""

    sources: tuple[int, ...]
    dtype: str

    def bounds(self, values: Sequence[Bounds]) -> Bounds:
        ((low, high),) = values
        return widened(np.exp(low), np.exp(high), self.dtype, EXP_LOSS)

    def signs(self, values: Sequence[Numbers]) -> Numbers:
        return values[0]


def _sigmoid(numbers: Numbers) -> Numbers:
    power = np.exp(-np.abs(numbers))
    share: Numbers = np.where(numbers >= 0, 1 / (1 + power), power / (1 + power))
    return share


def agreed(one: Numbers, other: Numbers) -> Numbers:
    """The sign of a sum: known where one of the two is nought, or both are the same."""
    return np.where(one == 0, other, np.where((other == 0) | (one == other), one, np.nan))


def _ahead(signs: Numbers, groups: Places) -> Numbers:
    """Whether an element gains on the others of its group."""
    gains = np.zeros(len(signs))
    for element, group in enumerate(groups):
        for rival in group[group != element]:
            gains[element] = agreed(gains[element], agreed(signs[element], -signs[rival]))
    return gains
