"""What a person cannot or will not do: each type of statement, and what it means as a formula over the changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from typing import Any, NamedTuple

from app.core.formula import TRUE, Changed, Formula, Not, all_of, any_of, at_most, implies, none_of

# The relative tolerance of max_step: a step computed in decimals must not fail because of its last bit.
STEP_TOLERANCE = 1e-9


class Direction(StrEnum):
    """The direction in which a value moves."""

    INCREASE = "increase"
    DECREASE = "decrease"


class State(NamedTuple):
    """What a statement needs to know about a feature: its value, its target, and whether it is abnormal."""

    value: float
    target: float | None
    abnormal: bool

    @property
    def can_change(self) -> bool:
        """Whether the feature has a target other than its value; statements may still forbid the move."""
        return self.target is not None and self.target != self.value

    @property
    def direction(self) -> Direction | None:
        """None if the value is missing."""
        assert self.target is not None
        if isnan(self.value):
            return None
        return Direction.INCREASE if self.target > self.value else Direction.DECREASE


@dataclass(frozen=True, slots=True)
class Immutable:
    """The feature never changes."""

    feature: int


@dataclass(frozen=True, slots=True)
class Directed:
    """The feature moves in this direction or not at all."""

    feature: int
    direction: Direction


@dataclass(frozen=True, slots=True)
class MaxStep:
    """The feature moves by at most `step`."""

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
    """At most `most` features change."""

    most: int


@dataclass(frozen=True, slots=True)
class Stated:
    """A formula that the user wrote."""

    formula: Formula


Statement = Immutable | Directed | MaxStep | Causal | Correlated | Exclusive | Required | MaxChanges | Stated


@dataclass(frozen=True, slots=True)
class Item:
    """One statement, with its path in the constraints, such as `immutable[0]`."""

    path: str
    statement: Statement


def meaning(statement: Statement, states: Sequence[State]) -> Formula:
    """The statement as a formula over the changes. `pose` already excludes features that have no target."""
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
    """Whether a move has the wrong direction or is too long; for numbers, and for arrays of them.

    A move from a missing value (NaN) has no known direction or length, so it goes too far.
    """
    from_nothing = value != value  # noqa: PLR0124
    if isinstance(statement, Directed):
        return from_nothing | ((target > value) != (statement.direction is Direction.INCREASE))
    return from_nothing | (abs(target - value) > statement.step * (1 + STEP_TOLERANCE))


def _normal_after(feature: int, states: Sequence[State]) -> Formula:
    return Changed(feature) if states[feature].abnormal else TRUE


def forbids(statement: Statement, states: Sequence[State]) -> int | None:
    """The feature that this statement keeps from changing, if it concerns one feature and does so."""
    match statement:
        case Immutable(feature) | Directed(feature) | MaxStep(feature):
            return None if meaning(statement, states) == TRUE else feature
    return None
