"""The rows r(x, S) for the model, put together from tables that cover some moves each.

A move changes its cells by an exclusive or of bits, so a row is the exclusive or of one table row for each group of
moves. That is exact for any type: the bits are those of the instance or of the target. Very many moves would need too
many tables: then each cell is chosen by whether its move is made.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.subsets.frontier import SubsetChunk
from app.core.subsets.masks import WORD, Masks, as_truths

# The most moves that share a table, which has a row for each subset of them; fewer, where rows are long.
LARGEST_GROUP = 10
TABLE_BYTES = 2**18
# Beyond so many moves tables take longer, and tens of megabytes.
MOST_TABLED = 200


class MoveCells(NamedTuple):
    """The columns that a move changes (no other move changes them), and their new values."""

    columns: Sequence[int]
    values: Sequence[float]


class _Table(NamedTuple):
    """The bits that the subsets of a group of moves flip in a row, and the place of the group in a mask."""

    word: int
    shift: np.uint64
    bits: np.uint64
    turns: NDArray[Any]

    def write(self, masks: Masks, rows: NDArray[Any]) -> None:
        """Flip the bits of each subset in these rows."""
        words = masks if masks.ndim == 1 else masks[:, self.word]
        self.turns.take((words >> self.shift & self.bits).astype(np.intp), axis=0, out=rows, mode="clip")


@cache
def _choices(moves: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Every subset of so many moves by its number, the first move highest: all bits set for a move that it holds.

    After the moves comes a column of noughts.
    """
    held = np.arange(2**moves)[:, None] >> np.arange(moves - 1, -1, -1) & 1
    return np.hstack([-held, np.zeros((2**moves, 1), dtype=held.dtype)]).astype(dtype)


def every_row(instance: NDArray[Any], moves: Sequence[MoveCells]) -> NDArray[Any]:
    """The rows of all subsets of few moves, by their number: with every further move there are twice as many."""
    rows = np.empty((2 ** len(moves), len(instance)), dtype=instance.dtype)
    rows[0] = instance
    done = 1
    for move in reversed(moves):
        changed = rows[done : 2 * done]
        changed[:] = rows[:done]
        for column, value in zip(move.columns, move.values, strict=True):
            changed[:, column] = value
        done *= 2
    return rows


class CandidateRows:
    """Knows the row of every subset of the moves."""

    def __init__(self, instance: NDArray[Any], moves: Sequence[MoveCells]) -> None:
        self._dtype = instance.dtype
        self._bits = instance.view(f"u{instance.itemsize}")
        changed = instance.copy()
        for move in moves:
            for column, value in zip(move.columns, move.values, strict=True):
                changed[column] = value
        self._changed = changed.view(self._bits.dtype)
        self._turned = self._changed ^ self._bits
        self._moves = len(moves)
        tabled = len(moves) <= MOST_TABLED
        self._tables = [self._table(start, moves[start:stop]) for start, stop in self._groups(len(moves)) if tabled]
        self._made_by = [] if tabled else self._moves_of_columns(moves)
        if self._tables:
            turns = self._tables[0].turns
            turns ^= self._bits
        self._rows = self._turns = np.empty((0, len(instance)), dtype=self._bits.dtype)
        # Where each move takes one column: which, and what it then holds.
        plain = all(len(move.columns) == 1 for move in moves)
        self._columns = np.array([move.columns[0] for move in moves]) if plain else None
        self._values = np.array([move.values[0] for move in moves], dtype=instance.dtype) if plain else changed[:0]
        self._origin_masks: Masks | None = None
        self._origins = changed[:0]

    @property
    def held(self) -> int:
        """Bytes of the tables, and of the rows of the largest batch so far."""
        tables = sum(table.turns.nbytes for table in self._tables)
        return tables + self._rows.nbytes + self._turns.nbytes + self._origins.nbytes

    def of(self, masks: Masks) -> NDArray[Any]:
        """The rows of these subsets. They are valid until the next call, which overwrites them.

        New memory for each batch would cost as much as the rows themselves.
        """
        rows = self._room_for(len(masks))
        if not self._tables:
            rows[:] = self._bits
            if self._made_by:
                made = np.zeros((len(masks), self._moves + 1), dtype=np.bool_)
                made[:, : self._moves] = as_truths(masks, self._moves)
                np.copyto(rows, self._changed, where=made.take(self._made_by, axis=1))
            return rows.view(self._dtype)
        self._tables[0].write(masks, rows)
        turns = self._turns[: len(masks)]
        for table in self._tables[1:]:
            table.write(masks, turns)
            rows ^= turns
        return rows.view(self._dtype)

    def of_chunk(self, chunk: SubsetChunk) -> NDArray[Any]:
        """The same for subsets that extend others by one move: the row of the other, with one cell changed."""
        if chunk.origin_masks is None or self._columns is None:
            return self.of(chunk.masks)
        if self._origin_masks is not chunk.origin_masks:
            self._origin_masks, self._origins = chunk.origin_masks, self.of(chunk.origin_masks).copy()
        rows = self._room_for(len(chunk.masks)).view(self._dtype)
        self._origins.take(chunk.origins, axis=0, out=rows, mode="clip")
        rows[np.arange(len(rows)), self._columns[chunk.added]] = self._values[chunk.added]
        return rows

    def _room_for(self, count: int) -> NDArray[Any]:
        if count > len(self._rows):
            self._rows = np.empty((count, len(self._bits)), dtype=self._bits.dtype)
            self._turns = np.empty_like(self._rows) if len(self._tables) > 1 else self._rows
        return self._rows[:count]

    def _groups(self, moves: int) -> Iterator[tuple[int, int]]:
        """The first move and the end of each group; no group spans two words."""
        longest = max(1, (TABLE_BYTES // self._bits.nbytes).bit_length() - 1)
        size = min(LARGEST_GROUP, longest)
        for word in range(0, moves, WORD):
            end = min(word + WORD, moves)
            yield from ((start, min(start + size, end)) for start in range(word, end, size))

    def _moves_of_columns(self, moves: Sequence[MoveCells]) -> list[int]:
        """The move that changes each column; for unchanged columns, the number of moves."""
        changed_by = [len(moves)] * len(self._bits)
        for place, move in enumerate(moves):
            for column in move.columns:
                changed_by[column] = place
        return changed_by

    def _table(self, start: int, group: Sequence[MoveCells]) -> _Table:
        turns = _choices(len(group), self._bits.dtype).take(self._moves_of_columns(group), axis=1)
        turns &= self._turned
        shift = WORD - start % WORD - len(group)
        return _Table(start // WORD, np.uint64(shift), np.uint64(2 ** len(group) - 1), turns)
