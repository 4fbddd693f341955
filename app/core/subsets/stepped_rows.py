"""The rows of sets of moves where a feature may have several: the farthest of its moves decides its cells."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.subsets.candidate_rows import MoveCells
from app.core.subsets.frontier import SubsetChunk
from app.core.subsets.masks import Masks, as_truths


class _Cells(NamedTuple):
    """The columns of one feature, its moves in their order, and what the columns hold: unchanged, and by each move."""

    columns: list[int]
    moves: list[int]
    values: NDArray[Any]


class SteppedRows:
    """Knows the row of every set of moves, closed or not."""

    def __init__(self, instance: NDArray[Any], moves: Sequence[MoveCells]) -> None:
        self._instance = instance
        self._moves = len(moves)
        by_columns: dict[tuple[int, ...], list[int]] = {}
        for place, move in enumerate(moves):
            by_columns.setdefault(tuple(move.columns), []).append(place)
        self._cells = [
            _Cells(list(columns), places, self._values(columns, [moves[place] for place in places]))
            for columns, places in by_columns.items()
        ]

    def _values(self, columns: Sequence[int], moves: Sequence[MoveCells]) -> NDArray[Any]:
        now = self._instance[list(columns)]
        return np.array([now, *(move.values for move in moves)], dtype=self._instance.dtype)

    @property
    def held(self) -> int:
        """Bytes that it keeps: next to nothing."""
        return sum(cells.values.nbytes for cells in self._cells)

    def of(self, masks: Masks) -> NDArray[Any]:
        """The rows of these sets."""
        rows = np.repeat(self._instance[None], len(masks), axis=0)
        truths = as_truths(masks, self._moves)
        for cells in self._cells:
            level = np.zeros(len(masks), dtype=np.intp)
            for place, move in enumerate(cells.moves, start=1):
                level[truths[:, move]] = place
            rows[:, cells.columns] = cells.values[level]
        return rows

    def of_chunk(self, chunk: SubsetChunk) -> NDArray[Any]:
        return self.of(chunk.masks)
