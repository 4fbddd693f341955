"""A second check of every statement, one set of changes at a time, independent of the engines and their formulas.

`Answer` sends no answer that has not passed it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan

from app.core.constraints import (
    STEP_TOLERANCE,
    Causal,
    Correlated,
    Directed,
    Direction,
    Exclusive,
    Immutable,
    MaxChanges,
    MaxStep,
    Required,
    State,
    Stated,
    Statement,
)
from app.core.following.following import Following
from app.core.formula import Changed, Constant, Count, Formula, Not, Odd
from app.core.relations.relation import Relation

# Where changes lead that do not lead to the target.
Reached = Mapping[int, float]
NOWHERE_ELSE: Reached = {}


@dataclass(frozen=True, slots=True)
class Row:
    """A changed row: the features that a plan changes, where they lead, and the values of all that follows."""

    changed: frozenset[int]
    reached: Reached
    states: Sequence[State]
    following: Following | None = None
    follows: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, changed: frozenset[int], reached: Reached, states: Sequence[State], following: Following | None
    ) -> "Row":
        """With what follows from these changes."""
        plain = cls(changed, reached, states)
        if following is None:
            return plain
        follows = {feature: float(value) for feature, value in following.after(plain.own).items()}
        return cls(changed, reached, states, following, follows)

    def own(self, feature: int) -> float:
        """Where a feature is by a change of its own."""
        state = self.states[feature]
        return self.reached.get(feature, _target(state)) if feature in self.changed else state.value

    def value(self, feature: int) -> float:
        return self.follows[feature] if feature in self.follows else self.own(feature)

    def has_moved(self, feature: int) -> bool:
        """Whether a feature has another value, by its own change or as a consequence."""
        before, after = self.states[feature].value, self.value(feature)
        return before != after and not (isnan(before) and isnan(after))

    def is_normal(self, feature: int) -> bool:
        state = self.states[feature]
        if feature in self.follows and feature not in self.changed:
            return self._follows_into_range(feature, state)
        stops_short = not state.chooses and self.reached.get(feature, state.target) != state.target
        return not state.abnormal or (feature in self.changed and not stops_short)

    def _follows_into_range(self, feature: int, state: State) -> bool:
        assert self.following is not None
        (low, high), value = self.following.ranges.get(feature, (None, None)), self.follows[feature]
        if isnan(value) or (low is None and high is None):
            return not state.abnormal
        return (low is None or value >= low) and (high is None or value <= high)

    def may_follow(self, feature: int) -> bool:
        """Whether what has moved an immutable feature, if anything has, may do so."""
        if self.following is None or not self.has_moved(feature):
            return True
        shifts = self.following.shifts.get(feature, ())
        return bool(shifts) and all(shift.even_if_immutable or not self.has_moved(shift.cause) for shift in shifts)


def obeys(
    changed: frozenset[int], statement: Statement, states: Sequence[State], reached: Reached = NOWHERE_ELSE
) -> bool:
    """Whether this set of changes (positions of features) satisfies a statement, where nothing follows."""
    return obeyed(Row(changed, reached, states), statement)


def obeyed(row: Row, statement: Statement) -> bool:
    """Whether a changed row satisfies a statement."""
    changed, states = row.changed, row.states
    match statement:
        case Immutable(feature):
            return feature not in changed and row.may_follow(feature)
        case Directed(feature) | MaxStep(feature) if not row.has_moved(feature):
            return True
        case Directed(feature, direction):
            value, now = states[feature].value, row.value(feature)
            return now > value if direction is Direction.INCREASE else now < value
        case MaxStep(feature, step):
            return abs(row.value(feature) - states[feature].value) <= step * (1 + STEP_TOLERANCE)
        case Causal(cause, effects):
            return cause not in changed or all(map(row.is_normal, effects))
        case Correlated(features):
            abnormal = {feature for feature in features if states[feature].abnormal}
            return abnormal <= changed or not abnormal & changed
        case Exclusive(features):
            return len(changed.intersection(features)) <= 1
        case Required(feature):
            return row.is_normal(feature)
        case MaxChanges(most):
            return len(changed) <= most
        case Stated(formula):
            return _is_true(formula, changed)
        case Relation():
            return bool(statement.holds(row.value))


def _target(state: State) -> float:
    assert state.target is not None
    return state.target


def _is_true(formula: Formula, changed: frozenset[int]) -> bool:
    match formula:
        case Constant(value):
            return value
        case Changed(position):
            return position in changed
        case Not(part):
            return not _is_true(part, changed)
        case Odd(parts):
            return sum(_is_true(part, changed) for part in parts) % 2 == 1
        case Count(low, high, parts):
            return low <= sum(_is_true(part, changed) for part in parts) <= high
