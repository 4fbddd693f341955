"""Bounds on every completion of a set, move by move: what each decision does to the groups that hold the move."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.subsets.masks import Indices
from app.core.through.margins import Margin
from app.core.through.searches.groups import merged
from app.core.through.view import Numbers, Table

Places = NDArray[np.int32]


class _Change(NamedTuple):
    """What deciding a move does to one group, by what was decided of the group's earlier moves.

    A row holds the change of each bound if the move is not made, then if it is made, then the change of the numbers
    themselves if it is made and no later move is.
    """

    group: int
    shift: int
    rows: Numbers


class Bounds:
    """Sums over moves that are decided one after the other, in their order."""

    def __init__(self, margin: Margin, tables: Sequence[Table], moves: int) -> None:
        self.sides = margin.sides.shape[1]
        self.forms = len(margin.constant)
        groups = merged(tables)
        self._changes: list[list[_Change]] = [[] for _ in range(moves)]
        start = margin.constant @ margin.sides
        self.start_values = margin.constant.copy()
        for number, group in enumerate(groups):
            start = start + self._add(number, group, margin.sides)
            self.start_values += group.values[0]
        self.start_bounds: Numbers = start
        self._places = _place_tables(groups, moves)

    def _add(self, number: int, group: Table, sides: Numbers) -> Numbers:
        """Note what each move of a group changes; returns the bounds of the group before anything is decided."""
        size = len(group.moves)
        best = group.values @ sides
        for place in range(size - 1, -1, -1):
            decided, best = best, best.reshape(2**place, 2, -1).max(axis=1)
            values = group.values[:: 2 ** (size - place - 1)]
            rows = np.hstack([decided[0::2] - best, decided[1::2] - best, values[1::2] - values[0::2]])
            self._changes[group.moves[place]].append(_Change(number, size - place, _padded(rows)))
        return np.asarray(best[0])

    def places(self, sets: NDArray[np.uint8]) -> Places:
        """For each group, and each set given as bytes, the number of the set among the subsets of the group."""
        places = self._places[0][sets[:, 0]]
        for byte, table in enumerate(self._places[1:], start=1):
            places += table[sets[:, byte]]
        return np.ascontiguousarray(places.T)

    def decide(self, move: int, places: Places, rows: Indices) -> Numbers | None:
        """What deciding a move changes for some of the sets, which have decided all earlier ones; None: nothing."""
        total: Numbers | None = None
        for group, shift, changes in self._changes[move]:
            part = changes.take(places[group].take(rows) >> shift, axis=0)
            total = part if total is None else np.add(total, part, out=total)
        return total


def _padded(rows: Numbers) -> Numbers:
    """Rows of two or four numbers are taken fastest."""
    width = rows.shape[1]
    wanted = width if width > 4 else 1 << (width - 1).bit_length()
    return np.ascontiguousarray(np.hstack([rows, np.zeros((len(rows), wanted - width))]))


def _place_tables(groups: Sequence[Table], moves: int) -> list[Places]:
    """For each byte of a set and each of its values what it adds to the number within each group."""
    tables = [np.zeros((256, max(1, len(groups))), dtype=np.int32) for _ in range(max(1, -(-moves // 8)))]
    values = np.arange(256)
    for number, group in enumerate(groups):
        for place, move in enumerate(group.moves):
            held = values >> (7 - move % 8) & 1
            tables[move // 8][:, number] += (held << (len(group.moves) - 1 - place)).astype(np.int32)
    return tables
