"""Many people posed at once: the same findings as one by one, in arrays (a row per person, a column per feature)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.constraints import Directed, Immutable, Item, MaxStep, goes_too_far
from app.core.favourable import Bools
from app.core.findings import Feature, target_if_missing, target_of
from app.core.ranges import Allowed, NormalRange, Status

Values = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RangeTable:
    """The normal ranges and targets of people who share them, as one array per column; an open side is infinite.

    `below` and `above` are the targets of values outside the range; a category uses only `below`. `guides` are the
    targets of features without a range, `missing` those of missing values. NaN means that there is no target.
    """

    low: Values
    high: Values
    below: Values
    above: Values
    guides: Values
    missing: Values
    allowed: dict[int, Bools]

    @classmethod
    def of(cls, features: Sequence[Feature], categories: Sequence[int]) -> "RangeTable":
        """Make the table from features (their values do not matter) and the number of categories of each."""
        count = len(features)
        low, high = np.full(count, -np.inf), np.full(count, np.inf)
        below, above, guides, missing = (np.full(count, np.nan) for _ in range(4))
        allowed = {}
        for place, feature in enumerate(features):
            if (target := target_if_missing(feature)) is not None:
                missing[place] = target
            if isinstance(feature.normal, NormalRange):
                low[place], below[place] = _side(feature, feature.normal.low, Status.LOW, -np.inf)
                high[place], above[place] = _side(feature, feature.normal.high, Status.HIGH, np.inf)
            elif isinstance(feature.normal, Allowed):
                below[place] = target_of(feature, Status.NOT_ALLOWED)
                allowed[place] = np.isin(np.arange(categories[place]), feature.normal.codes)
            elif feature.guide is not None:
                guides[place] = feature.guide
        return cls(low, high, below, above, guides, missing, allowed)

    def targets(self, values: Values) -> Values:
        """The target of each abnormal, guided or missing value; NaN for the others."""
        targets = np.where(values < self.low, self.below, np.where(values > self.high, self.above, self.guides))
        for place, allowed in self.allowed.items():
            known = ~np.isnan(values[:, place])
            off = np.zeros(len(values), dtype=np.bool_)
            off[known] = ~allowed[values[known, place].astype(np.intp)]
            targets[:, place] = np.where(off, self.below[place], np.nan)
        return np.where(np.isnan(values), self.missing, targets)


def _side(feature: Feature, end: float | None, status: Status, open_end: float) -> tuple[float, float]:
    return (open_end, np.nan) if end is None else (end, target_of(feature, status))


@dataclass(frozen=True, slots=True)
class ManyPosed:
    """The findings for everyone: which values are abnormal, which could change, and which may."""

    values: Values
    targets: Values
    abnormal: Bools
    candidates: Bools
    movable: Bools
    kept_back: Bools

    @classmethod
    def of(cls, values: Values, targets: Values, items: Sequence[Item]) -> "ManyPosed":
        abnormal = ~np.isnan(targets)
        candidates = abnormal & (targets != values)
        movable, columns = candidates.copy(), []
        for item in items:
            match item.statement:
                case Immutable(feature):
                    movable[:, feature] = False
                case Directed(feature) | MaxStep(feature) as statement:
                    far = goes_too_far(statement, values[:, feature], targets[:, feature])
                    columns.append(far & candidates[:, feature])
                    movable[:, feature] &= ~columns[-1]
        kept_back = np.column_stack(columns) if columns else np.zeros((len(values), 0), dtype=np.bool_)
        return cls(values, targets, abnormal, candidates, movable, kept_back)

    def patterns(self) -> NDArray[Any]:
        """One key per person: people with the same key have the same formulas, whatever their values."""
        packed = np.packbits(np.hstack([self.abnormal, self.candidates, self.kept_back]), axis=1)
        return np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]


def places_of(flags: Bools, count: int) -> Places:
    """The columns of the flags in each row; every row has `count` of them."""
    return np.nonzero(flags)[1].reshape(len(flags), count)
