"""The question as a row, the columns that may move, and rows for many subsets of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class Posed:
    """One person: the row, and the movable columns with their targets."""

    instance: Rows
    targets: dict[int, float]

    def rows(self, truths: Truths) -> Rows:
        """A row for each subset; a column of `truths` for each movable column."""
        columns = list(self.targets)
        rows = np.repeat(self.instance[np.newaxis], len(truths), axis=0)
        targets = np.array(list(self.targets.values()), dtype=np.float32)
        rows[:, columns] = np.where(truths, targets, rows[:, columns])
        return rows


def all_subsets(count: int) -> Truths:
    """Subset number k holds the columns whose bits are set in k."""
    numbers = np.arange(2**count, dtype=np.uint32)
    return (numbers[:, np.newaxis] >> np.arange(count, dtype=np.uint32)) & 1 == 1


def subsets_of_size(count: int, size: int) -> Truths:
    members = np.array(list(combinations(range(count), size)), dtype=np.intp).reshape(comb(count, size), size)
    truths = np.zeros((len(members), count), dtype=np.bool_)
    truths[np.arange(len(members))[:, np.newaxis], members] = True
    return truths


def subsets_up_to(count: int, size: int) -> Truths:
    return np.concatenate([subsets_of_size(count, each) for each in range(size + 1)])


def without_one(truths: Truths) -> Iterator[Truths]:
    """The subsets again, each without its first member, then without its second, ... All have the same size."""
    members = np.nonzero(truths)[1].reshape(len(truths), -1)
    for column in members.T:
        smaller = truths.copy()
        smaller[np.arange(len(truths)), column] = False
        yield smaller
