"""Subsets of moves as machine words: one bit a move, the first move highest.

So the subsets of one size stand in lexicographic order when their words fall. Up to 64 moves a subset is one word,
and many subsets are a vector; beyond that it is a row of words. Everything that is built on this works on both.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools

Masks = NDArray[np.uint64]
Indices = NDArray[np.intp]

WORD = 64


@cache
def single(moves: int) -> Masks:
    """The subsets that hold one move each."""
    return of_truths(np.eye(moves, dtype=np.bool_))


@cache
def before(moves: int) -> Masks:
    """For each move the subset of those that come before it."""
    return of_truths(np.tri(moves, k=-1, dtype=np.bool_))


@cache
def after(moves: int) -> Masks:
    """For each move the subset of those that come after it."""
    return of_truths(~np.tri(moves, dtype=np.bool_))


def of_truths(truths: Bools) -> Masks:
    """Subsets given as rows of truth values."""
    count, moves = truths.shape
    words = max(1, -(-moves // WORD))
    padded = np.zeros((count, words * WORD), dtype=np.bool_)
    padded[:, :moves] = truths
    masks = np.packbits(padded, axis=1).view(">u8").astype(np.uint64)
    return masks[:, 0] if words == 1 else masks


def of_sets(sets: Iterable[int], moves: int) -> Masks:
    """Subsets given as whole numbers of so many bits, the first move highest."""
    if moves <= WORD:
        return np.fromiter((bits << (WORD - moves) for bits in sets), dtype=np.uint64)
    length = -(-moves // WORD) * 8
    data = b"".join((bits << (length * 8 - moves)).to_bytes(length, "big") for bits in sets)
    return np.frombuffer(data, dtype=">u8").astype(np.uint64).reshape(-1, length // 8)


def of_members(sets: Iterable[Sequence[int]], moves: int) -> Masks:
    """Subsets given by their moves."""
    return of_sets((sum(1 << (moves - 1 - move) for move in members) for members in sets), moves)


def as_truths(masks: Masks, moves: int) -> Bools:
    """The same subsets as rows of truth values."""
    return np.unpackbits(as_bytes(masks), axis=1, count=moves).view(np.bool_)


def as_members(masks: Masks, moves: int) -> Indices:
    """The moves of each subset, in rising order; the subsets are of one size."""
    members = np.nonzero(as_truths(masks, moves))[1]
    return members.reshape(len(masks), len(members) // max(1, len(masks)))


def as_bytes(masks: Masks) -> NDArray[np.uint8]:
    """A row of bytes for each subset, eight moves to a byte, in their order."""
    words = 1 if masks.ndim == 1 else masks.shape[1]
    return masks.byteswap().view(np.uint8).reshape(len(masks), 8 * words)


def sizes(masks: Masks) -> NDArray[np.unsignedinteger[Any]]:
    """How many moves each subset holds."""
    counts = np.bitwise_count(masks)
    return counts if counts.ndim == 1 else counts.sum(axis=1, dtype=np.uint16)
