"""Subsets of n moves, level by level: those of one size that contain no closed smaller one."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools

# A row is one subset: its moves in rising order.
Members = NDArray[np.unsignedinteger[Any]]

# How many candidates are put together at a time, before the closed ones among them are dropped.
CHUNK = 16_384

# A level is looked up in a bitmap while that takes at most this many bytes for each of its open subsets.
BITMAP_BYTES = 16


class Level:
    """The open subsets of one size, in lexicographic order.

    A subset is open when neither it nor any subset of it is closed. Only open subsets need to be extended,
    and a subset can only be open when every one of its subsets that is smaller by one is open.
    """

    def __init__(self, moves: int, members: Members) -> None:
        self._moves = moves
        self._members = members
        self._last = members[:, -1].astype(np.int64) if members.shape[1] else np.full(len(members), -1)
        self._open = _Lookup.of(moves, members)

    @classmethod
    def root(cls, moves: int) -> "Level":
        """Size nought: the empty subset alone."""
        return cls(moves, np.zeros((1, 0), dtype=np.uint8 if moves <= 256 else np.uint16))

    @property
    def size(self) -> int:
        return int(self._members.shape[1])

    @property
    def extensions(self) -> int:
        """How many subsets the next level can hold at the most."""
        return int((self._moves - 1 - self._last).sum())

    def none_larger(self) -> Members:
        """No subset of the next size."""
        return np.zeros((0, self.size + 1), dtype=self._members.dtype)

    def candidates(self) -> Iterator[Members]:
        """The subsets of the next size all of whose subsets are open, in lexicographic order, in chunks."""
        fanout = self._moves - 1 - self._last
        ends = np.cumsum(fanout)
        start = 0
        while start < len(fanout):
            done = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
            chunk = self._extended(slice(start, stop), fanout[start:stop])
            # Without its last move a candidate is the subset that it extends, which is open.
            yield chunk[self._open.holds_all(chunk)]
            start = stop

    def _extended(self, parents: slice, fanout: NDArray[np.int64]) -> Members:
        origin = np.repeat(np.arange(len(fanout)), fanout)
        first = np.repeat(np.cumsum(fanout) - fanout, fanout)
        added = self._last[parents][origin] + 1 + np.arange(len(origin)) - first
        return np.column_stack([self._members[parents][origin], added.astype(self._members.dtype)])


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Tells whether subsets of one size are among the open ones, by their rank in colexicographic order."""

    binomials: NDArray[Any]
    bitmap: Bools | None
    ranks: NDArray[Any]
    full: bool

    @classmethod
    def of(cls, moves: int, members: Members) -> "_Lookup":
        size = members.shape[1]
        total = comb(moves, size)
        binomials = _binomials(moves, size)
        if len(members) == total:
            return cls(binomials, None, np.zeros(0, dtype=np.int64), full=True)
        ranks = binomials[np.arange(1, size + 1), members].sum(axis=1)
        if total <= BITMAP_BYTES * len(members) + CHUNK:
            bitmap = np.zeros(total, dtype=np.bool_)
            bitmap[ranks] = True
            return cls(binomials, bitmap, ranks[:0], full=False)
        return cls(binomials, None, np.sort(ranks), full=False)

    def holds_all(self, candidates: Members) -> Bools:
        """Whether each candidate, less any one of its moves but the last, is an open subset."""
        held = np.ones(len(candidates), dtype=np.bool_)
        if self.full:
            return held
        size = candidates.shape[1]
        # Dropping move j leaves the moves before it at their places and shifts the later ones down by one.
        below = self.binomials[np.arange(1, size), candidates[:, :-1]].cumsum(axis=1)
        shifted = self.binomials[np.arange(1, size), candidates[:, 1:]][:, ::-1].cumsum(axis=1)[:, ::-1]
        for dropped in range(size - 1):
            rank = shifted[:, dropped] + (below[:, dropped - 1] if dropped else 0)
            held &= self._holds(rank)
        return held

    def _holds(self, rank: NDArray[Any]) -> Bools:
        if self.bitmap is not None:
            return np.asarray(self.bitmap[rank], dtype=np.bool_)
        if not len(self.ranks):
            return np.zeros(len(rank), dtype=np.bool_)
        place = np.minimum(np.searchsorted(self.ranks, rank), len(self.ranks) - 1)
        return np.asarray(self.ranks[place] == rank, dtype=np.bool_)


def _binomials(moves: int, size: int) -> NDArray[Any]:
    """binomials[k, n] is n over k; whole numbers of any length where 64 bits would not hold the ranks."""
    dtype = np.int64 if comb(moves, size) < 2**62 else object
    return np.array([[comb(n, k) for n in range(moves)] for k in range(size + 1)], dtype=dtype)


def as_truths(members: Members, moves: int) -> Bools:
    """Subsets given by their moves, as rows of truth values."""
    truths = np.zeros((len(members), moves), dtype=np.bool_)
    np.put_along_axis(truths, members.astype(np.intp), True, axis=1)
    return truths


def in_batches(chunks: Iterator[Members], rows: int) -> Iterator[Members]:
    """The same subsets in batches of exactly so many rows; the last one may be shorter."""
    held: list[Members] = []
    count = 0
    for chunk in chunks:
        held.append(chunk)
        count += len(chunk)
        if count >= rows:
            joined = np.concatenate(held)
            whole = count - count % rows
            yield from (joined[start : start + rows] for start in range(0, whole, rows))
            held, count = [joined[whole:]], count - whole
    if count:
        yield np.concatenate(held)
