"""The sums of every subset at once, a few nanoseconds each, however many tables there are.

The tables become coefficients: what a set of moves adds beyond what its subsets add. A subset's sum is then the sum of
the coefficients of its own subsets, which are added up along one move after the other (the zeta transform).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.through.searches.packed import IN_A_WORD
from app.core.through.view import Numbers, Table

# The columns of a block are one word; so many rows of them fit the processor's cache.
MOST_ROW_BITS = 11
COLUMNS = 1 << IN_A_WORD
FEW_BITS = 3


class Coefficients(NamedTuple):
    """Sets of moves by number, each with what it adds to every sum; and how far rounding may put a sum off.

    A set may come more than once.
    """

    numbers: NDArray[np.int64]
    values: Numbers
    error: float


def coefficients(constant: Numbers, tables: Sequence[Table], alone: NDArray[np.int64]) -> Coefficients:
    """The coefficients of all tables. `alone` has the number of each move's own set."""
    alike: dict[int, list[Table]] = defaultdict(list)
    for table in tables:
        alike[len(table.moves)].append(table)
    numbers, values = [np.zeros(1, dtype=np.int64)], [constant[None]]
    for size, same in alike.items():
        numbers.append(_numbers(size, same, alone))
        joined = np.concatenate([table.values for table in same])
        values.append(_differences(joined.reshape(len(same), 2**size, -1)))
    sets, parts = np.concatenate(numbers), np.concatenate(values)
    error = float(np.abs(parts).sum(axis=0).max()) * (len(tables) + 128) * 2.0**-52
    return Coefficients(sets, parts, error)


def _numbers(size: int, tables: Sequence[Table], alone: NDArray[np.int64]) -> NDArray[np.int64]:
    moves = np.fromiter(chain.from_iterable(table.moves for table in tables), np.intp, size * len(tables))
    held = np.arange(2**size)[:, None] >> np.arange(size - 1, -1, -1) & 1
    return (alone[moves].reshape(len(tables), size) @ held.T).reshape(-1)


def _differences(values: Numbers) -> Numbers:
    """From the sums of sets to what each set adds beyond its subsets; for many tables of one size."""
    count, rows, forms = values.shape
    for bit in range(rows.bit_length() - 1):
        halves = values.reshape(count, -1, 2, 2**bit * forms)
        halves[:, :, 1] -= halves[:, :, 0]
    return values.reshape(-1, forms)


class Block(NamedTuple):
    """The sums of some subsets: those whose numbers end like this word's, one row for each beginning."""

    word: int
    values: Numbers


class AllSums:
    """Adds the coefficients up, block by block."""

    def __init__(self, given: Coefficients, moves: int) -> None:
        self._rows = min(MOST_ROW_BITS, max(0, moves - IN_A_WORD))
        self._low = max(moves, IN_A_WORD) - self._rows
        beginnings = given.numbers >> self._low
        there = np.bincount(beginnings, minlength=1 << self._rows) > 0
        self._starts = np.flatnonzero(there)
        self.error = given.error
        places = (np.cumsum(there) - 1)[beginnings] << self._low | given.numbers & (1 << self._low) - 1
        # One place for every subset: there are few moves, and sorting the sets would take longer.
        size = len(self._starts) << self._low
        added = (np.bincount(places, form, size).astype(np.float64, copy=False) for form in given.values.T)
        self._parts = [_added_low(part, self._low) for part in added]
        self._forms = len(self._parts)

    @property
    def held(self) -> int:
        return int(self._forms * (self._parts[0].nbytes + 16 * COLUMNS * 2**self._rows))

    @property
    def words_a_row(self) -> int:
        return 1 << int(self._low - IN_A_WORD)

    def blocks(self) -> Iterator[Block]:
        """Values have a row for each beginning, a column for each place in the word, and the forms last."""
        for word in range(self.words_a_row):
            columns = slice(word * COLUMNS, (word + 1) * COLUMNS)
            sums = [self._added_up(part.reshape(-1, 1 << self._low)[:, columns]) for part in self._parts]
            yield Block(word, sums[0][..., None] if self._forms == 1 else np.stack(sums, axis=-1))

    def _added_up(self, part: Numbers) -> Numbers:
        sums = np.zeros((1 << self._rows, COLUMNS))
        sums[self._starts] = part
        for bit in range(self._rows):
            halves = sums.reshape(-1, 2, COLUMNS << bit)
            halves[:, 1] += halves[:, 0]
        return sums


def _added_low(sums: Numbers, bits: int) -> Numbers:
    """Add the lowest moves to all sums."""
    for bit in range(bits):
        step = 1 << bit
        if bit < FEW_BITS:
            # Rows of so few numbers are slow: columns are quicker.
            for place in range(step):
                sums[place + step :: 2 * step] += sums[place :: 2 * step]
        else:
            halves = sums.reshape(-1, 2, step)
            halves[:, 1] += halves[:, 0]
    return sums
