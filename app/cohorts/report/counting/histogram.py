"""Numbers counted where they lie, so that medians of a million cost what medians of a hundred do."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from app.cohorts.report.counting.survey import Scale

# Medians are right to a ten-thousandth of the scale.
BINS = 10_000
COLUMNS = 20

Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass
class Histogram:
    """For each of several groups how many numbers lie where on one scale."""

    scale: Scale
    counts: Counts

    @classmethod
    def empty(cls, scale: Scale, groups: int) -> Self:
        return cls(scale, np.zeros((groups, BINS), np.int64))

    def add(self, codes: Counts, numbers: Numbers) -> None:
        low, high = self.scale
        known = np.isfinite(numbers)
        places = ((numbers[known] - low) / (high - low) * BINS).astype(np.int64).clip(0, BINS - 1)
        self.counts += np.bincount(codes[known] * BINS + places, minlength=self.counts.size).reshape(self.counts.shape)

    def total(self, group: int) -> int:
        return int(self.counts[group].sum())

    def median(self, group: int) -> float | None:
        """The median, between the two in the middle if need be; nobody has none."""
        total = self.total(group)
        if not total:
            return None
        upto = np.cumsum(self.counts[group])
        middles = np.searchsorted(upto, [(total - 1) // 2, total // 2], side="right")
        low, high = self.scale
        return float(low + (middles.mean() + 0.5) / BINS * (high - low))

    def columns(self, group: int) -> list[int]:
        """The same in few columns of one width, to be drawn."""
        return [int(count) for count in self.counts[group].reshape(COLUMNS, -1).sum(axis=1)]


@dataclass
class Tally:
    """How often each whole number occurred; there are few different ones."""

    counts: dict[int, int] = field(default_factory=dict)

    def add(self, numbers: Counts) -> None:
        values, counts = np.unique(numbers, return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            self.counts[value] = self.counts.get(value, 0) + count

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def mean(self) -> float:
        return sum(value * count for value, count in self.counts.items()) / self.total

    def median(self) -> float:
        """The middle one, or the mean of the two in the middle."""
        values = sorted(self.counts)
        upto = np.cumsum([self.counts[value] for value in values])
        middles = np.searchsorted(upto, [(self.total - 1) // 2, self.total // 2], side="right")
        return sum(values[int(middle)] for middle in middles) / 2

    def between(self, low: int, high: int | None) -> int:
        """How many lie from low to high, both included; None has no end."""
        return sum(count for value, count in self.counts.items() if value >= low and (high is None or value <= high))
