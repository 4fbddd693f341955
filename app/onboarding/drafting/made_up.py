"""Made-up people: drawn from fits to a group, and checked not to point to anybody in the table."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from app.adapters.graphs.features import ModelFeature
from app.core.favourable import Bools, Floats
from app.onboarding.drafting.features import Drafted
from app.onboarding.learning.rounding import Rounding
from app.onboarding.reading.columns import Column

# Percentiles that a fit goes through: nobody beyond the 2nd or 98th shapes it.
KNOTS = np.linspace(0.02, 0.98, 25)
# A category, or a row, of fewer people could point to one of them.
FEWEST = 5
MOST_FITTED = 20_000


class MadeUp:
    """People like those of a group: each feature as it is spread there, and numbers that go together as there."""

    def __init__(self, features: Sequence[Drafted], group: Bools, rng: np.random.Generator) -> None:
        self._features = features
        self._rng = rng
        # Everybody's rows, whatever group they are in.
        self._rows = np.column_stack([drafted.values() for drafted in features])
        self._values = self._rows[np.flatnonzero(group)[:MOST_FITTED]]
        self._numbers = [place for place, drafted in enumerate(features) if drafted.feature.type != "category"]
        self._root = _root(self._values[:, self._numbers])

    def people(self, count: int) -> Iterator[dict[str, Any]]:
        """Instances of requests, nobody's row first; fewer where some were the row of fewer than five people."""
        drawn = np.empty((count, len(self._features)))
        shares = _shares(self._rng.normal(size=(count, len(self._numbers))) @ self._root)
        for place, drafted in enumerate(self._features):
            known = self._values[~np.isnan(self._values[:, place]), place]
            if drafted.feature.type == "category":
                drawn[:, place] = _categories(known, len(drafted.feature.categories), count, self._rng)
            else:
                drawn[:, place] = _numbers(known, shares[:, self._numbers.index(place)], drafted)
        shared = []
        for row in drawn:
            alike = int((self._rows == row).all(axis=1).sum())
            if alike == 0:
                yield self._instance(row.tolist())
            elif alike >= FEWEST:
                shared.append(row)
        yield from (self._instance(row.tolist()) for row in shared)

    def _instance(self, row: Sequence[float]) -> dict[str, Any]:
        return {
            drafted.feature.name: _sent(drafted.feature, value)
            for drafted, value in zip(self._features, row, strict=True)
        }


def _sent(feature: ModelFeature, value: float) -> float | int | str:
    if feature.type == "category":
        return feature.categories[int(value)]
    return int(value) if float(value).is_integer() else value


def _root(values: Floats) -> Floats:
    """What makes independent normal draws go together as the ranks of these values do."""
    if len(values) < 3 or values.shape[1] == 0:
        return np.eye(values.shape[1])
    filled = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    ranks = filled.argsort(axis=0).argsort(axis=0).astype(np.float64)
    together = np.nan_to_num(np.corrcoef(ranks, rowvar=False)).reshape(values.shape[1], values.shape[1])
    # Pulled towards independence a little, so that it has a root.
    return np.linalg.cholesky(0.9 * together + 0.1 * np.eye(len(together)) + np.diag(0.9 * (1 - np.diag(together)))).T


def _shares(normal: Floats) -> Floats:
    """How far up in a normal distribution each draw is, closely enough."""
    return np.asarray(1 / (1 + np.exp(-1.702 * normal)))


def _numbers(known: Floats, shares: Floats, drafted: Drafted) -> Floats:
    if len(known) == 0:
        return np.zeros(len(shares))
    rounding = Rounding(0) if drafted.feature.whole else Rounding.of(known)
    drawn = np.interp(shares, KNOTS, np.quantile(known, KNOTS))
    return np.array([rounding(float(value)) for value in drawn])


def _categories(known: Floats, count: int, people: int, rng: np.random.Generator) -> Floats:
    frequencies = np.bincount(known.astype(np.intp), minlength=count).astype(np.float64)
    usual = np.where(frequencies >= FEWEST, frequencies, 0)
    weights = usual if usual.any() else frequencies + 1
    return rng.choice(count, size=people, p=weights / weights.sum()).astype(np.float64)


def usual_fact(column: Column, group: Bools) -> str | float:
    """What a made-up person of a group has in a column that sorts people: the most frequent word, or the median."""
    places = column.places[group & (column.places >= 0)]
    if len(places):
        return column.words[int(np.bincount(places).argmax())]
    numbers = column.numbers[group & np.isfinite(column.numbers)]
    middle = float(np.median(numbers)) if len(numbers) else 0.0
    return round(middle) if column.is_whole else middle
