"""Work in turns: a generator that yields wherever other work may run."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.core.memory import Waiting

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The result of the work, after its last turn."""

    result: T


def take_turn(
    steps: Generator[object, None, T], seconds: float, clock: Callable[[], float]
) -> Done[T] | Waiting | None:
    """Continue for `seconds`, until the work is `Done`, or until it is `Waiting` for others; None if time ran out."""
    until = clock() + seconds
    try:
        while clock() < until:
            step = next(steps)
            if isinstance(step, Waiting):
                return step
    except StopIteration as done:
        return Done(done.value)
    return None


def run_through(steps: Generator[object, None, T]) -> T:
    """Run all turns, and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # typeshed does not say what a generator returns
