"""A tree ensemble as one person sees it: what is left of it are short ways to leaves, and small tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.adapters.structures.graph import Array
from app.adapters.structures.sums.ensembles import Ensemble, Ints
from app.core.through import view
from app.core.through.view import Numbers, Table, Unseen

Words = NDArray[np.uint64]

# A table has a row for each subset of its moves: so many moves at most.
MOST_MOVES = 12
# So many ways to leaves are followed at most: a tree of very many splits that matter is not worth it.
MOST_WAYS = 2**20
WORD = 64
# Tables of so few moves are made without a matrix product for each.
SMALL = 5


@dataclass(frozen=True, slots=True)
class Ways:
    """Every way through the trees that some subset takes: to which leaf, and which moves it makes and leaves out."""

    trees: Ints
    leaves: Ints
    made: Words
    left: Words

    def taken(self, some: Ints) -> "Ways":
        return Ways(self.trees[some], self.leaves[some], self.made[some], self.left[some])


def ways_of(ensemble: Ensemble, held: Array, moves: Ints, count: int) -> Ways:
    """The ways that are left, given the columns as they are, with the first move of every feature made, and so on.

    `moves` has the first move of each column, the second, and so on; -1 where there is none.
    """
    passed = [ensemble.tests(row) for row in held]
    splits, turned = np.full(len(passed[0]), -1), np.zeros(len(passed[0]), dtype=np.intp)
    for depth, (before, after) in enumerate(pairwise(passed)):
        splits = np.where(before != after, moves[ensemble.columns, depth], splits)
        turned += before != after
    if (turned > 1).any():
        raise Unseen("a split of the trees tells the steps of a feature apart in more than one place")
    here, there = _children(ensemble, passed[0]), _children(ensemble, passed[-1])
    codes, trees = ensemble.roots, np.arange(len(ensemble.roots))
    made = np.zeros((len(codes), count // WORD + 1), dtype=np.uint64)
    left = made.copy()
    found: list[Ways] = []
    followed = 0
    while len(codes):
        ended = codes < 0
        found.append(Ways(trees[ended], -1 - codes[ended], made[ended], left[ended]))
        going = ~ended
        codes, trees, made, left = codes[going], trees[going], made[going], left[going]
        followed += len(codes)
        if followed > MOST_WAYS:
            raise Unseen("too many splits of the trees lie between the values and their targets")
        move = splits[codes]
        word, bit = np.maximum(move, 0) // WORD, np.uint64(1) << (np.maximum(move, 0) % WORD).astype(np.uint64)
        rows = np.arange(len(codes))
        is_made, is_left = (made[rows, word] & bit) != 0, (left[rows, word] & bit) != 0
        parts = move >= 0
        stays = np.flatnonzero(~parts | ~is_made)
        goes = np.flatnonzero(parts & ~is_left)
        new_left, new_made = left[stays], made[goes]
        open_left = parts[stays]
        at = np.flatnonzero(open_left)
        new_left[at, word[stays][at]] |= bit[stays][at]
        new_made[np.arange(len(goes)), word[goes]] |= bit[goes]
        codes = np.concatenate([here[codes[stays]], there[codes[goes]]])
        trees = np.concatenate([trees[stays], trees[goes]])
        made, left = np.concatenate([made[stays], new_made]), np.concatenate([new_left, left[goes]])
    return Ways(
        np.concatenate([each.trees for each in found]),
        np.concatenate([each.leaves for each in found]),
        np.concatenate([each.made for each in found]),
        np.concatenate([each.left for each in found]),
    )


def truths_of(ways: Sequence[Ways], count: int) -> view.Ways:
    """The ways through several ensembles, as rows of truth values."""
    made, left = (np.concatenate([_truths(getattr(each, side), count) for each in ways]) for side in ("made", "left"))
    return view.Ways(made, left)


def _children(ensemble: Ensemble, passed: NDArray[np.bool_]) -> Ints:
    return np.where(passed, ensemble.yes, ensemble.no)


def tables_of(ways: Ways, values: Numbers, count: int) -> tuple[Numbers, list[Table]]:
    """What is the same for all subsets, and the rest as tables; `values` has a row for each way."""
    kinds, group = _unique(_scopes(ways))
    held = _truths(kinds, count)
    sizes = held.sum(axis=1)
    order = np.lexsort((group, sizes[group]))
    # The first move is the highest bit of a subset's number.
    bits = np.where(held, 1 << (sizes[:, None] - np.cumsum(held, axis=1)), 0)
    group, sorted_ways = group[order], ways.taken(order)
    made = (_truths(sorted_ways.made, count) * bits[group]).sum(axis=1)
    left = (_truths(sorted_ways.left, count) * bits[group]).sum(axis=1)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    _, columns = np.nonzero(held[group[starts]])
    ends, listed = np.cumsum(sizes[group[starts]]).tolist(), columns.tolist()
    moves = [tuple(listed[start:end]) for start, end in pairwise([0, *ends])]
    tables = list(map(Table, moves, _filled(starts, sizes[group], made, left, values[order])))
    # The smallest come first: at most one of them has no moves.
    if tables and not tables[0].moves:
        return tables[0].values[0], tables[1:]
    return np.zeros(values.shape[1]), tables


def _scopes(ways: Ways) -> Words:
    """The moves that a way's table has: all of its tree, or, where those are too many, its own."""
    touched = ways.made | ways.left
    trees = np.zeros((int(ways.trees.max()) + 1, touched.shape[1]), dtype=np.uint64)
    np.bitwise_or.at(trees, ways.trees, touched)
    scopes = trees[ways.trees]
    wide = np.bitwise_count(scopes).sum(axis=1) > MOST_MOVES
    scopes[wide] = touched[wide]
    if np.bitwise_count(scopes).sum(axis=1).max() > MOST_MOVES:
        raise Unseen(f"a tree asks for more than {MOST_MOVES} moves on the way to one leaf")
    return scopes


