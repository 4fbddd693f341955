"""Learned intervals are those of published worked examples, to the digits given."""

from itertools import pairwise

import numpy as np
import pytest

from app.onboarding.learning.intervals import Method, reference_interval
from app.onboarding.learning.order_statistics import percentile, ranks
from app.onboarding.learning.partitions import differ
from app.onboarding.learning.robust import robust_limits
from tests.onboarding.learning.published import APPENDIX_B, BOD, MEN, TABLE_8, WOMEN


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [(WOMEN, 8.9, 10.2), (MEN, 9.2, 10.3), (np.concatenate([WOMEN, MEN]), 9.1, 10.3)],
    ids=["women", "men", "all"],
)
def test_the_limits_of_calcium_are_those_of_the_guideline(values: np.ndarray, low: float, high: float):
    interval = reference_interval(values)
    assert interval.method is Method.NONPARAMETRIC
    assert interval.outliers == 0
    assert (round(interval.low.value, 1), round(interval.high.value, 1)) == (low, high)


def test_their_confidence_intervals_are_those_of_the_guideline():
    interval = reference_interval(np.concatenate([WOMEN, MEN]))
    assert (interval.low.low, interval.low.high) == (8.9, 9.2)
    assert (interval.high.low, interval.high.high) == (10.3, 10.4)


def test_women_and_men_are_kept_apart():
    assert differ([WOMEN, MEN])
    assert not differ([WOMEN[::2], WOMEN[1::2]])


def test_the_robust_limits_are_those_of_appendix_b():
    low, high = robust_limits(APPENDIX_B, (0.025, 0.975))
    assert (round(low.value, 2), round(high.value, 2)) == (9.05, 10.20)


def test_the_robust_limits_are_those_of_another_implementation():
    """To the digits that the tests of the R package mcradds 1.1.1 give for `robustRI` and `refInterval`."""
    assert [limit.value for limit in robust_limits(APPENDIX_B, (0.025, 0.975))] == pytest.approx(
        [9.049545, 10.199396], abs=1e-6
    )
    low, high = robust_limits(np.concatenate([WOMEN, MEN]), (0.025, 0.975))
    assert [low.value, high.value] == pytest.approx([9.038892, 10.315612], abs=2e-6)
    # Its bootstrap draws others: the intervals agree as well as two bootstraps do.
    assert [low.low, low.high] == pytest.approx([8.980622, 9.097574], abs=0.01)
    assert [high.low, high.high] == pytest.approx([10.25782, 10.37414], abs=0.01)


def test_every_rank_is_that_of_table_8():
    for (first, lower, upper), (beyond, _, _) in pairwise([*TABLE_8, (1001, 0, 0)]):
        for count in range(first, beyond):
            assert ranks(count, 0.025) == (lower, upper)
            assert ranks(count, 0.975) == (count + 1 - upper, count + 1 - lower)


def test_a_percentile_between_two_ranks_is_that_of_a_textbook():
    assert len(BOD) == 575
    assert round(percentile(BOD, 0.99).value) == 7171
