"""What is movable, where to, and why not."""

import pytest

from app.core.constraints import Directed, Direction, Immutable, Item, MaxChanges, MaxStep, Statement
from app.core.findings import Feature, WhyNot
from app.core.problem import pose
from app.core.ranges import MoveTo, NormalRange, Policy, Status

HIGH = Feature(114.0, NormalRange(10.0, 35.0))


def finding(feature: Feature, *statements: Statement):
    return pose((feature,), tuple(Item("", statement) for statement in statements)).findings[0]


def test_an_abnormal_feature_moves_to_the_nearest_end():
    found = finding(HIGH)
    assert (found.status, found.target, found.movable) == (Status.HIGH, 35.0, True)


def test_a_normal_feature_stays():
    found = finding(Feature(35.0, NormalRange(10.0, 35.0)))
    assert (found.status, found.target, found.why_not) == (Status.NORMAL, None, WhyNot.NORMAL)


def test_without_a_range_or_a_guide_nothing_is_known():
    assert finding(Feature(5.0)).why_not is WhyNot.NO_RANGE


def test_a_guide_serves_where_there_is_no_range():
    found = finding(Feature(5.0, guide=8.0))
    assert (found.status, found.target, found.movable) == (Status.UNKNOWN, 8.0, True)


def test_a_guide_that_is_already_met_asks_for_nothing():
    assert finding(Feature(8.0, guide=8.0)).why_not is WhyNot.AT_TARGET


def test_an_immutable_feature_stays():
    assert finding(HIGH, Immutable(0)).why_not is WhyNot.IMMUTABLE


@pytest.mark.parametrize(("way", "why_not"), [(Direction.DECREASE, None), (Direction.INCREASE, WhyNot.DIRECTION)])
def test_a_feature_moves_only_the_allowed_way(way: Direction, why_not: WhyNot | None):
    assert finding(HIGH, Directed(0, way)).why_not is why_not


@pytest.mark.parametrize(("step", "why_not"), [(79.0, None), (78.99, WhyNot.MAX_STEP), (0.0, WhyNot.MAX_STEP)])
def test_a_feature_moves_no_further_than_allowed(step: float, why_not: WhyNot | None):
    assert finding(HIGH, MaxStep(0, step)).why_not is why_not


def test_a_step_is_not_refused_for_its_last_bit():
    """0.3 - 0.2 is 0.09999999999999998, and 0.8 - 0.7 is 0.10000000000000009."""
    assert finding(Feature(0.8, NormalRange(None, 0.7)), MaxStep(0, 0.1)).movable


def test_a_whole_target_is_rounded_into_the_range():
    high = Feature(9.0, NormalRange(1.5, 4.5), whole=True)
    low = Feature(0.0, NormalRange(1.5, 4.5), whole=True)
    middle = Feature(9.0, NormalRange(1.0, 4.0), MoveTo(Policy.MIDPOINT), whole=True)
    assert [finding(feature).target for feature in (high, low, middle)] == [4.0, 2.0, 3.0]


def test_the_number_of_changes_is_bounded_by_what_can_move():
    assert pose((HIGH, HIGH), (Item("", MaxChanges(5)),)).max_size == 2
    assert pose((HIGH, HIGH), (Item("", MaxChanges(0)),)).max_size == 0
