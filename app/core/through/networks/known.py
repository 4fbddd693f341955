"""The answers that are known, and which subsets contain one of them."""

from collections.abc import Iterator

import numpy as np

from app.core.favourable import Bools
from app.core.subsets.masks import WORD, Masks, as_bytes, as_truths

# So many answers are compared at once: 16 words of bits.
TOGETHER = 1024
# So many subsets at once, so that what is read stays in the processor's cache.
SUBSETS = 2**14
BYTE = 8
# So many blocks are compared at once. Neighbours share most of their first moves, and so the answers that matter. With
# very many answers there are fewer blocks, so that a comparison takes no more than 8 MB.
BLOCKS = 128
COMPARED = 2**20
# The numbers below 64 without each of their six bits, as the bits of a word.
WITHOUT = [np.uint64(sum(1 << number for number in range(WORD) if not number >> place & 1)) for place in range(6)]


class KnownAnswers:
    """Answers over so many moves, of which the last `low` are open in a block."""

    def __init__(self, moves: int, low: int) -> None:
        self._moves = moves
        self._shift = np.uint64(WORD - moves)
        self._low = low
        self._waiting: list[Masks] = []
        # One for each group of answers, the first found first: a table for each byte of a subset, which says for each
        # value of the byte which answers it leaves incomplete.
        self._tables: list[list[Masks]] = []
        # By their choice of the last moves: the first moves of each answer, and the number of that choice.
        self._first = np.zeros(0, dtype=np.uint64)
        self._numbers = np.zeros(0, dtype=np.intp)

    @property
    def held(self) -> int:
        tables = sum(table.nbytes for tables in self._tables for table in tables)
        return tables + self._first.nbytes + self._numbers.nbytes

    def add(self, masks: Masks) -> None:
        """Note answers; they count from the next `take_in` on."""
        if len(masks):
            self._waiting.append(masks)

    def take_in(self) -> None:
        if not self._waiting:
            return
        masks = np.concatenate(self._waiting)
        self._waiting = []
        for start in range(0, len(masks), TOGETHER):
            self._tables.append([*_tables(masks[start : start + TOGETHER], self._moves)])
        numbers = masks >> self._shift
        lows = numbers & np.uint64(2**self._low - 1)
        first = np.concatenate([self._first, (numbers ^ lows) << self._shift])
        every = np.concatenate([self._numbers, lows.astype(np.intp)])
        order = np.argsort(every, kind="stable")
        self._first, self._numbers = first[order], every[order]

    def inside(self, masks: Masks) -> Bools:
        """Which of these subsets contain an answer."""
        parts = [self._inside(masks[start : start + SUBSETS]) for start in range(0, len(masks), SUBSETS)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.bool_)

    def _inside(self, masks: Masks) -> Bools:
        inside = np.zeros(len(masks), dtype=np.bool_)
        left = np.arange(len(masks))
        for tables in self._tables:
            values = as_bytes(masks[left])
            incomplete = tables[0][values[:, 0]]
            for place, table in enumerate(tables[1:], start=1):
                incomplete |= table[values[:, place]]
            # Where no byte leaves an answer incomplete, it is inside.
            complete = np.any(~incomplete, axis=1)
            inside[left[complete]] = True
            left = left[~complete]
            if not len(left):
                break
        return inside

    def closed_in(self, blocks: Masks) -> Bools:
        """For each block, and each choice of its open moves by its number, whether the subset contains an answer."""
        closed = np.zeros((len(blocks), 2**self._low), dtype=np.bool_)
        if len(self._first):
            step = min(BLOCKS, max(1, COMPARED // len(self._first)))
            for start in range(0, len(blocks), step):
                self._mark(blocks[start : start + step], closed[start : start + step])
        return closed

    def _mark(self, blocks: Masks, closed: Bools) -> None:
        # What no block has is of no interest to any of them.
        near = np.flatnonzero(self._first & ~np.bitwise_or.reduce(blocks) == 0)
        if not len(near):
            return
        numbers = self._numbers[near]
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        contained = self._first[near] & ~blocks[:, None] == 0
        closed[:, numbers[starts]] = np.logical_or.reduceat(contained, starts, axis=1)
        closed[:] = _with_supersets(closed, self._low)


def _with_supersets(truths: Bools, moves: int) -> Bools:
    """Which subsets of the moves, by their numbers, are marked in a row or contain one that is; 64 to a word."""
    padded = np.zeros((len(truths), max(WORD, truths.shape[1])), dtype=np.bool_)
    padded[:, : truths.shape[1]] = truths
    words = np.packbits(padded, axis=1, bitorder="little").view("<u8")
    for place, without in enumerate(WITHOUT[:moves]):
        words |= (words & without) << np.uint64(1 << place)
    for place in range(len(WITHOUT), moves):
        halves = words.reshape(len(words), -1, 2, 1 << place - len(WITHOUT))
        halves[:, :, 1] |= halves[:, :, 0]
    return np.unpackbits(words.view(np.uint8), axis=1, count=truths.shape[1], bitorder="little").view(np.bool_)


def _tables(answers: Masks, moves: int) -> Iterator[Masks]:
    """For each byte of a subset and each value of it, the answers that need a move of the byte that is not made."""
    needed = np.zeros((-(-moves // BYTE) * BYTE, -(-len(answers) // 64) * 64), dtype=np.bool_)
    needed[:moves, : len(answers)] = as_truths(answers, moves).T
    needed_bits = np.packbits(needed, axis=1).view(np.uint64)
    # Bits beyond the last answer stand for none: they must never look complete.
    none = np.zeros(needed.shape[1], dtype=np.bool_)
    none[len(answers) :] = True
    beyond = np.packbits(none).view(np.uint64)
    for start in range(0, len(needed), BYTE):
        table = np.repeat(beyond[None], 2**BYTE, axis=0)
        for place in range(BYTE):
            without = np.arange(2**BYTE) >> (BYTE - 1 - place) & 1 == 0
            table[without] |= needed_bits[start + place]
        yield table
