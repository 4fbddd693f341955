"""Subsets as machine words, in one word and in several."""

from itertools import combinations

import numpy as np
import pytest

from app.core.subsets import masks


def mask_of(moves: int, members) -> masks.Masks:
    truths = np.zeros((1, moves), dtype=np.bool_)
    truths[0, list(members)] = True
    return masks.of_truths(truths)


@pytest.mark.parametrize("moves", [1, 7, 8, 63, 64, 65, 130])
def test_truths_survive_the_way_there_and_back(moves: int):
    truths = np.random.default_rng(moves).random((50, moves)) < 0.4
    assert (masks.as_truths(masks.of_truths(truths), moves) == truths).all()
    assert masks.sizes(masks.of_truths(truths)).tolist() == truths.sum(axis=1).tolist()


@pytest.mark.parametrize("moves", [5, 64, 70])
def test_a_whole_number_and_a_row_of_truths_are_the_same_subset(moves: int):
    """The first move is the highest bit."""
    members = [0, 2, moves - 1]
    number = sum(1 << (moves - 1 - member) for member in members)
    assert (masks.of_sets([number], moves) == mask_of(moves, members)).all()
    assert masks.as_members(masks.of_sets([number, number], moves), moves).tolist() == [members, members]


def test_subsets_of_one_size_in_lexicographic_order_have_falling_words():
    words = np.concatenate([mask_of(9, members) for members in combinations(range(9), 4)])
    assert (words[:-1] > words[1:]).all()


@pytest.mark.parametrize("moves", [3, 66])
def test_what_comes_before_and_after_a_move(moves: int):
    for move in range(moves):
        row = slice(move, move + 1)
        assert np.flatnonzero(masks.as_truths(masks.single(moves)[row], moves)).tolist() == [move]
        assert np.flatnonzero(masks.as_truths(masks.before(moves)[row], moves)).tolist() == list(range(move))
        assert np.flatnonzero(masks.as_truths(masks.after(moves)[row], moves)).tolist() == list(range(move + 1, moves))


def test_no_subsets_are_a_table_without_rows():
    assert masks.as_truths(masks.of_sets([], 5), 5).shape == (0, 5)


@pytest.mark.parametrize("moves", [1, 63, 64, 65, 128, 129])
def test_a_subset_is_as_many_words_as_it_takes_however_it_is_given(moves: int):
    """Up to 64 moves many subsets are a vector, and beyond that a table."""
    numbers = [0, 1, 2 ** (moves - 1), 2**moves - 1]
    truths = np.array([[number >> place & 1 for place in reversed(range(moves))] for number in numbers], dtype=np.bool_)
    shape = (4,) if moves <= 64 else (4, -(-moves // 64))
    assert masks.of_sets(numbers, moves).shape == masks.of_truths(truths).shape == shape
    assert (masks.of_sets(numbers, moves) == masks.of_truths(truths)).all()
    assert (masks.as_truths(masks.of_sets(numbers, moves), moves) == truths).all()
