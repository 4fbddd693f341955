"""The frontier of a search: the subsets of the next size that contain no closed one."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from app.core.favourable import Bools
from app.core.masks import Indices, Masks

# About so many subsets are put together at a time, so that the clock is looked at in between.
CHUNK = 2**16


class Chunk(NamedTuple):
    """Some subsets of the next size, each with the move that was added, and which of the chunk's subsets it extends."""

    masks: Masks
    origins: Indices = np.zeros(0, dtype=np.intp)
    added: Indices = np.zeros(0, dtype=np.intp)
    # The subsets that are extended; None where it is not known what extends what.
    origin_masks: Masks | None = None

    def part(self, rows: slice | Bools) -> "Chunk":
        if self.origin_masks is None:
            return Chunk(self.masks[rows])
        return Chunk(self.masks[rows], self.origins[rows], self.added[rows], self.origin_masks)


class Frontier(Protocol):
    """Walks through the lattice level by level. A closed subset closes all of its supersets."""

    # All subsets of at most so many moves are done with.
    size: int

    def most_next(self) -> int:
        """How many subsets the next size holds at the most."""
        ...

    def chunks(self) -> Iterator[Chunk]:
        """The subsets of the next size, in lexicographic order."""
        ...

    def settle(self, chunk: Chunk, closed: Bools) -> None:
        """Say of each subset of a chunk whether it is closed; in order, and of every chunk before `rise`."""
        ...

    def rise(self) -> None:
        """Go on to the next size."""
        ...
