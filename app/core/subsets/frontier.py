"""The frontier of a search: the subsets of the next size that contain no closed one."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from app.core.favourable import Bools
from app.core.subsets.masks import Indices, Masks

# About this many subsets are made at once, so that the search checks the clock in between.
CHUNK = 2**16


class SubsetChunk(NamedTuple):
    """Some subsets of the next size, each with the move that was added, and which of the chunk's subsets it extends."""

    masks: Masks
    origins: Indices = np.zeros(0, dtype=np.intp)
    added: Indices = np.zeros(0, dtype=np.intp)
    # The subsets that are extended; None if that is not known.
    origin_masks: Masks | None = None

    def part(self, rows: slice | Bools) -> "SubsetChunk":
        if self.origin_masks is None:
            return SubsetChunk(self.masks[rows])
        return SubsetChunk(self.masks[rows], self.origins[rows], self.added[rows], self.origin_masks)


class Frontier(Protocol):
    """Walks through the lattice level by level. A closed subset closes all of its supersets."""

    # All subsets of at most this many moves are done.
    size: int
    # Whether sizes beyond the next would need too much memory.
    is_full: bool

    @property
    def is_ordered(self) -> bool:
        """Whether the subsets of one size come in lexicographic order."""
        ...

    @property
    def held(self) -> int:
        """Bytes held now, and for the next size as far as it is settled."""
        ...

    def forget_next(self) -> None:
        """Hold nothing of the next size: the search can walk through it, but not beyond."""
        ...

    def most_next(self) -> int:
        """An upper bound of the number of subsets of the next size."""
        ...

    def chunks(self) -> Iterator[SubsetChunk]:
        """The subsets of the next size; chunks may be empty where making them takes long."""
        ...

    def settle(self, chunk: SubsetChunk, closed: Bools) -> None:
        """Mark which subsets of a chunk are closed; for every chunk, in order, before `rise`."""
        ...

    def rise(self) -> None:
        """Go on to the next size; not where `is_full`."""
        ...
