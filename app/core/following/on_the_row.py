"""What constraints ask of features that follow from others: it is judged on the changed row, consequences included."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from app.core.constraints import Causal, Directed, Immutable, MaxStep, Required, State, Statement, goes_too_far, meaning
from app.core.following.following import Following, ValueOf
from app.core.formula import Changed, Formula, all_of, implies, substituted
from app.core.relations.compiling import Judge
from app.core.relations.relation import Relation

# A formula over the moves for what is judged by the values of some features; and for one over the features.
Tabulated = Callable[[Sequence[int], Judge], Formula]
OverMoves = Callable[[Formula], Formula]


def speaks_of(statement: Statement, following: Following | None) -> list[int]:
    """The features that follow from others of which the statement asks something."""
    if following is None:
        return []
    match statement:
        case Immutable(feature) | Directed(feature) | MaxStep(feature) | Required(feature):
            return [feature] if feature in following else []
        case Causal(_, effects, _):
            return [effect for effect in effects if effect in following]
    return []


def tables_of(statement: Statement, following: Following | None) -> list[Sequence[int]]:
    """The features whose values together decide what the statement says; one group for each table."""
    if isinstance(statement, Relation):
        return [statement.features]
    return [[feature] for feature in speaks_of(statement, following)]


def asked_of_the_row(
    statement: Statement, states: Sequence[State], following: Following, table: Tabulated, over_moves: OverMoves
) -> Formula:
    """The statement, which speaks of features that follow from others, as a formula over the moves."""

    def on_row(feature: int, asked: Statement) -> Formula:
        return table(_looked_at(feature, asked, following), _judge(feature, asked, states[feature], following))

    if isinstance(statement, Causal):
        changed = over_moves(Changed(statement.cause))
        parts = [
            on_row(effect, Required(effect)) if effect in following else over_moves(meaning(Required(effect), states))
            for effect in statement.effects
        ]
        return substituted(all_of(*(implies(changed, part) for part in parts)), Changed)
    (feature,) = speaks_of(statement, following)
    return on_row(feature, statement)


def _looked_at(feature: int, asked: Statement, following: Following) -> Sequence[int]:
    return [feature, *following.direct(feature)] if isinstance(asked, Immutable) else [feature]


def _judge(feature: int, asked: Statement, state: State, following: Following) -> Judge:
    match asked:
        case Immutable():
            return lambda own, after: same(own(feature), state.value) & stays(feature, after, following)
        case Directed() | MaxStep():
            return lambda _, after: (
                same(after(feature), state.value) | ~np.asarray(goes_too_far(asked, state.value, after(feature)))
            )
    return lambda own, after: np.where(
        same(own(feature), state.value),
        _is_normal(after(feature), state, following.ranges.get(feature)),
        np.equal(own(feature), state.target if state.target is not None else np.nan),
    )


def stays(feature: int, after: ValueOf, following: Following) -> Any:
    """Whether an immutable feature has the value that it had, or only such causes have moved as may move it."""
    strict = [shift.cause for shift in following.shifts.get(feature, ()) if not shift.even_if_immutable]
    is_there = same(after(feature), following.before[feature])
    if feature in following.derived:
        return is_there
    may_move: Any = np.True_
    for cause in strict:
        # One by one: what cannot move is a single number beside arrays.
        may_move = may_move & same(after(cause), following.before[cause])
    return is_there | may_move


def same(one: Any, other: Any) -> Any:
    """Whether values are equal, or both missing."""
    return np.equal(one, other) | (np.isnan(one) & np.isnan(other))


def _is_normal(values: Any, state: State, known: tuple[float | None, float | None] | None) -> Any:
    low, high = known or (None, None)
    if low is None and high is None:
        return np.full(np.shape(values), not state.abnormal)
    inside = np.ones(np.shape(values), dtype=np.bool_)
    if low is not None:
        inside &= np.greater_equal(values, low)
    if high is not None:
        inside &= np.less_equal(values, high)
    return np.where(np.isnan(values), not state.abnormal, inside)
