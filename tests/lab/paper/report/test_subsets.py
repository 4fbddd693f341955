"""Minimal and maximal sets, against going through all others."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from lab.paper.report.subsets import Subset, maximal, minimal
from tests.lab.paper.report import made_up


def tables():
    """Any decision for each subset of up to five features: nothing monotone about it."""

    def table(count: int):
        sets = [frozenset(one) for size in range(count + 1) for one in combinations(range(count), size)]
        decisions = st.lists(st.booleans(), min_size=len(sets), max_size=len(sets))
        return decisions.map(lambda found: dict(zip(sets, found, strict=True)))

    return st.integers(0, 5).flatmap(table)


@given(tables())
def test_minimal_and_maximal_are_what_going_through_all_others_says(table):
    subsets = [Subset(one, 0.5, favourable) for one, favourable in table.items()]
    lowest, highest = minimal(subsets), maximal(subsets)
    for one, favourable in table.items():
        below = [smaller for size in range(len(one)) for smaller in map(frozenset, combinations(one, size))]
        above = [larger for larger in table if larger.issuperset(one) and larger != one]
        assert (one in lowest) == (favourable and not any(table[smaller] for smaller in below))
        assert (one in highest) == (not favourable and all(table[larger] for larger in above))


def test_a_monotone_example_by_hand():
    subsets = made_up.subsets(3, lambda one: 0 in one or {1, 2} <= one)
    assert minimal(subsets) == {frozenset({0}), frozenset({1, 2})}
    assert maximal(subsets) == {frozenset({1}), frozenset({2})}
