"""A network that is seen through, and the network as one person sees it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.feeds import Feed
from app.adapters.structures.graph import NotUnderstood
from app.adapters.structures.preparing import Cut
from app.adapters.structures.sums.boxes import Parting, check_straight
from app.adapters.structures.values import Columns
from app.core.favourable import Favourable
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.networks.network import Network
from app.core.through.networks.person import Cells, seen_by
from app.core.through.networks.spans import spans
from app.core.through.networks.view import NetworkView
from app.core.through.over import Bounded, Rows
from app.core.through.view import Kind


class NetworkStructure:
    """Layers, and the columns that the first of them reads, each made of one feature."""

    kind = Kind.NETWORK
    why: str | None = None

    def __init__(
        self, feeds: Sequence[Feed], owners: NDArray[np.intp], cut: Cut, columns: Columns, network: Network
    ) -> None:
        needs = [int(need) for need in columns.needs.ravel()]
        if any(need.bit_count() > 1 for need in needs):
            raise NotUnderstood("a column that it adds up depends on more than one feature")
        self._feeds = tuple(feeds)
        self._owners = owners
        self._cut = cut
        self._name = columns.name
        self._features = np.array([need.bit_length() - 1 for need in needs], dtype=np.intp)
        self.network = network

    def view(self, row: NDArray[Any], moves: Sequence[MoveCells], favourable: Favourable) -> NetworkView:
        """The network as a person sees it whose row this is and who may make these moves; or `Unseen`."""
        rows = np.stack([row, row])
        for move in moves:
            rows[1, list(move.columns)] = move.values
        made = self._cut.run({feed.name: feed.tensor(rows) for feed in self._feeds})
        now, then = made[self._name].reshape(2, -1).astype(np.float64)
        return NetworkView(self.network, seen_by(self.network, now, [self._cells(move, then) for move in moves]))

    def over(self, low: Rows, high: Rows, favourable: Favourable) -> Bounded:
        """The network over boxes of rows; `Unseen` if it bends a feature that differs within a box."""
        check_straight(self._owners, self._cut.bent, low, high)
        ends = [self._cut.run({feed.name: feed.tensor(rows) for feed in self._feeds}) for rows in (low, high)]
        one, other = (each[self._name].reshape(len(low), -1).astype(np.float64) for each in ends)
        found = spans(self.network, np.minimum(one, other), np.maximum(one, other), favourable)
        parting = Parting(self._owners, low)
        parting.by_weight(found.pulls, self._features)
        return Bounded(found.low, found.high, *parting.found())

    def hard_values(self, features: int) -> list[NDArray[Any]]:
        """No value of a feature is harder than another."""
        return [np.zeros(0) for _ in range(features)]

    def _cells(self, move: MoveCells, then: NDArray[np.float64]) -> Cells:
        columns = np.flatnonzero(self._features == self._owners[move.columns[0]])
        return Cells(tuple(columns.tolist()), tuple(then[columns].tolist()))
