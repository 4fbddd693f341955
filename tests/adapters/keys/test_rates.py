"""How often a key may ask: held against a bucket that is filled drop by drop, and against the definition."""

import os

from hypothesis import given
from hypothesis import strategies as st

from app.adapters.keys.rates import MINUTE, Rate, RateMeter, counted

rates = st.builds(Rate, st.integers(1, 100_000), st.integers(1, 50))
pauses = st.lists(st.integers(0, MINUTE // 4), max_size=60)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 10 * MINUTE

    def __call__(self) -> int:
        return self.now


def meter_with_a_clock() -> tuple[RateMeter, Clock]:
    clock = Clock()
    return RateMeter(clock=clock), clock


@given(rates, pauses)
def test_it_lets_through_what_a_bucket_of_requests_would(rate: Rate, pauses: list[int]):
    """The bucket holds a burst of requests, and one more drops in each interval."""
    due, now, bucket = 0, 10 * MINUTE, rate.burst * rate.interval
    for pause in pauses:
        now += pause
        bucket = min(rate.burst * rate.interval, bucket + pause)
        due, early = counted(due, now, rate)
        assert (early == 0) == (bucket >= rate.interval)
        if not early:
            bucket -= rate.interval


@given(rates, pauses)
def test_no_stretch_of_time_sees_more_than_the_burst_and_its_share(rate: Rate, pauses: list[int]):
    due, now, passed = 0, 10 * MINUTE, []
    for pause in pauses:
        now += pause
        due, early = counted(due, now, rate)
        passed += [] if early else [now]
    for first, start in enumerate(passed):
        for count, end in enumerate(passed[first:], start=1):
            assert count <= rate.burst + (end - start) // rate.interval


@given(rates, pauses)
def test_who_waits_as_long_as_told_is_let_through_and_not_a_moment_sooner(rate: Rate, pauses: list[int]):
    due, now = 0, 10 * MINUTE
    for pause in [*pauses, *[0] * rate.burst]:
        now += pause
        due, early = counted(due, now, rate)
        if early:
            assert counted(due, now + early - 1, rate)[1] == 1
            assert counted(due, now + early, rate)[1] == 0


def test_a_meter_counts_each_key_for_itself():
    meter, clock = meter_with_a_clock()
    rate = Rate(60, 2)
    assert [meter.wait("a", rate) for _ in range(3)] == [0, 0, MINUTE // 60]
    assert meter.wait("b", rate) == 0
    clock.now += MINUTE // 60
    assert [meter.wait("a", rate) for _ in range(2)] == [0, MINUTE // 60]


def test_meters_in_the_same_memory_count_together():
    descriptor = os.memfd_create("rates")
    clock = Clock()
    one, other = RateMeter(os.dup(descriptor), clock), RateMeter(os.dup(descriptor), clock)
    waits = [meter.wait("a", Rate(1, 3)) for meter in (one, other, one, other, one)]
    assert waits == [0, 0, 0, MINUTE, MINUTE]


def test_a_meter_takes_little_memory_for_many_keys():
    descriptor = os.memfd_create("rates")
    meter = RateMeter(descriptor, Clock())
    assert not any(meter.wait(f"key-{number}", Rate(1, 1)) for number in range(1_000))
    assert os.fstat(descriptor).st_blocks * 512 <= 1_000 * 4096
