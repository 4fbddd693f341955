"""What a person cannot or will not do: each kind of statement, and what it means as a formula (method, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from app.core.formula import (
    TRUE,
    Changed,
    Formula,
    Not,
    all_of,
    any_of,
    at_most,
    implies,
    none_of,
)

# max_step is compared with this much grace, so that a step computed in decimals is not refused for its last bit.
STEP_TOLERANCE = 1e-9


class Direction(StrEnum):
    """The way a value moves."""

    INCREASE = "increase"
    DECREASE = "decrease"


class State(NamedTuple):
    """What the statements need to know of a feature: its value, its target, and whether it is abnormal."""

    value: float
    target: float | None
    abnormal: bool

    @property
    def can_change(self) -> bool:
        """Whether there is somewhere to go; what forbids it is the statements' business."""
        return self.target is not None and self.target != self.value

    @property
    def direction(self) -> Direction:
        assert self.target is not None
        return Direction.INCREASE if self.target > self.value else Direction.DECREASE


@dataclass(frozen=True, slots=True)
class Immutable:
    """The feature never changes."""

    feature: int


@dataclass(frozen=True, slots=True)
class Directed:
    """The feature moves this way or not at all."""

    feature: int
    direction: Direction


@dataclass(frozen=True, slots=True)
class MaxStep:
    """The feature moves so far at the most."""

    feature: int
    step: float


@dataclass(frozen=True, slots=True)
class Causal:
    """If the cause changes, every effect is normal afterwards."""

    cause: int
    effects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Correlated:
    """The abnormal ones among the features change all together or not at all."""

    features: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exclusive:
    """At most one of the features changes."""

    features: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Required:
    """The feature is normal afterwards."""

    feature: int


@dataclass(frozen=True, slots=True)
class MaxChanges:
    """So many features change at the most."""

    most: int


@dataclass(frozen=True, slots=True)
class Stated:
    """A formula of the user's own."""

    formula: Formula


Statement = Immutable | Directed | MaxStep | Causal | Correlated | Exclusive | Required | MaxChanges | Stated


@dataclass(frozen=True, slots=True)
class Item:
    """One statement, and the path that it has where it was made."""

    path: str
    statement: Statement


def meaning(statement: Statement, states: Sequence[State]) -> Formula:
    """What a statement asks of the changes. A feature with nowhere to go is never changed: that is said elsewhere."""
    match statement:
        case Immutable(feature):
            return Not(Changed(feature))
        case Directed(feature) | MaxStep(feature):
            state = states[feature]
            kept = state.can_change and goes_too_far(statement, state.value, state.target)
            return Not(Changed(feature)) if kept else TRUE
        case Causal(cause, effects):
            return all_of(*(implies(Changed(cause), _normal_after(effect, states)) for effect in effects))
        case Correlated(features):
            together = [Changed(feature) for feature in features if states[feature].abnormal]
            return any_of(all_of(*together), none_of(*together))
        case Exclusive(features):
            return at_most(1, tuple(Changed(feature) for feature in features))
        case Required(feature):
            return _normal_after(feature, states)
        case MaxChanges(most):
            return at_most(most, tuple(Changed(position) for position in range(len(states))))
        case Stated(formula):
            return formula


def goes_too_far(statement: Directed | MaxStep, value: Any, target: Any) -> Any:
    """Whether the move from a value to another target is the wrong way or too long: for numbers, and arrays of them."""
    if isinstance(statement, Directed):
        return (target > value) != (statement.direction is Direction.INCREASE)
    return abs(target - value) > statement.step * (1 + STEP_TOLERANCE)


def _normal_after(feature: int, states: Sequence[State]) -> Formula:
    return Changed(feature) if states[feature].abnormal else TRUE


def forbids(statement: Statement, states: Sequence[State]) -> int | None:
    """The feature that a statement about one feature keeps from changing, if it does."""
    match statement:
        case Immutable(feature) | Directed(feature) | MaxStep(feature):
            return None if meaning(statement, states) == TRUE else feature
    return None
