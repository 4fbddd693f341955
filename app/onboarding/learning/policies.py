"""Lenders' limits: the value at which the share of the refused turns, with the share on either side."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from app.core.favourable import Bools, Floats

# On either side of a limit there are at least so many people, and this share of all.
FEWEST = 20
LEAST_SHARE = 0.02
# The best of many cuts always looks good; this chi-square it hardly ever reaches by chance.
LEAST_CHI_SQUARE = 15.0
# Cuts that are tried.
MOST_CUTS = 400
# A rounder number may be a little worse.
NEARLY = 0.98
MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Side:
    """The people on one side of a limit, and how many of them were refused."""

    people: int
    refused: int

    @property
    def share(self) -> float:
        return self.refused / self.people


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """A limit: values up to it (or from it on) are refused less often. `is_high`: it is the largest good value."""

    value: float
    is_high: bool
    inside: Side
    outside: Side


def turning_point(values: Floats, refused: Bools) -> TurningPoint | None:
    """The cut that tells the refused from the others best; None where none does."""
    cuts = _cuts(values)
    scored = [(chi_square(_sides(values, refused, cut)), cut) for cut in cuts]
    best, cut = max(scored, default=(0.0, 0.0))
    if best < LEAST_CHI_SQUARE:
        return None
    cut = _rounder(cut, lambda rounded: chi_square(_sides(values, refused, rounded)) >= NEARLY * best)
    below, above = _sides(values, refused, cut)
    if below.share <= above.share:
        return TurningPoint(cut, True, below, above)
    # The smallest value above the cut is the smallest good one.
    low = float(values[values > cut].min())
    return TurningPoint(low, False, above, below)


def chi_square(sides: tuple[Side, Side]) -> float:
    """How far the shares of two groups are from being one, by Pearson; 0 where a side holds too few."""
    people = sum(side.people for side in sides)
    overall = sum(side.refused for side in sides) / people
    if min(side.people for side in sides) < max(FEWEST, LEAST_SHARE * people) or overall in (0, 1):
        return 0.0
    return sum(side.people * (side.share - overall) ** 2 for side in sides) / (overall * (1 - overall))


def _sides(values: Floats, refused: Bools, cut: float) -> tuple[Side, Side]:
    below = values <= cut
    counts = int(below.sum()), int((below & refused).sum())
    return Side(*counts), Side(len(values) - counts[0], int(refused.sum()) - counts[1])


def _cuts(values: Floats) -> list[float]:
    """The different values, or percentiles where there are many; nobody is above the last."""
    different = np.unique(values)
    if len(different) > MOST_CUTS:
        different = np.unique(np.quantile(values, np.linspace(0, 1, MOST_CUTS), method="nearest"))
    return [float(cut) for cut in different[:-1]]


def _rounder(value: float, is_good: Callable[[float], bool]) -> float:
    """The number of fewest digits that is nearly as good."""
    if value == 0:
        return value
    for digits in range(1, MOST_DIGITS):
        step = 10.0 ** (floor(log10(abs(value))) - digits + 1)
        for rounded in (round(value / step) * step, floor(value / step) * step, ceil(value / step) * step):
            neat = float(f"{rounded:.{MOST_DIGITS}g}")
            if is_good(neat):
                return neat
    return value
