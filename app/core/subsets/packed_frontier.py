"""The levels of the lattice over a few more moves than a table holds: one bit per subset says whether it is closed.

All subsets of 24 moves take 2 MB, while the links of a sparse frontier take some 50 bytes for each open subset. But
marking the supersets of closed subsets goes through all of them, so links are better for small levels.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.subsets import dense_frontier
from app.core.subsets.dense_frontier import Numbers, table
from app.core.subsets.frontier import CHUNK, SubsetChunk
from app.core.subsets.masks import WORD, Masks

# The bits of so many moves take 8 MB.
MOST_MOVES = 26
# Which bits of a byte are without each of the last three moves.
WITHOUT = (0x55, 0x33, 0x0F)


class PackedFrontier:
    """Goes on from a size up to which all is done. A subset goes by its number: one bit a move, the first highest."""

    is_full = False
    is_ordered = True

    def __init__(self, moves: int, size: int, closed: Sequence[Masks], most_next: int) -> None:
        self.size = size
        self._moves = moves
        self._bits = np.zeros(2**moves // 8, dtype=np.uint8)
        self._most_next = most_next
        self._most_after = 0
        for masks in closed:
            self._close(self._numbers(masks))
        self._close_supersets()

    @property
    def held(self) -> int:
        return 2 * self._bits.nbytes

    def forget_next(self) -> None:
        """There is nothing to forget: it takes no more for the next size."""

    def most_next(self) -> int:
        return self._most_next

    def chunks(self) -> Iterator[SubsetChunk]:
        """The subsets by their first moves, which the table does not cover, and then in the order of the table."""
        tabled = table(dense_frontier.MOST_MOVES)
        for first in range(2 ** (self._moves - tabled.moves) - 1, -1, -1):
            others = self.size + 1 - first.bit_count()
            if not 0 <= others <= tabled.moves:
                continue
            level = tabled.level(others) | np.uint32(first << tabled.moves)
            for start in range(0, len(level), CHUNK):
                numbers = self._open_among(level[start : start + CHUNK])
                if len(numbers):
                    yield SubsetChunk(numbers.astype(np.uint64) << np.uint64(WORD - self._moves))

    def settle(self, chunk: SubsetChunk, closed: Bools) -> None:
        numbers = self._numbers(chunk.masks)
        self._close(numbers[closed])
        kept = numbers[~closed]
        # For each subset the moves after its last one: the bits below its lowest.
        self._most_after += int(np.bitwise_count((kept & -kept) - np.uint32(1)).sum())

    def rise(self) -> None:
        self.size += 1
        self._most_next, self._most_after = self._most_after, 0
        self._close_supersets()

    def _numbers(self, masks: Masks) -> Numbers:
        return (masks >> np.uint64(WORD - self._moves)).astype(np.uint32)

    def _open_among(self, numbers: Numbers) -> Numbers:
        closed: Bools = self._bits[numbers >> 3] >> (numbers & 7).astype(np.uint8) & 1 == 1
        return numbers[~closed]

    def _close(self, numbers: Numbers) -> None:
        bits: NDArray[np.uint8] = np.left_shift(1, numbers & 7, dtype=np.uint32).astype(np.uint8)
        np.bitwise_or.at(self._bits, numbers >> 3, bits)

    def _close_supersets(self) -> None:
        """One move after the other is added to all closed subsets at once."""
        for place, without in enumerate(WITHOUT):
            self._bits |= (self._bits & without) << (1 << place)
        for place in range(len(WITHOUT), self._moves):
            halves = self._bits.reshape(-1, 2, 1 << (place - len(WITHOUT)))
            halves[:, 1] |= halves[:, 0]
