"""What trees may add up to over boxes of rows: every leaf that some row of a box may reach, and where to part it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.adapters.structures.graph import Array
from app.adapters.structures.sums.ensembles import MEMBER, Ensemble, Ints
from app.core.favourable import Bools
from app.core.through.view import Numbers, Unseen

# The tests that come out the same between two values for which they do.
MONOTONE = 4
# Tests that let a value pass that is equal, or that do not let it pass, part the numbers just after it.
AFTER = (0, 3)
# So many ways to leaves are followed at once, for all boxes.
MOST_WAYS = 2**21


class Tests(NamedTuple):
    """For each box the test that matters most of those that may go either way: its column, -1 if there is none.

    `last` is the last number on the lower side of it.
    """

    column: Ints
    last: Array


class Span(NamedTuple):
    """For each box the least and the most that the trees add up to, form by form, and what to ask next."""

    low: Numbers
    high: Numbers
    test: Tests


class TreeSpans:
    """An ensemble over boxes of its columns, for one set of forms."""

    def __init__(self, ensemble: Ensemble, weights: Numbers) -> None:
        self._ensemble = ensemble
        self._added = ensemble.leaves @ weights
        trees, leaves = ensemble.leaves_of_trees()
        count = len(ensemble.roots)
        highest, lowest = (np.full((count, weights.shape[1]), side) for side in (-np.inf, np.inf))
        np.maximum.at(highest, trees, self._added[leaves])
        np.minimum.at(lowest, trees, self._added[leaves])
        # How much each tree can matter.
        self._spread = (highest - lowest).max(axis=1)
        # Tests of several trees that ask the same count as one.
        alike = np.stack([ensemble.columns, ensemble.modes, ensemble.splits.view(f"i{ensemble.splits.itemsize}")])
        _, self._first, self._test = np.unique(alike, axis=1, return_index=True, return_inverse=True)

    def over(self, low: Array, high: Array) -> Span:
        """Bounds for boxes of columns, a row of least and of largest values for each."""
        boxes, ensemble = len(low), self._ensemble
        can_pass, can_fail = self._outcomes(low, high)
        trees = len(ensemble.roots)
        # A way is a box and a tree, and the node that it has come to.
        ways, codes = np.arange(boxes * trees), np.tile(ensemble.roots, boxes)
        found: list[tuple[Ints, Ints]] = []
        weights = np.zeros(boxes * len(self._first))
        share = 1.0
        followed = 0
        while len(codes):
            ended = codes < 0
            found.append((ways[ended], -1 - codes[ended]))
            ways, codes = ways[~ended], codes[~ended]
            followed += len(codes)
            if followed > MOST_WAYS:
                raise Unseen("too many splits of the trees lie between what may be measured")
            passes, fails = can_pass[ways // trees, codes], can_fail[ways // trees, codes]
            both = passes & fails
            places = ways[both] // trees * len(self._first) + self._test[codes[both]]
            weights += share * np.bincount(places, self._spread[ways[both] % trees], len(weights))
            ways, codes = (
                np.concatenate([ways[passes], ways[fails]]),
                np.concatenate([ensemble.yes[codes[passes]], ensemble.no[codes[fails]]]),
            )
            share /= 2
        ways, leaves = (np.concatenate(parts) for parts in zip(*found, strict=True))
        low_sums, high_sums = self._ends(ways, leaves, boxes, trees)
        return Span(low_sums, high_sums, self._heaviest(weights.reshape(boxes, -1), low))

    def _outcomes(self, low: Array, high: Array) -> tuple[Bools, Bools]:
        """For each box and node: whether some value passes, and whether some value does not."""
        ensemble = self._ensemble
        at_low, at_high = (np.array([ensemble.tests(row) for row in rows]) for rows in (low, high))
        at_low, at_high = at_low.reshape(len(low), -1), at_high.reshape(len(low), -1)
        bent = np.flatnonzero(ensemble.modes >= MONOTONE)
        can_pass, can_fail = at_low | at_high, ~(at_low & at_high)
        if len(bent):
            # Whether a value is one of some: it may be, and it may not, if one of them lies between the ends.
            ends = (held[:, ensemble.columns[bent]].astype(ensemble.splits.dtype) for held in (low, high))
            parts = self._may_meet(bent, *ends)
            can_pass[:, bent] |= parts
            can_fail[:, bent] |= parts
        return can_pass, can_fail

    def _may_meet(self, nodes: Ints, low: Array, high: Array) -> Bools:
        splits = self._ensemble.splits[nodes]
        # A set may cut off what stands behind the point.
        is_cut = np.isin(nodes, self._ensemble.cut)
        is_wide = low < high
        low, high = np.where(is_cut, np.floor(low), low), np.where(is_cut, np.ceil(high), high)
        meets: Bools = (low <= splits) & (splits <= high)
        places = np.flatnonzero(self._ensemble.modes[nodes] == MEMBER)
        for place, members in zip(places, self._ensemble.members, strict=True):
            one, other = low[:, place, None], high[:, place, None]
            meets[:, place] = ((one <= members) & (members <= other)).any(axis=1)
        parts: Bools = meets & is_wide
        return parts

    def _ends(self, ways: Ints, leaves: Ints, boxes: int, trees: int) -> tuple[Numbers, Numbers]:
        forms = self._added.shape[1]
        low, high = np.empty((boxes, forms)), np.empty((boxes, forms))
        for form in range(forms):
            least, most = np.full(boxes * trees, np.inf), np.full(boxes * trees, -np.inf)
            np.minimum.at(least, ways, self._added[leaves, form])
            np.maximum.at(most, ways, self._added[leaves, form])
            low[:, form] = least.reshape(boxes, trees).sum(axis=1)
            high[:, form] = most.reshape(boxes, trees).sum(axis=1)
        return low, high

    def _first_member(self, node: int, low: Array) -> Any:
        """The least number that a test asks for from the lower end of a box on."""
        place = int((self._ensemble.modes[:node] == MEMBER).sum())
        members = self._ensemble.members[place]
        within = members[members >= low[self._ensemble.columns[node]]]
        return within.min() if len(within) else np.nan

    def _heaviest(self, weights: NDArray[np.float64], low: Array) -> Tests:
        ensemble = self._ensemble
        if not weights.shape[1]:
            return Tests(np.full(len(weights), -1), np.zeros(len(weights), dtype=ensemble.splits.dtype))
        nodes = self._first[weights.argmax(axis=1)]
        splits = ensemble.splits[nodes].copy()
        for box in np.flatnonzero(ensemble.modes[nodes] == MEMBER).tolist():
            splits[box] = self._first_member(int(nodes[box]), low[box])
        last = np.where(
            np.isin(ensemble.modes[nodes], AFTER), splits, np.nextafter(splits, -np.inf, dtype=splits.dtype)
        )
        return Tests(np.where(weights.max(axis=1) > 0, ensemble.columns[nodes], -1), last)
