"""The mean over people: what it rests on, and an interval that means what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.paper.measures.means import mean
from lab.paper.results import Mean


def test_with_nobody_to_rest_on_there_is_no_mean():
    assert mean([]) == mean([None, None]) == Mean(None, None, None, 0)


def test_of_one_person_the_interval_is_the_value():
    assert mean([None, 0.7]) == Mean(0.7, 0.7, 0.7, 1)


def test_those_who_have_no_value_are_left_out():
    found = mean([1.0, None, 2.0, 6.0, None])
    assert (found.value, found.people) == (3.0, 3)
    assert found == mean([1.0, 2.0, 6.0])


def test_equal_values_leave_no_doubt():
    found = mean([0.1] * 7)
    assert found.low == pytest.approx(0.1)
    assert found.high == pytest.approx(0.1)


def test_of_two_people_the_interval_is_from_one_to_the_other():
    """A quarter of the draws holds only the one, a quarter only the other: more than 2.5 % at either end."""
    assert mean([0.0, 1.0]) == Mean(0.5, 0.0, 1.0, 2)


def test_the_same_values_give_the_same_interval():
    values = np.random.default_rng(1).normal(size=30).tolist()
    assert mean(values) == mean(values)


def test_what_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="finite"):
        mean([1.0, float("nan")])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
def test_the_interval_holds_the_mean(values):
    found = mean(values)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high


def test_the_interval_of_normal_samples_covers_the_truth_nearly_19_times_in_20():
    """The percentile bootstrap is a little too sure of small samples: 94 % at 40 people. Bounds by 4 deviations."""
    samples = np.random.default_rng(2).normal(3.0, 2.0, size=(150, 40))
    found = [mean(sample.tolist()) for sample in samples]
    covered = np.mean([one.low <= 3.0 <= one.high for one in found])
    assert 0.86 <= covered <= 1.0


def test_the_interval_narrows_with_the_root_of_the_number_of_people():
    values = np.random.default_rng(3).normal(size=400).tolist()
    wide, narrow = mean(values[:100]), mean(values)
    # 1.96 standard errors either side: 3.92 / sqrt(400) = 0.196.
    assert narrow.high - narrow.low == pytest.approx(0.196, rel=0.15)
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(2, rel=0.25)
