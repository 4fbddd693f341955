"""Many people posed at once: the same findings as of each alone, in arrays of a row a person and a column a feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.constraints import Directed, Immutable, Item, MaxStep, goes_too_far
from app.core.favourable import Bools
from app.core.problem import Feature, target_of
from app.core.ranges import Allowed, NormalRange, Status

Values = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Standard:
    """What the values of people of one kind are held against, feature by feature; a side that is open is infinite.

    `below` and `above` are the targets of what lies outside; of a category, `below` is the only one. `guides` are the
    targets of features without a range. Not a number where there is none.
    """

    low: Values
    high: Values
    below: Values
    above: Values
    guides: Values
    allowed: dict[int, Bools]

    @classmethod
    def of(cls, features: Sequence[Feature], categories: Sequence[int]) -> "Standard":
        """From features whose values do not matter, and how many categories each has."""
        count = len(features)
        low, high = np.full(count, -np.inf), np.full(count, np.inf)
        below, above, guides = (np.full(count, np.nan) for _ in range(3))
        allowed = {}
        for place, feature in enumerate(features):
            if isinstance(feature.normal, NormalRange):
                low[place], below[place] = _side(feature, feature.normal.low, Status.LOW, -np.inf)
                high[place], above[place] = _side(feature, feature.normal.high, Status.HIGH, np.inf)
            elif isinstance(feature.normal, Allowed):
                below[place] = target_of(feature, Status.NOT_ALLOWED)
                allowed[place] = np.isin(np.arange(categories[place]), feature.normal.codes)
            elif feature.guide is not None:
                guides[place] = feature.guide
        return cls(low, high, below, above, guides, allowed)

    def targets(self, values: Values) -> Values:
        """Where each abnormal or guided value would move to; not a number for the others, and for what is missing."""
        targets = np.where(values < self.low, self.below, np.where(values > self.high, self.above, self.guides))
        for place, allowed in self.allowed.items():
            known = ~np.isnan(values[:, place])
            off = np.zeros(len(values), dtype=np.bool_)
            off[known] = ~allowed[values[known, place].astype(np.intp)]
            targets[:, place] = np.where(off, self.below[place], np.nan)
        targets[np.isnan(values)] = np.nan
        return targets


def _side(feature: Feature, end: float | None, status: Status, open_end: float) -> tuple[float, float]:
    return (open_end, np.nan) if end is None else (end, target_of(feature, status))


@dataclass(frozen=True, slots=True)
class ManyPosed:
    """What was found of everybody: who is abnormal where, what could change there, and what may."""

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
        """One key a person: whoever has the same one has the same formulas, whatever the values are."""
        packed = np.packbits(np.hstack([self.abnormal, self.candidates, self.kept_back]), axis=1)
        return np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]


def places_of(flags: Bools, count: int) -> Places:
    """Where each row, which has so many flags, has them."""
    return np.nonzero(flags)[1].reshape(len(flags), count)
