"""Work in turns: each ends when its time is over, when all is done, or when others must go first."""

from collections.abc import Generator

from app.core.memory import Waiting
from app.core.turns import Done, run_through, take_turn


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def steps(clock: Clock, count: int, seconds: float, waits_at: int | None = None) -> Generator[object, None, str]:
    """So many steps of so many seconds."""
    for step in range(count):
        clock.now += seconds
        yield Waiting() if step == waits_at else step
    return "done"


def test_a_turn_ends_with_the_step_in_which_its_time_is_over():
    clock = Clock()
    work = steps(clock, 10, 1.0)
    assert take_turn(work, 2.5, clock) is None
    assert clock.now == 103
    assert take_turn(work, 2.0, clock) is None
    assert clock.now == 105


def test_a_turn_without_time_does_nothing():
    clock = Clock()
    assert take_turn(steps(clock, 3, 1.0), 0.0, clock) is None
    assert clock.now == 100


def test_the_last_turn_tells_what_came_of_the_work():
    clock = Clock()
    work = steps(clock, 3, 1.0)
    assert take_turn(work, 2.0, clock) is None
    assert take_turn(work, 2.0, clock) == Done("done")


def test_a_turn_ends_where_others_must_go_first():
    clock = Clock()
    work = steps(clock, 5, 1.0, waits_at=1)
    assert take_turn(work, 60.0, clock) == Waiting()
    assert clock.now == 102
    assert take_turn(work, 60.0, clock) == Done("done")


def test_all_turns_at_once_come_to_the_same():
    assert run_through(steps(Clock(), 5, 1.0, waits_at=1)) == "done"
