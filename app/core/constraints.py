"""What a person cannot or will not do: each type of statement, and what it means as a formula over the changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from typing import Any, NamedTuple

from app.core.following.following import Shift
from app.core.formula import TRUE, Changed, Formula, Not, all_of, any_of, at_most, implies, none_of
from app.core.relations.relation import Relation

# The relative tolerance of max_step: a step computed in decimals must not fail because of its last bit.
STEP_TOLERANCE = 1e-9


class Direction(StrEnum):
    """The direction in which a value moves."""

    INCREASE = "increase"
    DECREASE = "decrease"


class State(NamedTuple):
    """What a statement needs to know about a feature: its value, its target, and whether it is abnormal.

    If there is more than one value to move to, `path` has them all: steps on the way, the target last, or, if it
    `chooses`, each a way of its own.
    """

    value: float
    target: float | None
    abnormal: bool
    path: tuple[float, ...] = ()
    chooses: bool = False

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
    """If the cause changes, every effect is normal afterwards; and what is shifted moves along with it."""

    cause: int
    effects: tuple[int, ...]
    shifts: tuple[Shift, ...] = ()


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


Statement = Immutable | Directed | MaxStep | Causal | Correlated | Exclusive | Required | MaxChanges | Stated | Relation


@dataclass(frozen=True, slots=True)
class Item:
    """One statement, with its path in the constraints, such as `immutable[0]`."""

    path: str
    statement: Statement


def meaning(statement: Statement, states: Sequence[State]) -> Formula:
    """The statement as a formula over the changes. `pose` already excludes features that have no target.

    `Changed(i)` means that feature i is changed at all, `at_step(i, k)` that it goes to its step k or farther.
    """
    match statement:
        case Immutable(feature):
            return Not(Changed(feature))
        case Directed(feature) | MaxStep(feature) if states[feature].path:
            reach, steps = reach_of(statement, states[feature]), len(states[feature].path)
            return TRUE if reach == steps else Not(at_step(feature, reach + 1, states))
        case Directed(feature) | MaxStep(feature):
            state = states[feature]
            kept = state.can_change and goes_too_far(statement, state.value, state.target)
            return Not(Changed(feature)) if kept else TRUE
        case Causal(cause, effects, _):
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
        case Relation():
            raise AssertionError("what a relation means depends on the moves: see relations/compiling")


def goes_too_far(statement: Directed | MaxStep, value: Any, target: Any) -> Any:
    """Whether a move has the wrong direction or is too long; for numbers, and for arrays of them.

    A move from a missing value (NaN) has no known direction or length, so it goes too far.
    """
    from_nothing = value != value  # noqa: PLR0124
    if isinstance(statement, Directed):
        return from_nothing | ((target > value) != (statement.direction is Direction.INCREASE))
    return from_nothing | (abs(target - value) > statement.step * (1 + STEP_TOLERANCE))


def reach_of(statement: Directed | MaxStep, state: State) -> int:
    """The last of a feature's steps that the statement leaves to it; 0 if it leaves none."""
    too_far = (goes_too_far(statement, state.value, target) for target in state.path)
    return next((step for step, is_too_far in enumerate(too_far) if is_too_far), len(state.path))


def at_step(feature: int, step: int, states: Sequence[State]) -> Changed:
    """The feature is at this step or farther: positions beyond the last feature stand for further steps."""
    return Changed(feature + (step - 1) * len(states))


def _normal_after(feature: int, states: Sequence[State]) -> Formula:
    state = states[feature]
    if not state.abnormal:
        return TRUE
    return at_step(feature, 1 if state.chooses else max(1, len(state.path)), states)


def forbids(statement: Statement, states: Sequence[State]) -> int | None:
    """The feature that this statement keeps from changing, if it concerns one feature and does so."""
    match statement:
        case Directed(feature) | MaxStep(feature) if states[feature].path:
            return None if reach_of(statement, states[feature]) else feature
        case Immutable(feature) | Directed(feature) | MaxStep(feature):
            return None if meaning(statement, states) == TRUE else feature
    return None
