"""One bit a subset: formulas, supersets and minimal sets, against one subset at a time."""

from itertools import product

import numpy as np

from app.core.checking import _is_true
from app.core.formula import Changed, Count, Not, Odd
from app.core.through.searches import packed
from app.core.through.searches.partial import Partial, left_open
from tests.support.scale import scaled
from tests.support.seeds import Seeds


def random_formula(rng: np.random.Generator, moves: int, depth: int = 3):
    kind = int(rng.integers(0, 4)) if depth else 0
    if kind == 0:
        return Changed(int(rng.integers(0, moves)))
    if kind == 1:
        return Not(random_formula(rng, moves, depth - 1))
    parts = tuple(random_formula(rng, moves, depth - 1) for _ in range(int(rng.integers(1, 6))))
    if kind == 2:
        return Odd(parts)
    low, high = sorted(int(each) for each in rng.integers(0, len(parts) + 1, 2))
    return Count(low, high, parts)


def test_formulas_hold_for_the_subsets_that_they_hold_for():
    for seed in Seeds(scaled(60), first=172_000):
        rng = np.random.default_rng(seed)
        moves = int(rng.integers(1, 10))
        formula = random_formula(rng, moves)
        words = packed.holding(formula, lambda move: move, np.arange(packed.length(moves)))
        for number in range(2**moves):
            changed = frozenset(move for move in range(moves) if number >> move & 1)
            assert packed.is_set(words, np.array([number]))[0] == _is_true(formula, changed), seed


def test_supersets_and_numbers_are_those_of_the_definition():
    for seed in Seeds(scaled(40), first=173_000):
        rng = np.random.default_rng(seed)
        moves = int(rng.integers(1, 10))
        numbers = np.unique(rng.integers(0, 2**moves, int(rng.integers(1, 20))))
        words = packed.of_numbers(numbers, moves)
        assert packed.numbers_of(words).tolist() == numbers.tolist()
        there = set(range(2**moves))
        above = {each for each in there if any(one & each == one for one in numbers.tolist())}
        proper = {each for each in there if any(one & each == one != each for one in numbers.tolist())}
        assert there & set(packed.numbers_of(packed.with_supersets(words, moves)).tolist()) == above, seed
        assert there & set(packed.numbers_of(packed.proper_supersets(words, moves)).tolist()) == proper, seed


def test_what_is_ruled_out_of_a_partial_set_holds_for_no_completion():
    ruled_out = 0
    for seed in Seeds(scaled(100), first=174_000):
        rng = np.random.default_rng(seed)
        moves = int(rng.integers(1, 7))
        formula = random_formula(rng, moves)
        made = rng.random((1, moves)) < 0.4
        may = made | (rng.random((1, moves)) < 0.4)
        said = left_open(formula, Partial(made, may))
        free = np.flatnonzero(may[0] & ~made[0]).tolist()
        completions = [
            frozenset(np.flatnonzero(made[0]).tolist()).union(m for m, taken in zip(free, chosen, strict=True) if taken)
            for chosen in product((False, True), repeat=len(free))
        ]
        truths = {_is_true(formula, each) for each in completions}
        assert said.hold[0] or True not in truths, seed
        assert said.fail[0] or False not in truths, seed
        ruled_out += not (said.hold[0] and said.fail[0])
    assert ruled_out


def test_the_subsets_of_a_size_are_those_with_so_many_bits():
    numbers = np.arange(2**9)
    for size in range(11):
        words = packed.of_size(size, np.arange(packed.length(9)))
        assert (packed.is_set(words, numbers) == (np.bitwise_count(numbers) == size)).all()
