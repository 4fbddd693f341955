"""The levels of the lattice over many moves: only open subsets are held, each with the moves that may extend it.

A subset can only be open when every one of its subsets that is smaller by one is. Which moves extend a subset is a
word of bits, so that one AND of words tells of all its extensions at once. With E(Q) the moves after the last of Q
that extend an open subset Q to an open one, the moves that may extend S are those after its last move that are
in E(S without j) for every j of S.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.subsets.frontier import CHUNK, SubsetChunk
from app.core.subsets.masks import Indices, Masks, after, as_truths, before, single, sizes


class _Sets(NamedTuple):
    """Some open subsets: their masks, the places of the subsets that they extend, and their last moves."""

    masks: Masks
    origins: NDArray[np.int32]
    last: NDArray[np.int32]

    def part(self, rows: slice) -> "_Sets":
        return _Sets(self.masks[rows], self.origins[rows], self.last[rows])


@dataclass(frozen=True, slots=True)
class _Links:
    """How the subsets of one size are extended: the moves that extend each, and the place of its first extension."""

    extensions: Masks
    first: NDArray[np.int32]

    @classmethod
    def of(cls, extensions: Masks) -> "_Links":
        counts = sizes(extensions)
        first = np.cumsum(counts, dtype=np.int32)
        first -= counts
        return cls(extensions, first)

    @property
    def nbytes(self) -> int:
        return self.extensions.nbytes + self.first.nbytes

    def child(self, places: NDArray[np.int32], added: NDArray[np.int32], moves: int) -> NDArray[np.int32]:
        """The place, one size up, of the subset at each place with a move added that extends it."""
        earlier = self.extensions[places] & before(moves)[added]
        child: NDArray[np.int32] = self.first[places] + sizes(earlier)
        return child


class SparseFrontier:
    """The open subsets of the present size, in lexicographic order.

    They are held in pieces, and each piece is written to its place as it is processed: assembling a large level in one
    step would miss the deadline by too much.
    """

    is_ordered = True

    def __init__(self, moves: int) -> None:
        self.size = 0
        self.is_full = False
        self._moves = moves
        nought = np.zeros(1, dtype=np.int32)
        self._pieces = [_Sets(np.zeros_like(single(moves)[:1]), nought, nought - 1)]
        self._larger: list[_Sets] = []
        self._most_next = moves
        self._most_after = 0
        # How the subsets one and two sizes down are extended; there are none below the empty subset.
        self._links: _Links | None = None
        self._older_links: _Links | None = None
        # For each subset one size down the places of it less each of its moves.
        self._older_dropped = np.zeros((1, 0), dtype=np.int32)
        self._begin(1)

    def _begin(self, count: int) -> None:
        """Allocate what will be known about the subsets of the present size."""
        self._dropped = np.empty((count, self.size), dtype=np.int32)
        self._extensions = np.empty((count, *single(self._moves).shape[1:]), dtype=np.uint64)
        self._chunk = slice(0, 0)
        self._settled = 0
        self._held = count * self._bytes_a_set(self.size) + self._older_dropped.nbytes
        self._held += sum(links.nbytes for links in (self._links, self._older_links) if links is not None)

    def _bytes_a_set(self, size: int) -> int:
        """A mask, extensions, and the places of: its origin, its last move, its first extension, it less each move."""
        mask = single(self._moves).nbytes // self._moves
        return 2 * mask + 4 * (3 + size)

    @property
    def held(self) -> int:
        return self._held + self._settled * self._bytes_a_set(self.size + 1)

    def forget_next(self) -> None:
        self.is_full = True
        self._larger.clear()
        self._settled = 0

    def most_next(self) -> int:
        return self._most_next

    def most_after(self) -> int:
        """An upper bound of the number of subsets of the size after the next, once all chunks are settled."""
        return self._most_after

    def chunks(self) -> Iterator[SubsetChunk]:
        step = max(1, CHUNK // self._moves)
        while self._pieces:
            piece = self._pieces.pop(0)
            for start in range(0, len(piece.masks), step):
                yield self._chunk_of(piece.part(slice(start, start + step)))

    def _chunk_of(self, sets: _Sets) -> SubsetChunk:
        """What extends these subsets, which come after those of the last chunk."""
        self._chunk = slice(self._chunk.stop, self._chunk.stop + len(sets.masks))
        extensions = self._extensions[self._chunk]
        extensions[:] = self._may_extend(sets)
        places, added = _places(as_truths(extensions, self._moves))
        return SubsetChunk(sets.masks[places] | single(self._moves)[added], places, added, sets.masks)

    def _may_extend(self, sets: _Sets) -> Masks:
        """The moves that may extend each of these subsets."""
        if self._links is None:
            return before(self._moves)[-1:] | single(self._moves)[-1:]
        dropped = self._dropped[self._chunk]
        # Without its last move a subset is its origin.
        dropped[:, -1] = sets.origins
        for place in range(self.size - 1):
            assert self._older_links is not None
            smaller = self._older_dropped[sets.origins, place]
            dropped[:, place] = self._older_links.child(smaller, sets.last, self._moves)
        extensions = after(self._moves)[sets.last]
        for places in dropped.T:
            extensions &= self._links.extensions[places]
        return extensions

    def settle(self, chunk: SubsetChunk, closed: Bools) -> None:
        kept: Bools | slice = slice(None)
        if closed.any():
            kept = ~closed
            extensions, no_longer = self._extensions[self._chunk], single(self._moves)[chunk.added[closed]]
            np.bitwise_xor.at(extensions, chunk.origins[closed], no_longer)
        last = chunk.added[kept].astype(np.int32)
        self._most_after += int((self._moves - 1 - last).sum())
        if not self.is_full:
            origins = (chunk.origins[kept] + self._chunk.start).astype(np.int32)
            self._larger.append(_Sets(chunk.masks[kept], origins, last))
            self._settled += len(last)

    def rise(self) -> None:
        self.size += 1
        self._older_links, self._older_dropped = self._links, self._dropped
        self._links = _Links.of(self._extensions)
        self._pieces, self._larger = self._larger, []
        self._most_next, self._most_after = self._most_after, 0
        self._begin(sum(len(piece.masks) for piece in self._pieces))


def _places(truths: Bools) -> tuple[Indices, Indices]:
    """The row and the column of each truth; twice as fast as asking for both at once."""
    flat = np.flatnonzero(truths)
    rows = flat // truths.shape[1]
    return rows, flat - rows * truths.shape[1]
