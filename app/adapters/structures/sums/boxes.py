"""Sums over boxes of rows: what weighed columns add up to, and where to part a box."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.structures.graph import Array
from app.adapters.structures.sums.spans import Tests
from app.core.through.links import MOST
from app.core.through.over import Rows
from app.core.through.view import Numbers, Unseen


def check_straight(owners: NDArray[np.intp], bent: frozenset[int], low: Rows, high: Rows) -> None:
    """`Unseen` if a feature differs within a box that the model bends before it adds anything up."""
    differs = np.flatnonzero((low < high).any(axis=0))
    if bent & set(owners[differs].tolist()):
        raise Unseen("it does more to a value than to shift, scale and round it before it adds values up")


def weighed_over(weights: Numbers, least: Array, most: Array) -> tuple[Numbers, Numbers]:
    """For each box and form what each column adds, at least and at most; and how large the columns get."""
    low, high = (held.astype(np.float64) for held in (least, most))
    sizes = np.maximum(np.abs(low), np.abs(high)).max(axis=0)
    if not (sizes < MOST).all():
        raise Unseen("a value is missing, or too large, where the model adds values up")
    one, other = (held[:, None, :] * weights.T for held in (low, high))
    return np.stack([np.minimum(one, other), np.maximum(one, other)]), sizes


class Parting:
    """Where to part each box: at a test of a tree that may go either way, or else where the most weight is."""

    def __init__(self, owners: NDArray[np.intp], rows: Rows) -> None:
        # The first column of each feature, and none for what depends on no feature.
        _, self._columns = np.unique(owners, return_index=True)
        self._dtype = rows.dtype
        self._column = np.full(len(rows), -1)
        self._last = np.full(len(rows), np.nan)
        self._pulls = np.zeros((len(rows), len(self._columns) + 1))

    def at_tests(self, test: Tests, features: NDArray[np.intp], *, is_cell: bool) -> None:
        """At the tests of trees. Where the trees do not read the cells themselves, the middle must do."""
        found = (test.column >= 0) & (self._column < 0)
        self._column[found] = self._columns[features[test.column[found]]]
        if is_cell and test.last.dtype == self._dtype:
            self._last[found] = test.last[found]

    def by_weight(self, spreads: Numbers, features: NDArray[np.intp]) -> None:
        for place, feature in enumerate(features.tolist()):
            self._pulls[:, feature] += spreads[:, place]

    def found(self) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """The columns, and the last cell of their lower parts; NaN for the middle."""
        pulled = (self._column < 0) & (self._pulls.max(axis=1) > 0)
        self._column[pulled] = self._columns[self._pulls[pulled].argmax(axis=1)]
        return self._column, self._last
