"""The answers found so far, by the last of their moves: which sets contain one of them?"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools

# So many words of flags are looked at together.
AT_A_TIME = 2**18
# Answers that came later join an earlier table up to this many.
TABLED = 4096

Bytes = NDArray[np.uint8]
# For each value of a byte of a set one flag an answer: whether that byte of the answer lies within it.
Flags = NDArray[np.uint64]


class KnownAnswers:
    """Knows answers as rows of bytes, eight moves to a byte."""

    def __init__(self) -> None:
        self._answers: dict[int, list[Bytes]] = defaultdict(list)
        self._tables: dict[int, list[list[Flags]]] = defaultdict(list)

    @property
    def held(self) -> int:
        """Bytes of the tables."""
        return sum(flags.nbytes for tables in self._tables.values() for table in tables for flags in table)

    def add(self, answers: Bytes, last: int) -> None:
        """Know these answers too, all with this last move."""
        known, tables = self._answers[last], self._tables[last]
        own = answers[:, : last // 8 + 1]
        if known and len(known[-1]) + len(own) <= TABLED:
            own = np.concatenate([known.pop(), own])
            tables.pop()
        known.append(own)
        tables.append([_flags(own[:, place]) for place in range(own.shape[1])])

    def within(self, sets: Bytes, last: int) -> Bools:
        """Which of these sets, all with this last move, contain an answer with the same one."""
        contains = np.zeros(len(sets), dtype=np.bool_)
        for table in self._tables.get(last, ()):
            step = max(1, AT_A_TIME // table[0].shape[1])
            for start in range(0, len(sets), step):
                rows = slice(start, start + step)
                contains[rows] |= _any_within(table, sets[rows])
        return contains


def _flags(parts: Bytes) -> Flags:
    fits = parts & ~np.arange(256, dtype=np.uint8)[:, None] == 0
    padded = np.zeros((256, -(-len(parts) // 64) * 64), dtype=np.bool_)
    padded[:, : len(parts)] = fits
    return np.packbits(padded, axis=1).view(np.uint64)


def _any_within(table: list[Flags], sets: Bytes) -> Bools:
    fits = table[0].take(sets[:, 0], axis=0)
    for place, flags in enumerate(table[1:], start=1):
        fits &= flags.take(sets[:, place], axis=0)
    return np.asarray(fits.any(axis=1), dtype=np.bool_)
