"""The circuit breaker, by a clock that stands still."""

import pytest

from app.adapters.predictors.breaker import MOST_FAILURES, PAUSE_SECONDS, Breaker
from app.adapters.predictors.failures import PredictorUnavailable


def test_it_opens_after_failures_in_a_row_lets_one_try_and_closes_with_a_success():
    now = [100.0]
    breaker = Breaker(lambda: now[0])
    for _ in range(MOST_FAILURES):
        breaker.check()
        breaker.failed()
    with pytest.raises(PredictorUnavailable) as left_alone:
        breaker.check()
    assert left_alone.value.seconds == PAUSE_SECONDS
    now[0] += PAUSE_SECONDS
    breaker.check()
    with pytest.raises(PredictorUnavailable):
        breaker.check()
    breaker.succeeded()
    breaker.check()


def test_a_success_in_between_starts_the_count_again():
    breaker = Breaker(lambda: 0.0)
    for _ in range(3):
        for _ in range(MOST_FAILURES - 1):
            breaker.failed()
        breaker.check()
        breaker.succeeded()
