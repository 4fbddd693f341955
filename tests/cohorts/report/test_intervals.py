"""The intervals, held against the published examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cohorts.report.counting.intervals import Interval, Part, newcombe, wilson

# Newcombe (1998), Interval estimation for the difference between independent proportions, Statistics in Medicine 17,
# 873-890, table II, method 10: the score intervals without correction for continuity.
DIFFERENCES = [
    (Part(56, 70), Part(48, 80), 0.0524, 0.3339),
    (Part(9, 10), Part(3, 10), 0.1705, 0.8090),
    (Part(6, 7), Part(2, 7), 0.0582, 0.8062),
    (Part(5, 56), Part(0, 29), -0.0381, 0.1926),
    (Part(0, 10), Part(0, 20), -0.1611, 0.2775),
    (Part(0, 10), Part(0, 10), -0.2775, 0.2775),
    (Part(10, 10), Part(0, 20), 0.6791, 1.0000),
    (Part(10, 10), Part(0, 10), 0.6075, 1.0000),
]
# Newcombe (1998), Two-sided confidence intervals for the single proportion, the same volume, 857-872, table I,
# method 3.
SHARES = [
    (Part(81, 263), 0.2553, 0.3662),
    (Part(15, 148), 0.0624, 0.1605),
    (Part(0, 20), 0.0000, 0.1611),
    (Part(1, 29), 0.0061, 0.1718),
]

parts = st.integers(1, 10**6).flatmap(lambda of: st.builds(Part, st.integers(0, of), st.just(of)))


@pytest.mark.parametrize(("part", "low", "high"), SHARES)
def test_a_share_has_the_interval_that_is_published(part: Part, low: float, high: float):
    found = wilson(part)
    assert found.value == part.share
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("one", "other", "low", "high"), DIFFERENCES)
def test_a_difference_has_the_interval_that_is_published(one: Part, other: Part, low: float, high: float):
    found = newcombe(one, other)
    assert found.value == one.share - other.share
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@given(parts)
def test_the_interval_of_a_share_holds_it_and_stays_possible(part: Part):
    found = wilson(part)
    assert 0 <= found.low <= found.value <= found.high <= 1


@given(parts, parts)
def test_a_difference_seen_from_the_other_side_is_its_mirror_image(one: Part, other: Part):
    found, mirrored = newcombe(one, other), newcombe(other, one)
    assert tuple(found) == pytest.approx((-mirrored.value, -mirrored.high, -mirrored.low), abs=1e-12)
    assert -1 - 1e-12 <= found.low <= found.value <= found.high <= 1 + 1e-12


@pytest.mark.parametrize(
    ("low", "high", "clear"), [(0.1, 0.2, True), (-0.2, -0.1, True), (0.0, 0.2, False), (-1, 1, False)]
)
def test_an_interval_that_touches_nought_does_not_leave_it_out(low: float, high: float, clear: bool):
    assert Interval((low + high) / 2, low, high).excludes_nought is clear
