"""What a search may spend, and the flag that ends it."""

import pytest

from app.core.budget import Budget, Limits, StopFlag, Stopped, StoppedBy
from app.core.formula import Changed, any_of
from app.core.memory import Memory
from app.core.ranges import ContextError, ContextLacks, ContextNotANumber
from app.core.search.solver import Solver
from app.core.turns import run_through


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Ticking(Clock):
    """Goes on by one whenever somebody looks at it."""

    def __call__(self) -> float:
        self.now += 1
        return self.now


def budget(clock: Clock, rows: int = 10, answers: int | None = None, stop: StopFlag | None = None) -> Budget:
    return Budget(Limits(rows, 5.0, answers), clock, clock.now, stop or StopFlag())


def test_whoever_asked_is_told_once_when_the_flag_goes_up():
    flag, told = StopFlag(), []
    flag.also(lambda: told.append("one"))
    flag.also(lambda: told.append("other"))
    assert not flag.is_up()
    assert told == []
    flag.hoist()
    flag.hoist()
    assert flag.is_up()
    assert told == ["one", "other"]


def test_whoever_asks_when_the_flag_is_up_is_told_at_once():
    flag, told = StopFlag(), []
    flag.hoist()
    flag.also(lambda: told.append("late"))
    assert told == ["late"]


def test_the_time_is_over_when_the_deadline_is_reached():
    clock = Clock()
    spent = budget(clock)
    clock.now = 104.9
    assert spent.time_over() is None
    assert spent.seconds_left() == pytest.approx(0.1)
    spent.check()
    clock.now = 105.0
    assert spent.time_over() is StoppedBy.DEADLINE
    with pytest.raises(Stopped) as stopped:
        spent.check()
    assert stopped.value.by is StoppedBy.DEADLINE


def test_a_flag_that_is_up_comes_before_the_deadline():
    clock, flag = Clock(), StopFlag()
    spent = budget(clock, stop=flag)
    clock.now = 200.0
    flag.hoist()
    assert spent.time_over() is StoppedBy.SHUTDOWN


def test_rows_are_taken_until_none_is_left():
    spent = budget(Clock(), rows=10)
    assert [spent.take_rows(4) for _ in range(3)] == [4, 4, 2]
    with pytest.raises(Stopped) as stopped:
        spent.take_rows(1)
    assert stopped.value.by is StoppedBy.MAX_MODEL_ROWS


def test_answers_are_taken_until_none_is_wanted():
    spent = budget(Clock(), answers=5)
    assert [spent.take_answers(3), spent.wants_answers()] == [3, True]
    assert [spent.take_answers(3), spent.wants_answers()] == [2, False]
    everything = budget(Clock())
    assert [everything.take_answers(1000), everything.wants_answers()] == [1000, True]


@pytest.mark.parametrize("by", StoppedBy)
def test_what_stopped_a_search_is_its_text_too(by: StoppedBy):
    """So a log that holds nothing else tells it."""
    assert (Stopped(by).by, str(Stopped(by))) == (by, by.value)


@pytest.mark.parametrize("kind", [ContextLacks, ContextNotANumber])
def test_the_fact_that_a_range_lacks_is_the_text_of_the_error_too(kind: type[ContextError]):
    assert (kind("sex").key, str(kind("sex"))) == ("sex", "sex")


def test_the_time_of_the_solver_is_counted():
    """By a clock that goes on with every look: each question takes some of it."""
    solver = Solver(2, Budget(Limits(0, 10**6), Ticking(), 0.0, StopFlag()))
    (literal,) = run_through(solver.read([any_of(Changed(0), Changed(1))]))
    solver.add([literal])
    reading = solver.seconds
    assert reading > 0
    assert run_through(solver.satisfiable())
    assert solver.seconds > reading
    assert solver.checks == 1


def test_exactly_as_many_bytes_as_a_search_may_hold_are_held():
    memory = Memory(100)
    spent = Budget(Limits(10, 5.0), Clock(), 100.0, StopFlag(), memory)
    assert list(spent.remember(100, besides=7)) == []
    assert memory.held == 107
    assert list(spent.remember(100)) == []
    assert memory.held == 100
    with pytest.raises(Stopped) as stopped:
        list(spent.remember(101))
    assert stopped.value.by is StoppedBy.MAX_MODEL_ROWS
    assert memory.held == 100
