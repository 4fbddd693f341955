"""The levels of the lattice over few moves: each subset has a place in a table, and a flag if it is closed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.subsets.frontier import CHUNK, SubsetChunk
from app.core.subsets.masks import WORD, Masks

# Up to so many moves there is a table, kept for each number of moves: 8 MB for all of them.
MOST_MOVES = 20

# A subset by its number: one bit a move, the first move highest.
Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Table:
    """All subsets of so many moves by size, and then in lexicographic order."""

    moves: int
    numbers: Numbers
    starts: tuple[int, ...]

    def level(self, size: int) -> Numbers:
        return self.numbers[self.starts[size] : self.starts[size + 1]]

    def masks(self, numbers: Numbers) -> Masks:
        return numbers.astype(np.uint64) << np.uint64(WORD - self.moves)


@cache
def table(moves: int) -> Table:
    """Made once for each number of moves."""
    falling = np.arange(2**moves - 1, -1, -1, dtype=np.uint32)
    numbers = falling[np.argsort(np.bitwise_count(falling), kind="stable")]
    starts = np.cumsum([0, *(comb(moves, size) for size in range(moves + 1))])
    return Table(moves, numbers, tuple(starts.tolist()))


def as_bits(flags: Bools) -> int:
    """One flag for each subset by its number, as one whole number: 2^n bits."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def as_flags(bits: int, moves: int) -> Bools:
    """The same the other way round."""
    data = np.frombuffer(bits.to_bytes(max(1, 2**moves // 8), "little"), dtype=np.uint8)
    return np.unpackbits(data, count=2**moves, bitorder="little").view(np.bool_)


@cache
def _without(moves: int) -> tuple[int, ...]:
    """For each bit of a number, the subsets without it."""
    numbers = np.arange(2**moves)
    return tuple(as_bits(numbers >> place & 1 == 0) for place in range(moves))


def with_supersets(bits: int, moves: int) -> int:
    """The subsets and all of their supersets: one move after the other is added to all of them at once."""
    for place, without in enumerate(_without(moves)):
        bits |= (bits & without) << (1 << place)
    return bits


def proper_supersets(bits: int, moves: int) -> int:
    """The supersets alone."""
    closed = with_supersets(bits, moves)
    larger = 0
    for place, without in enumerate(_without(moves)):
        larger |= (closed & without) << (1 << place)
    return larger


def minimal(bits: int, moves: int) -> int:
    """Those of the subsets that contain no other one."""
    return bits & ~proper_supersets(bits, moves)


class DenseFrontier:
    """The open subsets of the next size: those that contain no closed one."""

    # What there is to hold does not grow.
    is_full = False
    is_ordered = True

    def __init__(self, moves: int) -> None:
        self.size = 0
        self._table = table(moves)
        self._closed = np.zeros(2**moves, dtype=np.bool_)
        self._closed_bits = 0
        self._open = self._next()

    @property
    def held(self) -> int:
        # The flags, once as bytes and twice as bits, and the masks of the open subsets.
        return 2 * self._closed.nbytes + 12 * len(self._open)

    def forget_next(self) -> None:
        """Nothing to forget: the table is small, and other data exceeded the limit."""

    def most_next(self) -> int:
        return len(self._open)

    def chunks(self) -> Iterator[SubsetChunk]:
        masks = self._table.masks(self._open)
        for start in range(0, len(masks), CHUNK):
            yield SubsetChunk(masks[start : start + CHUNK])

    def settle(self, chunk: SubsetChunk, closed: Bools) -> None:
        if closed.any():
            self._closed[chunk.masks[closed] >> np.uint64(WORD - self._table.moves)] = True

    def rise(self) -> None:
        self.size += 1
        found = as_bits(self._closed)
        if found != self._closed_bits:
            self._closed_bits = with_supersets(found, self._table.moves)
            self._closed = as_flags(self._closed_bits, self._table.moves).copy()
        self._open = self._next()

    def _next(self) -> Numbers:
        if self.size == self._table.moves:
            return self._table.numbers[:0]
        level = self._table.level(self.size + 1)
        return level[~self._closed[level]] if self._closed_bits else level
