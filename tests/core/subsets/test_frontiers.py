"""The levels of the lattice, against plain sets: in a table, and linked."""

from itertools import combinations

import numpy as np
import pytest

from app.core.search.lattice import risen
from app.core.subsets import dense_frontier, frontier, sparse_frontier
from app.core.subsets.dense_frontier import DenseFrontier, as_bits, as_flags, proper_supersets, with_supersets
from app.core.subsets.masks import as_members
from app.core.subsets.sparse_frontier import SparseFrontier

KINDS = [DenseFrontier, SparseFrontier]


def walked(front: frontier.Frontier, moves: int, is_closed, largest: int) -> list[list[tuple[int, ...]]]:
    """The subsets that come up at each size, when every subset that `is_closed` is closed."""
    levels = []
    while front.size < largest and front.most_next():
        levels.append(settled(front, moves, is_closed, []))
        front.rise()
    return levels


def settled(front: frontier.Frontier, moves: int, is_closed, closed: list[np.ndarray]) -> list[tuple[int, ...]]:
    """The subsets of the next size, each of them settled; those that are closed are noted."""
    level: list[tuple[int, ...]] = []
    for chunk in front.chunks():
        members = [tuple(row) for row in as_members(chunk.masks, moves).tolist()]
        level += members
        flags = np.array([is_closed(subset) for subset in members], dtype=np.bool_)
        closed.append(chunk.masks[flags])
        front.settle(chunk, flags)
    assert len(level) <= front.most_next()
    return level


def expected(moves: int, is_closed, largest: int) -> list[list[tuple[int, ...]]]:
    """By the definition: all subsets of a size, in order, less those that contain a closed one that is smaller."""
    closed: list[set[int]] = []
    levels = []
    for size in range(1, largest + 1):
        level = [
            subset
            for subset in combinations(range(moves), size)
            if not any(smaller <= set(subset) for smaller in closed)
        ]
        closed += [set(subset) for subset in level if is_closed(subset)]
        levels.append(level)
    while levels and not levels[-1]:
        levels.pop()
    return levels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", [7, 2**16])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_a_frontier_holds_every_subset_that_contains_no_closed_one(monkeypatch, kind, chunk: int, share: float):
    """In small chunks and in large ones, with none, few and many closed."""
    monkeypatch.setattr(dense_frontier, "CHUNK", chunk)
    monkeypatch.setattr(sparse_frontier, "CHUNK", chunk)
    for moves in (1, 2, 5, 9):
        rng = np.random.default_rng(moves)
        draws = {s: rng.random() for size in range(1, moves + 1) for s in combinations(range(moves), size)}

        def is_closed(subset, draws=draws):
            return draws[subset] < share

        levels = walked(kind(moves), moves, is_closed, moves)
        assert [level for level in levels if level] == expected(moves, is_closed, moves)


@pytest.mark.parametrize("full_at", [1, 2, 4])
def test_a_frontier_that_is_full_goes_on_in_bits(monkeypatch, full_at: int):
    """It has held nothing of the level that it was full in."""
    monkeypatch.setattr(dense_frontier, "MOST_MOVES", 3)
    for moves in (4, 6, 9):
        rng = np.random.default_rng(moves)
        draws = {s: rng.random() for size in range(1, moves + 1) for s in combinations(range(moves), size)}
        closed: list[np.ndarray] = []

        def is_closed(subset, draws=draws):
            return draws[subset] < 0.1

        front, levels = SparseFrontier(moves), []
        while front is not None and front.most_next():
            if front.size + 1 == full_at:
                front.forget_next()
            levels.append(settled(front, moves, is_closed, closed))
            front = risen(front, moves, closed)
        assert [level for level in levels if level] == expected(moves, is_closed, moves)


def test_more_moves_than_a_word_has_bits():
    def is_closed(subset) -> bool:
        return sum(subset) % 7 == 3

    assert walked(SparseFrontier(70), 70, is_closed, 3) == expected(70, is_closed, 3)


def test_supersets_by_bits_equal_supersets_by_sets():
    moves = 6
    rng = np.random.default_rng(3)
    for _ in range(50):
        flags = rng.random(2**moves) < 0.05
        numbers = np.flatnonzero(flags).tolist()
        larger = [any(known & number == known and known != number for known in numbers) for number in range(2**moves)]
        assert as_flags(as_bits(flags), moves).tolist() == flags.tolist()
        assert as_flags(proper_supersets(as_bits(flags), moves), moves).tolist() == larger
        assert as_flags(with_supersets(as_bits(flags), moves), moves).tolist() == (flags | larger).tolist()


def test_a_frontier_counts_more_moves_than_a_byte_does():
    """Of 300 moves two go together where their sum has one of two remainders: the rest is closed."""
    moves = 300

    def go_together(one: int, other: int) -> bool:
        return (one + other) % 29 in (0, 7)

    def is_closed(subset: tuple[int, ...]) -> bool:
        return len(subset) == 2 and not go_together(*subset)

    _, _, triples = walked(SparseFrontier(moves), moves, is_closed, 3)
    pairs = [pair for pair in combinations(range(moves), 2) if go_together(*pair)]
    truth = [(a, b, c) for a, b in pairs for c in range(b + 1, moves) if go_together(a, c) and go_together(b, c)]
    assert triples == truth
    assert truth
