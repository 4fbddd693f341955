"""Normal ranges, targets and conditions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.ranges import (
    Allowed,
    ConditionalRange,
    ContextLacks,
    ContextNotANumber,
    Equals,
    IfMissing,
    MoveTo,
    NormalRange,
    Policy,
    Status,
    choose,
    whole_target,
)

numbers = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("value", "status"),
    [(9.999, Status.LOW), (10.0, Status.NORMAL), (20.0, Status.NORMAL), (35.0, Status.NORMAL), (35.001, Status.HIGH)],
)
def test_the_ends_of_a_range_are_normal(value: float, status: Status):
    assert NormalRange(10.0, 35.0).status(value) is status


def test_an_open_side_has_no_end():
    assert NormalRange(None, 35.0).status(-1e300) is Status.NORMAL
    assert NormalRange(10.0, None).status(1e300) is Status.NORMAL


def test_a_point_is_a_range():
    assert NormalRange(5.0, 5.0).status(5.0) is Status.NORMAL
    assert NormalRange(5.0, 5.0).flaw() is None


@pytest.mark.parametrize(
    ("move_to", "low", "high"),
    [
        (MoveTo(Policy.NEAREST), 10.0, 35.0),
        (MoveTo(Policy.MIDPOINT), 22.5, 22.5),
        (MoveTo(Policy.MARGIN, 0.1), 10.1, 34.9),
        (MoveTo(Policy.VALUE, 30.0), 30.0, 30.0),
    ],
)
def test_where_an_abnormal_value_goes(move_to: MoveTo, low: float, high: float):
    normal = NormalRange(10.0, 35.0)
    assert move_to.target(normal, Status.LOW) == low
    assert move_to.target(normal, Status.HIGH) == high


def test_a_margin_is_taken_off_in_decimals():
    """In binary 0.3 - 0.1 is 0.19999999999999998, which nobody wants to read."""
    assert MoveTo(Policy.MARGIN, 0.1).target(NormalRange(None, 0.3), Status.HIGH) == 0.2


@pytest.mark.parametrize(
    ("move_to", "normal"),
    [
        (MoveTo(Policy.MIDPOINT), NormalRange(10.0, None)),
        (MoveTo(Policy.MARGIN, -1.0), NormalRange(10.0, 35.0)),
        (MoveTo(Policy.MARGIN, 12.51), NormalRange(10.0, 35.0)),
        (MoveTo(Policy.VALUE, 36.0), NormalRange(10.0, 35.0)),
        (MoveTo(Policy.MARGIN, 1e308), NormalRange(1.7e308, None)),
    ],
)
def test_a_policy_that_does_not_fit_its_range_says_so(move_to: MoveTo, normal: NormalRange):
    assert move_to.flaw(normal)


@given(low=numbers, width=st.floats(0, 1e6), share=st.floats(0, 0.5), value=numbers)
def test_every_target_is_normal(low: float, width: float, share: float, value: float):
    normal = NormalRange(low, low + width)
    status = normal.status(value)
    for move_to in (MoveTo(), MoveTo(Policy.MIDPOINT), MoveTo(Policy.MARGIN, share * width)):
        if status is not Status.NORMAL and not move_to.flaw(normal):
            assert normal.status(move_to.target(normal, status)) is Status.NORMAL


@given(low=numbers, width=st.floats(1, 1e6), value=numbers)
def test_a_whole_target_is_whole_and_normal(low: float, width: float, value: float):
    normal = NormalRange(low, low + width)
    status = normal.status(value)
    if status is not Status.NORMAL:
        target = whole_target(MoveTo().target(normal, status), normal)
        assert target == int(target)
        assert normal.status(target) is Status.NORMAL


FEMALE = ConditionalRange(NormalRange(10.0, 35.0), {"sex": Equals("female")})
MALE = ConditionalRange(NormalRange(10.0, 50.0), {"sex": Equals("male")})
YOUNG = ConditionalRange(NormalRange(1.0, 2.0), {"age": NormalRange(18.0, 49.0)})
OLD_MAN = ConditionalRange(NormalRange(3.0, 4.0), {"age": NormalRange(50.0, None), "sex": Equals("male")})
ALL = ConditionalRange(NormalRange(10.0, 40.0), {})


def test_the_first_range_that_fits_is_chosen():
    assert choose([FEMALE, MALE, ALL], {"sex": "male"}) is MALE
    assert choose([ALL, MALE], {"sex": "male"}) is ALL


def test_a_fallback_serves_those_of_whom_nothing_is_known():
    assert choose([FEMALE, MALE, ALL], {}) is ALL
    assert choose([FEMALE, MALE, ALL], {"sex": "other"}) is ALL


def test_without_a_fallback_the_lacking_fact_is_named():
    with pytest.raises(ContextLacks) as lacks:
        choose([FEMALE, MALE], {"age": 41})
    assert lacks.value.key == "sex"


def test_a_person_who_fits_no_range_has_none():
    assert choose([FEMALE, MALE], {"sex": "other"}) is None


@pytest.mark.parametrize(("age", "chosen"), [(17.9, None), (18, YOUNG), (49, YOUNG), (49.5, None)])
def test_the_ends_of_a_condition_are_included(age: float, chosen: ConditionalRange | None):
    assert choose([YOUNG], {"age": age}) is chosen


def test_all_conditions_must_hold():
    assert choose([OLD_MAN, ALL], {"age": 60, "sex": "male"}) is OLD_MAN
    assert choose([OLD_MAN, ALL], {"age": 60, "sex": "female"}) is ALL


def test_a_fact_that_rules_a_range_out_spares_the_others():
    """A woman's age does not matter to a range for men."""
    assert choose([OLD_MAN], {"sex": "female"}) is None


