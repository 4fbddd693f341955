"""A second check of every statement, one set of changes at a time, independent of the engines and their formulas.

`Answer` sends no answer that has not passed it.
"""

from collections.abc import Sequence

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
from app.core.formula import Changed, Constant, Count, Formula, Not, Odd


def obeys(changed: frozenset[int], statement: Statement, states: Sequence[State]) -> bool:
    """Whether this set of changes (positions of features) satisfies a statement."""
    match statement:
        case Immutable(feature):
            return feature not in changed
        case Directed(feature, direction):
            if feature not in changed:
                return True
            value, target = states[feature].value, _target(states[feature])
            return target > value if direction is Direction.INCREASE else target < value
        case MaxStep(feature, step):
            moved = abs(_target(states[feature]) - states[feature].value) if feature in changed else 0
            return moved <= step * (1 + STEP_TOLERANCE)
        case Causal(cause, effects):
            return cause not in changed or all(_is_normal(effect, changed, states) for effect in effects)
        case Correlated(features):
            abnormal = {feature for feature in features if states[feature].abnormal}
            return abnormal <= changed or not abnormal & changed
        case Exclusive(features):
            return len(changed.intersection(features)) <= 1
        case Required(feature):
            return _is_normal(feature, changed, states)
        case MaxChanges(most):
            return len(changed) <= most
        case Stated(formula):
            return _is_true(formula, changed)


def _is_normal(feature: int, changed: frozenset[int], states: Sequence[State]) -> bool:
    return not states[feature].abnormal or feature in changed


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
