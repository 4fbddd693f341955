"""How much a search may spend, and why it stopped: rows, answers, time, and a flag that anyone may raise."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


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
    """A call of the model was ended from outside, because nobody could wait for it any longer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may spend; `max_counterfactuals` None means all of them."""

    max_model_rows: int
    deadline_seconds: float
    max_counterfactuals: int | None = None


class StopFlag:
    """Raised once, from any thread, by whoever no longer wants the answer; it also interrupts a solver at work."""

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
        """Call this too when the flag is raised; at once if it already is."""
        self._interrupts.append(interrupt)
        if self._up:
            interrupt()


class Budget:
    """What is left of the limits. Time runs on the clock it is given, from the moment `started`."""

    def __init__(self, limits: Limits, clock: Callable[[], float], started: float, stop: StopFlag) -> None:
        self.clock = clock
        self.most_rows = limits.max_model_rows
        self.rows_left = limits.max_model_rows
        self.answers_left = limits.max_counterfactuals
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

    def take_rows(self, wanted: int) -> int:
        """How many of the wanted rows may be scored now; at least one, or `Stopped`."""
        self.check()
        if self.rows_left == 0:
            raise Stopped(StoppedBy.MAX_MODEL_ROWS)
        taken = min(wanted, self.rows_left)
        self.rows_left -= taken
        return taken

    def take_answers(self, found: int) -> int:
        """How many of the answers found may be told."""
        if self.answers_left is None:
            return found
        taken = min(found, self.answers_left)
        self.answers_left -= taken
        return taken

    def wants_answers(self) -> bool:
        return self.answers_left is None or self.answers_left > 0