@pytest.mark.parametrize("age", ["41", True, None])
def test_an_interval_needs_a_number(age: object):
    with pytest.raises(ContextNotANumber):
        choose([YOUNG], {"age": age})


def test_true_is_not_one():
    pregnant = ConditionalRange(NormalRange(1.0, 2.0), {"pregnant": Equals(True)})
    assert choose([pregnant], {"pregnant": True}) is pregnant
    assert choose([pregnant], {"pregnant": 1}) is None


@pytest.mark.parametrize(
    ("normal", "flaw"),
    [
        (NormalRange(None, None), "needs a low, a high, or both"),
        (NormalRange(3.0, 2.0), "low is above high"),
        (NormalRange(2.0, 3.0), None),
        (NormalRange(2.0, 2.0), None),
        (NormalRange(2.0, None), None),
        (NormalRange(None, 2.0), None),
    ],
)
def test_what_is_wrong_with_a_range(normal: NormalRange, flaw: str | None):
    assert normal.flaw() == flaw


@pytest.mark.parametrize(
    ("move_to", "normal", "flaw"),
    [
        (MoveTo(Policy.MIDPOINT), NormalRange(10.0, None), "midpoint needs a range with a low and a high"),
        (MoveTo(Policy.MIDPOINT), NormalRange(None, 35.0), "midpoint needs a range with a low and a high"),
        (MoveTo(Policy.MIDPOINT), NormalRange(10.0, 35.0), None),
        (MoveTo(Policy.MARGIN, -0.1), NormalRange(10.0, None), "margin must not be negative"),
        (MoveTo(Policy.MARGIN, 0.0), NormalRange(10.0, 35.0), None),
        (MoveTo(Policy.MARGIN, 12.5), NormalRange(10.0, 35.0), None),
        (MoveTo(Policy.MARGIN, 12.51), NormalRange(10.0, 35.0), "margin is more than half the width of the range"),
        # In binary 0.3 - 0.1 is less than twice 0.1.
        (MoveTo(Policy.MARGIN, 0.1), NormalRange(0.1, 0.3), None),
        (MoveTo(Policy.MARGIN, 1e6), NormalRange(10.0, None), None),
        (
            MoveTo(Policy.MARGIN, 1e308),
            NormalRange(1.7e308, None),
            "margin is too large: the target would not be finite",
        ),
        (MoveTo(Policy.VALUE, 9.99), NormalRange(10.0, 35.0), "value lies outside the range"),
        (MoveTo(Policy.VALUE, 35.0), NormalRange(10.0, 35.0), None),
        (MoveTo(), NormalRange(10.0, None), None),
    ],
)
def test_what_is_wrong_with_a_policy(move_to: MoveTo, normal: NormalRange, flaw: str | None):
    assert move_to.flaw(normal) == flaw


OPEN_SIDE = "a missing value is neither low nor high, and the range has a target for each: give a value"


@pytest.mark.parametrize(
    ("if_missing", "normal", "move_to", "flaw"),
    [
        (IfMissing(9.0), NormalRange(10.0, 35.0), MoveTo(), "value lies outside the range"),
        (IfMissing(10.0), NormalRange(10.0, 35.0), MoveTo(), None),
        (IfMissing(1.0), Allowed((0.0, 2.0)), MoveTo(), "value is not one of the allowed values"),
        (IfMissing(2.0), Allowed((0.0, 2.0)), MoveTo(), None),
        (IfMissing(), Allowed((0.0, 2.0)), MoveTo(), None),
        (IfMissing(), NormalRange(10.0, 35.0), MoveTo(), OPEN_SIDE),
        (IfMissing(), NormalRange(10.0, 35.0), MoveTo(Policy.MIDPOINT), None),
        (IfMissing(), NormalRange(10.0, None), MoveTo(), None),
        (IfMissing(), NormalRange(None, 35.0), MoveTo(), None),
    ],
)
def test_what_is_wrong_with_the_word_on_a_missing_value(
    if_missing: IfMissing, normal: NormalRange | Allowed, move_to: MoveTo, flaw: str | None
):
    assert if_missing.flaw(normal, move_to) == flaw


def test_a_category_is_normal_where_it_is_one_of_the_allowed_ones():
    assert [Allowed((2.0, 0.0)).status(code) for code in (0.0, 1.0, 2.0)] == [
        Status.NORMAL,
        Status.NOT_ALLOWED,
        Status.NORMAL,
    ]


def test_no_target_is_a_negative_nought():
    """It would be printed as -0."""
    for status in (Status.LOW, Status.HIGH):
        assert str(MoveTo().target(NormalRange(-0.0, -0.0), status)) == "0.0"
