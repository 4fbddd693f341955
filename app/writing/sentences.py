"""Changes as a person would say them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from app.core.constraints import Direction

VERBS = {None: "change", Direction.INCREASE: "raise", Direction.DECREASE: "lower"}


class Spoken(Protocol):
    """What a sentence says of one change: at its beginning, and further on."""

    @property
    def first(self) -> str: ...

    @property
    def further(self) -> str: ...


class Clause(NamedTuple):
    """The same, and no more than that."""

    first: str
    further: str


def clause_of(direction: Direction | None, feature: str, before: str | None, after: str) -> Clause:
    """A change from one value to another; `before` is None where the value is missing."""
    if before is None:
        return Clause(f"Provide {feature}: {after} (now missing)", f"provide {feature}: {after} (now missing)")
    verb, rest = VERBS[direction], f" {feature} from {before} to {after}"
    return Clause(f"{verb.capitalize()}{rest}", f"{verb}{rest}")


def sentence_of(made: Sequence[Spoken]) -> str:
    """All of the changes."""
    if not made:
        return "Change nothing."
    if len(made) == 1:
        return f"{made[0].first}."
    if len(made) == 2:
        return f"{made[0].first} and {made[1].further}."
    between = ", ".join([clause.further for clause in made[1:-1]])
    return f"{made[0].first}, {between} and {made[-1].further}."
