"""Formulas: what stands for a change is put in, and what one more change can do is told by their shape."""

from itertools import product

import numpy as np
import pytest

from app.core.checking import obeys
from app.core.constraints import Stated
from app.core.formula import (
    FALSE,
    TRUE,
    Changed,
    Constant,
    Count,
    Formula,
    Not,
    Odd,
    all_of,
    any_of,
    at_most,
    extent,
    holds,
    implies,
    none_of,
    only_forbids,
    same,
    substituted,
)
from tests.core.search.test_clauses import MOVES, every_subset, some_count, some_formula
from tests.support.scale import scaled
from tests.support.seeds import Seeds

NAMES = tuple(map(Changed, range(4)))


def says(formula: Formula, *changed: bool) -> bool:
    return bool(holds(formula, np.array([changed]))[0])


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_chain_of_iff_is_read_from_left_to_right(count: int):
    """A iff b iff c is (a iff b) iff c, and not that all three are the same."""
    for changed in product([False, True], repeat=count):
        truth = changed[0]
        for other in changed[1:]:
            truth = truth == other
        assert says(same(*NAMES[:count]), *changed) == truth


@pytest.mark.parametrize("draw", [some_formula, some_count])
def test_where_every_change_is_known_a_formula_is_a_constant(draw):
    for seed in Seeds(scaled(100), first=30_000):
        formula = draw(np.random.default_rng(seed), 3)
        for subset, truth in zip(every_subset(MOVES)[::7], holds(formula, every_subset(MOVES))[::7], strict=True):
            known = substituted(formula, lambda position, subset=subset: Constant(bool(subset[position])))
            assert known == Constant(bool(truth)), seed


@pytest.mark.parametrize("draw", [some_formula, some_count])
def test_where_some_changes_are_known_the_rest_means_the_same(draw):
    """And is no longer than it was: no constant is left inside it."""
    subsets = every_subset(MOVES)
    for seed in Seeds(scaled(100), first=31_000):
        rng = np.random.default_rng(seed)
        formula = draw(rng, 3)
        known = {place: bool(rng.integers(0, 2)) for place in rng.permutation(MOVES)[:3].tolist()}
        rest = substituted(
            formula, lambda position, known=known: Constant(known[position]) if position in known else Changed(position)
        )
        agreeing = subsets[np.all([subsets[:, place] == truth for place, truth in known.items()], axis=0)]
        assert holds(rest, agreeing).tolist() == holds(formula, agreeing).tolist(), seed
        assert isinstance(rest, Constant) or not has_constants(rest), seed


def has_constants(formula: Formula) -> bool:
    match formula:
        case Constant():
            return True
        case Not(part):
            return has_constants(part)
        case Odd(parts) | Count(_, _, parts):
            return any(map(has_constants, parts))
    return False


@pytest.mark.parametrize(
    ("formula", "forbids"),
    [
        (TRUE, True),
        (FALSE, True),
        (Changed(0), False),
        (Not(Changed(0)), True),
        (Not(Not(Changed(0))), False),
        (at_most(1, NAMES), True),
        (Not(at_most(1, NAMES)), False),
        (none_of(*NAMES), True),
        (any_of(*NAMES), False),
        (Not(any_of(*NAMES)), True),
        (all_of(*map(Not, NAMES)), True),
        (any_of(*map(Not, NAMES)), True),
        (Count(1, 2, NAMES), False),
        (at_most(1, (Changed(0), Not(Changed(1)))), False),
        (at_most(1, tuple(map(Not, NAMES))), False),
        (all_of(at_most(2, NAMES), Not(Changed(3)), TRUE), True),
        (all_of(at_most(2, NAMES), Changed(3)), False),
        (implies(Changed(0), Not(Changed(1))), True),
        (implies(Changed(0), Changed(1)), False),
        (Odd(NAMES), False),
    ],
)
def test_what_only_forbids_is_told_by_its_shape(formula: Formula, forbids: bool):
    assert only_forbids(formula) is forbids


def test_a_formula_that_is_said_to_forbid_only_is_mended_by_no_further_change():
    """Against every subset and every subset of it."""
    subsets = every_subset(MOVES)
    within = (subsets[:, None, :] <= subsets[None, :, :]).all(axis=2)
    forbidding = 0
    for seed in Seeds(scaled(300), first=32_000):
        rng = np.random.default_rng(seed)
        formula = some_formula(rng, int(rng.integers(1, 4)))
        if only_forbids(formula):
            met = holds(formula, subsets)
            assert not (within & ~met[:, None] & met[None, :]).any(), seed
            forbidding += met.any() and not met.all()
    assert forbidding > 0


def test_the_second_reading_of_a_formula_agrees_with_the_first():
    for seed in Seeds(scaled(50), first=33_000):
        formula = some_formula(np.random.default_rng(seed), 3)
        for subset, truth in zip(every_subset(MOVES), holds(formula, every_subset(MOVES)), strict=True):
            assert obeys(frozenset(np.flatnonzero(subset).tolist()), Stated(formula), ()) == truth, seed


@pytest.mark.parametrize(
    ("formula", "values"),
    [
        (TRUE, 1),
        (Changed(0), 1),
        (Not(Changed(0)), 2),
        (Not(at_most(1, NAMES)), 6),
        (Odd(NAMES), 5),
        (all_of(Not(Changed(0)), any_of(*NAMES), TRUE), 9),
    ],
)
def test_the_extent_of_a_formula_is_the_number_of_its_parts_and_itself(formula: Formula, values: int):
    assert extent(formula) == values
