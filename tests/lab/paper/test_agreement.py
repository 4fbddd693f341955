from lab.paper.measures.agreement import compared, total
from lab.paper.results import Agreement

A, B, C = frozenset({0}), frozenset({1}), frozenset({0, 2})


def test_two_sets_missed_and_one_wrong_are_counted_as_such():
    assert compared([A, B], [C], monotone=False) == Agreement(
        asked=1, same=0, true=2, missed=2, returned=1, wrong=1, not_monotone=1
    )


def test_the_order_of_the_sets_does_not_matter():
    assert compared([A, B], [B, A], monotone=True).same == 1


def test_nobody_with_no_way_out_is_a_disagreement():
    assert compared([], [], monotone=True) == Agreement(1, 1, 0, 0, 0, 0, 0)


def test_people_are_added_up():
    both = total([compared([A], [A], monotone=True), compared([A, B], [A], monotone=False)])
    assert both == Agreement(asked=2, same=1, true=3, missed=1, returned=2, wrong=0, not_monotone=1)


def test_nobody_adds_up_to_whole_noughts():
    assert repr(total([])) == repr(Agreement(0, 0, 0, 0, 0, 0, 0))
