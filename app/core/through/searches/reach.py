"""How far few further moves can lead: the most that each move adds to a bound, whatever else is made."""

from collections.abc import Sequence

import numpy as np

from app.core.through.margins import Margin
from app.core.through.searches.groups import merged
from app.core.through.view import Numbers, Table

# Room for rounding where gains are added up.
ROUNDING = 1 + 2.0**-36


class Reach:
    """Sums over moves in their order: what the best of the later moves can add, as many as may still be made."""

    def __init__(self, margin: Margin, tables: Sequence[Table], moves: int) -> None:
        self._sides = margin.sides
        self._gains = np.zeros((moves, margin.sides.shape[1]))
        for group in merged(tables):
            values = group.values @ margin.sides
            for place, move in enumerate(group.moves):
                pairs = values.reshape(2**place, 2, -1, values.shape[1])
                self._gains[move] += (pairs[:, 1] - pairs[:, 0]).max(axis=(0, 1))
        self._gains = np.maximum(self._gains, 0.0) * ROUNDING

    def bounds(self, values: Numbers, first: int, left: int) -> Numbers:
        """Bounds for sets with these numbers, and at most `left` of the moves from `first` on."""
        later = -np.sort(-self._gains[first:], axis=0)
        highest: Numbers = values @ self._sides + later[:left].sum(axis=0)
        return highest
