"""The levels of the lattice over many moves: only open subsets are held, each with the moves that may extend it.

A subset can only be open when every one of its subsets that is smaller by one is. Which moves extend a subset is a
word of bits, so that one AND of words tells of all its extensions at once. With E(Q) the moves after the last of Q
that extend an open subset Q to an open one, the moves that may extend S are those after its last move that are
in E(S without j) for every j of S.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.frontier import CHUNK, Chunk
from app.core.masks import Indices, Masks, after, as_truths, before, single, sizes


@dataclass(frozen=True, slots=True)
class _Links:
    """How the subsets of one size are extended: the moves that do it, and the place of the first that comes of it."""

    extensions: Masks
    first: Indices

    def child(self, places: Indices, added: NDArray[Any], moves: int) -> Indices:
        """The place, one size up, of the subset at each place with a move added that extends it."""
        earlier = self.extensions[places] & before(moves)[added]
        child: Indices = self.first[places] + sizes(earlier)
        return child


class SparseFrontier:
    """The open subsets of the present size, in lexicographic order."""

    def __init__(self, moves: int) -> None:
        self.size = 0
        self._moves = moves
        self._masks: Masks = np.zeros_like(single(moves)[:1])
        self._origins = np.zeros(1, dtype=np.int32)
        self._last = np.full(1, -1, dtype=np.int32)
        # How the subsets one and two sizes down are extended; there are none below the empty subset.
        self._links: _Links | None = None
        self._older_links: _Links | None = None
        # For each subset one size down the places of it less each of its moves; and the same of the present size.
        self._older_dropped = np.zeros((1, 0), dtype=np.int32)
        self._dropped: list[NDArray[np.int32]] = []
        self._settled: list[tuple[Masks, NDArray[np.int32], NDArray[np.int32]]] = []

    def most_next(self) -> int:
        return int((self._moves - 1 - self._last).sum())

    def chunks(self) -> Iterator[Chunk]:
        step = max(1, CHUNK // self._moves)
        for start in range(0, len(self._masks), step):
            rows = slice(start, start + step)
            subset, added = np.nonzero(as_truths(self._extensions(rows), self._moves))
            masks = self._masks[rows][subset] | single(self._moves)[added]
            yield Chunk(masks, subset + start, added)

    def _extensions(self, rows: slice) -> Masks:
        """The moves that may extend each of these subsets."""
        if self._links is None:
            self._dropped.append(self._older_dropped)
            return before(self._moves)[-1:] | single(self._moves)[-1:]
        dropped = self._dropped_of(rows)
        self._dropped.append(dropped)
        extensions = after(self._moves)[self._last[rows]]
        for places in dropped.T:
            extensions &= self._links.extensions[places]
        return extensions

    def _dropped_of(self, rows: slice) -> NDArray[np.int32]:
        """The places of each subset less each of its moves in turn; without its last move it is its origin."""
        origins, last = self._origins[rows], self._last[rows]
        dropped = np.empty((len(origins), self.size), dtype=np.int32)
        for place in range(self.size - 1):
            assert self._older_links is not None
            dropped[:, place] = self._older_links.child(self._older_dropped[origins, place], last, self._moves)
        dropped[:, -1] = origins
        return dropped

    def settle(self, chunk: Chunk, closed: Bools) -> None:
        kept = ~closed if closed.any() else slice(None)
        origins, added = chunk.origins[kept].astype(np.int32), chunk.added[kept].astype(np.int32)
        self._settled.append((chunk.masks[kept], origins, added))

    def rise(self) -> None:
        self._older_links, self._older_dropped = self._links, np.concatenate(self._dropped)
        masks, origins, last = map(np.concatenate, zip(*self._settled, strict=True))
        self._links = self._linked(origins, last)
        self._masks, self._origins, self._last = masks, origins, last
        self._dropped, self._settled = [], []
        self.size += 1

    def _linked(self, origins: NDArray[Any], last: NDArray[Any]) -> _Links:
        counts = np.bincount(origins, minlength=len(self._masks))
        first = np.cumsum(counts) - counts
        extensions = np.zeros_like(self._masks)
        extended = counts > 0
        if len(last):
            extensions[extended] = np.bitwise_or.reduceat(single(self._moves)[last], first[extended], axis=0)
        return _Links(extensions, first)
