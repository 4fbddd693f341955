"""The rows of sets of moves where values follow from others: computed for each row, in float64."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.following.following import Following, ValueOf
from app.core.subsets.frontier import SubsetChunk
from app.core.subsets.masks import Masks, as_truths


class TargetedMove(Protocol):
    """A move: the feature that it changes, and where that leads."""

    @property
    def position(self) -> int: ...

    @property
    def target(self) -> float: ...


class Encoding(Protocol):
    """Where a model has a feature in its rows, and what it holds there for a value."""

    def columns(self, position: int) -> tuple[int, ...]: ...

    def cells(self, position: int, value: float) -> tuple[float, ...]: ...


class PlainRows(Protocol):
    """The rows of sets of moves if nothing follows."""

    def of(self, masks: Masks) -> NDArray[Any]: ...

    @property
    def held(self) -> int: ...


class FollowingRows:
    """Knows the row of every set of moves, with all that follows."""

    def __init__(
        self, rows: PlainRows, moves: Sequence[TargetedMove], following: Following, encoding: Encoding
    ) -> None:
        self._rows = rows
        self._moves = moves
        self._following = following
        self._encoding = encoding
        self._sources = {*following.sources([*following.shifts, *following.derived])}

    @property
    def held(self) -> int:
        return self._rows.held

    def of(self, masks: Masks) -> NDArray[Any]:
        """The rows of these sets, valid until the next call."""
        rows = self._rows.of(masks)
        truths = as_truths(masks, len(self._moves))
        moved: dict[int, NDArray[np.float64]] = {}
        # The steps of a feature stand in their order: the farthest of them counts.
        for place, move in enumerate(self._moves):
            if move.position in self._sources:
                before = np.float64(self._following.before[move.position])
                values = moved.setdefault(move.position, np.full(len(masks), before))
                values[truths[:, place]] = move.target
        write(rows, self._following, moved_to(self._following, moved), self._encoding)
        return rows

    def of_chunk(self, chunk: SubsetChunk) -> NDArray[Any]:
        return self.of(chunk.masks)


def moved_to(following: Following, moved: Mapping[int, Any]) -> ValueOf:
    """Where each feature is by changes of its own."""
    return lambda feature: moved[feature] if feature in moved else np.float64(following.before[feature])


def write(rows: NDArray[Any], following: Following, own: ValueOf, encoding: Encoding) -> None:
    """Write all that follows into rows."""
    for feature, values in following.after(own).items():
        (column,) = encoding.columns(feature)
        missing = np.isnan(values)
        # What stands for a missing value; numbers stand for themselves.
        rows[:, column] = np.where(missing, encoding.cells(feature, np.nan)[0], values) if missing.any() else values
