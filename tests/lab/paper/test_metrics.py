"""The measures, against numbers worked out by hand and against what must hold for any rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lab.paper.measures.metrics import (
    aps,
    c_diversity,
    changed,
    diversity,
    inconsistency,
    minimal_found,
    returned_minimal,
    sparsity,
)

NOTHING = np.empty((0, 2))


def some_rows(features: int = 3):
    return st.integers(1, 5).flatmap(lambda count: arrays(np.float64, (count, features), elements=st.floats(-9, 9)))


def antichains():
    """Sets of changes of which none contains another."""
    sets = st.sets(st.frozensets(st.integers(0, 5), min_size=1), min_size=2, max_size=6)
    kept = sets.map(lambda found: [one for one in found if not any(other < one for other in found)])
    return kept.filter(lambda found: len(found) >= 2)


def test_inconsistency_takes_the_larger_of_the_two_directions():
    first = np.array([[0.0, 0.0]])
    second = np.array([[3.0, 4.0], [0.0, 1.0]])
    # From the one to its nearest: 1. From the two to the one: 5 and 1, in the mean 3.
    assert inconsistency(first, second) == 3


def test_inconsistency_is_a_mean_of_nearest_distances():
    first = np.array([[0.0, 0.0], [10.0, 0.0]])
    second = np.array([[0.0, 2.0], [10.0, 6.0]])
    # Each one's nearest is the one above it: 2 and 6, in the mean 4, both ways.
    assert inconsistency(first, second) == 4


def test_inconsistency_is_undefined_if_one_side_is_empty():
    rows = np.array([[0.0, 0.0]])
    assert inconsistency(NOTHING, rows) is None
    assert inconsistency(rows, NOTHING) is None
    assert inconsistency(NOTHING, NOTHING) is None


@given(some_rows(), some_rows())
def test_inconsistency_is_the_same_both_ways_and_never_negative(first, second):
    there, back = inconsistency(first, second), inconsistency(second, first)
    assert there is not None
    assert there == pytest.approx(back)
    assert there >= 0


@given(some_rows(), st.randoms())
def test_the_same_set_in_another_order_is_not_inconsistent(rows, chance):
    assert inconsistency(rows, np.array(chance.sample(list(rows), len(rows)))) == 0


def test_aps_counts_the_values_that_are_at_most_as_large():
    data = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 20.0], [4.0, 30.0]])
    instance = np.array([4.0, 10.0])
    # Percentiles of the instance: 4 of 4 = 1 and 2 of 4 = 0.5.
    # First row (2.5, 10): 2 of 4 = 0.5 and 0.5, shifts 0.5 and 0. Second row (0, 20): 0 and 3 of 4, shifts 1 and 0.25.
    # The mean of 0.5, 0, 1 and 0.25 is 1.75 / 4 = 0.4375.
    assert aps(instance, np.array([[2.5, 10.0], [0.0, 20.0]]), data) == 0.4375


def test_aps_of_no_counterfactual_is_undefined():
    assert aps(np.zeros(2), NOTHING, np.zeros((3, 2))) is None


@given(some_rows(), some_rows())
def test_aps_lies_between_0_and_1_and_is_0_for_the_instance_itself(rows, data):
    found = aps(rows[0], rows, data)
    assert found is not None
    assert 0 <= found <= 1
    assert aps(rows[0], rows[:1], data) == 0


def test_sparsity_is_the_share_of_values_that_stay():
    instance = np.array([1.0, 2.0, 3.0, 4.0])
    rows = np.array([[1.0, 2.0, 3.0, 5.0], [0.0, 0.0, 3.0, 0.0]])
    # 3 of 4 stay in the first row and 1 of 4 in the second: 4 of 8.
    assert sparsity(instance, rows) == 0.5


def test_sparsity_does_not_round():
    assert sparsity(np.array([1.0, 2.0]), np.array([[np.nextafter(1.0, 2.0), 2.0]])) == 0.5


def test_sparsity_of_no_counterfactual_is_undefined():
    assert sparsity(np.zeros(2), NOTHING) is None


def test_diversity_divides_by_the_deviation_and_by_the_number_of_features():
    rows = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    # Deviations 0.5 and 3. Pairs: 2/0.5 + 0 = 4; 0 + 3/3 = 1; 2/0.5 + 3/3 = 5. Each over 2 features: 2, 0.5 and 2.5.
    # Their mean is 5 / 3.
    assert diversity(rows, np.array([0.5, 3.0])) == pytest.approx(5 / 3)


def test_diversity_needs_two_rows():
    assert diversity(np.zeros((1, 2)), np.ones(2)) is None
    assert diversity(NOTHING, np.ones(2)) is None


def test_diversity_refuses_a_feature_without_deviation():
    with pytest.raises(ValueError, match="median absolute deviation"):
        diversity(np.zeros((2, 2)), np.array([1.0, 0.0]))


def test_c_diversity_counts_the_features_that_differ():
    rows = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 9.0, 0.0, 7.0]])
    # Pairs: 1 of 4, 3 of 4, 2 of 4. Their mean is 6 / 12.
    assert c_diversity(rows) == 0.5


def test_c_diversity_needs_two_rows():
    assert c_diversity(np.zeros((1, 2))) is None
    assert c_diversity(NOTHING) is None


@given(antichains())
def test_minimal_sets_differ_in_at_least_two_features(sets):
    """Neither of two contains the other, so each changes something that the other leaves: at least 2/d."""
    rows = np.array([[1.0 if position in one else 0.0 for position in range(6)] for one in sets])
    found = c_diversity(rows)
    assert found is not None
    assert found >= 2 / 6 - 1e-12


@given(some_rows())
def test_copies_of_one_row_have_no_diversity(rows):
    copies = np.repeat(rows[:1], 3, axis=0)
    assert diversity(copies, np.ones(3)) == 0
    assert c_diversity(copies) == 0


@given(some_rows())
def test_the_order_of_the_rows_does_not_matter(rows):
    assert diversity(rows, np.ones(3)) == pytest.approx(diversity(rows[::-1], np.ones(3)))
    assert c_diversity(rows) == pytest.approx(c_diversity(rows[::-1]))


def test_changed_names_the_positions_that_differ():
    assert changed(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 4.0])) == {1, 2}
    assert changed(np.array([1.0]), np.array([1.0])) == frozenset()


def test_shares_of_minimal_sets():
    true = [frozenset({0}), frozenset({1, 2}), frozenset({1, 3}), frozenset({2, 3})]
    returned = [frozenset({0}), frozenset({0}), frozenset({1, 2}), frozenset({1, 2, 3}), frozenset({0, 1})]
    # {0} and {1, 2} of the four are found. Of the five returned, {0}, {0} again and {1, 2} are minimal.
    assert minimal_found(true, returned) == 0.5
    assert returned_minimal(true, returned) == 0.6


def test_shares_of_nothing_are_undefined():
    some = [frozenset({0})]
    assert minimal_found([], some) is None
    assert minimal_found(some, []) == 0
    assert returned_minimal(some, []) is None
    assert returned_minimal([], some) == 0


@given(antichains())
def test_the_minimal_sets_themselves_get_full_marks(sets):
    assert minimal_found(sets, sets) == returned_minimal(sets, sets) == 1
