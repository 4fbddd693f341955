"""The levels of the lattice, against plain sets."""

from itertools import combinations

import numpy as np
import pytest

from app.core import subsets
from app.core.subsets import Level, as_truths, in_batches


def listed(chunks) -> list[tuple[int, ...]]:
    return [tuple(row) for chunk in chunks for row in chunk.tolist()]


def open_above(moves: int, sets: set[tuple[int, ...]], size: int) -> list[tuple[int, ...]]:
    """The subsets of the next size all of whose subsets are among the given ones."""
    return [
        candidate
        for candidate in combinations(range(moves), size + 1)
        if all(smaller in sets for smaller in combinations(candidate, size))
    ]


@pytest.mark.parametrize("bitmap_bytes", [16, 0])
@pytest.mark.parametrize("chunk", [3, 16_384])
def test_candidates_have_only_open_subsets(monkeypatch, bitmap_bytes: int, chunk: int):
    """Looked up in a bitmap and in a sorted list, in small chunks and in large ones."""
    monkeypatch.setattr(subsets, "BITMAP_BYTES", bitmap_bytes)
    monkeypatch.setattr(subsets, "CHUNK", chunk)
    rng = np.random.default_rng(7)
    for moves in (1, 2, 5, 9):
        for size in range(1, moves):
            kept = sorted(subset for subset in combinations(range(moves), size) if rng.random() < 0.8)
            level = Level(moves, np.array(kept, dtype=np.uint8).reshape(len(kept), size))
            assert listed(level.candidates()) == open_above(moves, set(kept), size)


def test_ranks_beyond_64_bits_are_still_exact():
    """Subsets of 33 of 70 moves: there are more of them than 64 bits can count."""
    moves, size = 70, 33
    base = tuple(range(size + 1))
    members = [tuple(move for move in base if move != dropped) for dropped in reversed(base)]
    level = Level(moves, np.array(members, dtype=np.uint8))
    assert listed(level.candidates()) == [base]
    without_one = Level(moves, np.array(members[:-1], dtype=np.uint8))
    assert listed(without_one.candidates()) == []


def test_the_first_level_extends_the_empty_subset():
    assert listed(Level.root(3).candidates()) == [(0,), (1,), (2,)]
    assert Level.root(3).extensions == 3


def test_batches_hold_exactly_as_many_rows_as_asked_for():
    chunks = (np.arange(count, dtype=np.uint8).reshape(-1, 1) for count in (0, 5, 1, 7))
    assert [len(batch) for batch in in_batches(chunks, 4)] == [4, 4, 4, 1]


def test_subsets_as_truths():
    members = np.array([[0, 2], [1, 2]], dtype=np.uint8)
    assert as_truths(members, 3).tolist() == [[True, False, True], [False, True, True]]
