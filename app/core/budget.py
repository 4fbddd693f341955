"""What a search may spend (rows, answers, time, memory), why it stopped, and a flag that stops it from any thread."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import NamedTuple

from app.core.memory import Memory, Waiting


class StoppedBy(StrEnum):
    """What ended a search before it was done."""

    DEADLINE = "deadline"
    MAX_COUNTERFACTUALS = "max_counterfactuals"
    MAX_MODEL_ROWS = "max_model_rows"
    SHUTDOWN = "shutdown"


class Stopped(Exception):
    """The budget is spent: the search ends here, with what it has."""

    def __init__(self, by: StoppedBy) -> None:
        super().__init__(by)
        self.by = by


class Interrupted(Exception):
    """Another thread ended a call of the model, because it took too long."""


class Limits(NamedTuple):
    """What a request may spend; `max_counterfactuals` None means all of them.

    `auto` asks about subsets size by size, in `rows_by_size` rows at the most (None: all rows). Then it turns to the
    solver, so that a model of many features gets answers of every size before the deadline.
    """

    max_model_rows: int
    deadline_seconds: float
    max_counterfactuals: int | None = None
    rows_by_size: int | None = None


class StopFlag:
    """Tells a search to stop. Any thread may raise it, once; raising it calls the registered interrupts."""

    def __init__(self) -> None:
        self._up = False
        self._interrupts: list[Callable[[], None]] = []

    def is_up(self) -> bool:
        return self._up

    def hoist(self) -> None:
        if not self._up:
            self._up = True
            for interrupt in self._interrupts:
                interrupt()

    def also(self, interrupt: Callable[[], None]) -> None:
        """Call `interrupt` when the flag is raised; at once if it is already up."""
        self._interrupts.append(interrupt)
        if self._up:
            interrupt()


class Budget:
    """What is left of the limits. `clock` measures the time, from `started`; exceeding a limit raises `Stopped`."""

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        started: float,
        stop: StopFlag,
        memory: Memory | None = None,
    ) -> None:
        self.clock = clock
        self.started = started
        self.memory = Memory() if memory is None else memory
        self.most_rows = limits.max_model_rows
        self.rows_left = limits.max_model_rows
        self._rows_by_size = limits.rows_by_size or limits.max_model_rows
        self.answers_left = limits.max_counterfactuals
        self._seconds = limits.deadline_seconds
        self._deadline = started + limits.deadline_seconds
        self.stop = stop

    def check(self) -> None:
        """Raise `Stopped` when the flag is up or the time is over."""
        if (by := self.time_over()) is not None:
            raise Stopped(by)

    def time_over(self) -> StoppedBy | None:
        if self.stop.is_up():
            return StoppedBy.SHUTDOWN
        return StoppedBy.DEADLINE if self.seconds_left() <= 0 else None

    def seconds_left(self) -> float:
        return self._deadline - self.clock()

    def share_left(self) -> float:
        """The share of the time that is left."""
        return self.seconds_left() / self._seconds

    def take_rows(self, wanted: int) -> int:
        """Take rows from the budget: as many of the wanted ones as are left, at least one; `Stopped` if none is."""
        self.check()
        if self.rows_left == 0:
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)
        taken = min(wanted, self.rows_left)
        self.rows_left -= taken
        return taken

    @property
    def rows_left_by_size(self) -> int:
        """How many rows `auto` may still take before it turns to the solver."""
        return min(self.rows_left, self._rows_by_size - (self.most_rows - self.rows_left))

    @contextmanager
    def at_most(self, rows: int) -> Iterator[None]:
        """Spend no more than so many of the rows that are left, while this lasts."""
        set_aside = max(0, self.rows_left - rows)
        self.rows_left -= set_aside
        try:
            yield
        finally:
            self.rows_left += set_aside

    def remember(self, wanted: int, besides: int = 0) -> Iterator[Waiting]:
        """Hold `wanted` bytes, waiting until they are free; `Stopped` if they exceed the limit of one search.

        `besides` are bytes that depend on the model only. They do not grow with the search, so the limit ignores them.
        """
        if wanted > self.memory.most:
            # The memory holds rows, so this is reported as the limit of rows.
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)
        while not self.memory.hold(wanted + besides):
            self.check()
            yield Waiting()

    def take_answers(self, found: int) -> int:
        """Take answers from the budget: as many of the found ones as may still be sent."""
        if self.answers_left is None:
            return found
        taken = min(found, self.answers_left)
        self.answers_left -= taken
        return taken

    def wants_answers(self) -> bool:
        return self.answers_left is None or self.answers_left > 0