def _unique(words: Words) -> tuple[Words, Ints]:
    """The different masks, and which of them each row has."""
    if words.shape[1] == 1:
        kinds, group = np.unique(words[:, 0], return_inverse=True)
        return kinds[:, None], group
    kinds, group = np.unique(words, axis=0, return_inverse=True)
    return kinds, group.reshape(-1)


def _truths(words: Words, count: int) -> NDArray[np.bool_]:
    """A row for each mask, a column for each move."""
    places = np.arange(count)
    return (words[:, places // WORD] >> (places % WORD).astype(np.uint64) & np.uint64(1)).astype(np.bool_)


def _filled(starts: Ints, sizes: Ints, made: Ints, left: Ints, values: Numbers) -> Iterator[Numbers]:
    """A table for each group of ways: for every subset the sum of the ways that it takes.

    Whether a subset takes a way is a product over its bits, so a table is a product of two small matrices.
    """
    ends = np.append(starts[1:], len(made))
    for size in np.unique(sizes).tolist():
        groups = np.flatnonzero(sizes[starts] == size)
        first, last = starts[groups[0]], ends[groups[-1]]
        if size <= SMALL:
            # There are many of these: they are added up together.
            takes = _takes(made[first:last], left[first:last], size)
            shares = (takes[:, :, None] * values[first:last, None, :]).reshape(len(takes), -1)
            yield from np.add.reduceat(shares, starts[groups] - first).reshape(len(groups), 2**size, -1)
            continue
        low = size // 2
        upper = _takes(made[first:last] >> low, left[first:last] >> low, size - low)
        lower = _takes(made[first:last] & (1 << low) - 1, left[first:last] & (1 << low) - 1, low)
        # For each subset of the upper bits and each form: what the ways add.
        shares = (upper[:, :, None] * values[first:last, None, :]).reshape(len(upper), -1)
        for start, end in zip((starts[groups] - first).tolist(), (ends[groups] - first).tolist(), strict=True):
            table = (shares[start:end].T @ lower[start:end]).reshape(-1, values.shape[1], 2**low)
            yield table.transpose(0, 2, 1).reshape(2**size, -1)


def _takes(made: Ints, left: Ints, bits: int) -> Numbers:
    """Whether each subset of so many moves takes each way, as 1 or 0."""
    subsets = np.arange(2**bits)
    takes: Numbers = ((subsets & (made | left)[:, None]) == made[:, None]).astype(np.float64)
    return takes
