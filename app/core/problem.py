"""The question that a request asks, and the problem that the engines solve: method, section 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from typing import NamedTuple

from app.core.constraints import Directed, Immutable, Item, MaxChanges, MaxStep, State, Statement, forbids, meaning
from app.core.formula import FALSE, TRUE, Changed, Formula, substituted
from app.core.ranges import Allowed, MoveTo, NormalRange, Status, whole_target


class WhyNot(StrEnum):
    """Why a feature cannot be changed."""

    NORMAL = "normal"
    NO_RANGE = "no_range"
    MISSING = "missing"
    AT_TARGET = "at_target"
    IMMUTABLE = "immutable"
    DIRECTION = "direction"
    MAX_STEP = "max_step"


FORBIDDING: dict[type[Statement], WhyNot] = {
    Immutable: WhyNot.IMMUTABLE,
    Directed: WhyNot.DIRECTION,
    MaxStep: WhyNot.MAX_STEP,
}


class Feature(NamedTuple):
    """One position of the instance: its value, and what is known of where it should be.

    The value of a category is its code, and not a number where it is missing. A tuple, as are the others here of which
    every request makes one a feature: they are made three times as fast.
    """

    value: float
    normal: NormalRange | Allowed | None = None
    move_to: MoveTo = MoveTo()
    guide: float | None = None
    whole: bool = False
    weight: float = 1


class Finding(NamedTuple):
    """What became of one feature: its status, the target it would move to, and why it may not."""

    status: Status
    target: float | None
    why_not: WhyNot | None

    @property
    def movable(self) -> bool:
        return self.why_not is None


class Move(NamedTuple):
    """One feature that can change: the position it has in the instance, and the target it would take."""

    position: int
    target: float
    weight: float


@dataclass(frozen=True, slots=True)
class Problem:
    """The instance x, what was found of each feature, and the moves whose subsets are searched.

    `candidates` are the moves that could be made if nothing were forbidden, `moves` those of movable features.
    `conjuncts` are what a subset of `moves` (by index) must satisfy to be feasible, besides its size.
    """

    instance: tuple[float, ...]
    findings: tuple[Finding, ...]
    states: tuple[State, ...]
    items: tuple[Item, ...]
    candidates: tuple[Move, ...]
    moves: tuple[Move, ...]
    conjuncts: tuple[Formula, ...]
    largest: int

    def formula(self, item: Item, moves: Sequence[Move]) -> Formula:
        """What an item asks of subsets of these moves, by index; no other feature changes."""
        return _formula(item, moves, self.states)


def pose(features: tuple[Feature, ...], items: tuple[Item, ...]) -> Problem:
    """Find the movable features of an instance, their targets, and what the items ask of them."""
    statuses = [_status(feature) for feature in features]
    states = tuple(map(_state, features, statuses))
    forbidden = _forbidden(items, states)
    findings = tuple(
        Finding(status, state.target, _why_not(status, state) or forbidden.get(position))
        for position, (status, state) in enumerate(zip(statuses, states, strict=True))
    )
    candidates = tuple(
        Move(position, state.target, features[position].weight)
        for position, state in enumerate(states)
        if state.target is not None and state.can_change
    )
    moves = tuple(move for move in candidates if findings[move.position].movable)
    return Problem(
        instance=tuple(feature.value for feature in features),
        findings=findings,
        states=states,
        items=items,
        candidates=candidates,
        moves=moves,
        conjuncts=_conjuncts(items, moves, states),
        largest=min([len(moves), *(item.statement.most for item in items if isinstance(item.statement, MaxChanges))]),
    )


def _formula(item: Item, moves: Sequence[Move], states: Sequence[State]) -> Formula:
    index = {move.position: Changed(place) for place, move in enumerate(moves)}
    return substituted(meaning(item.statement, states), lambda position: index.get(position, FALSE))


def _conjuncts(items: tuple[Item, ...], moves: tuple[Move, ...], states: tuple[State, ...]) -> tuple[Formula, ...]:
    """What is left to ask once the immovable features and the largest size are known."""
    known = (*FORBIDDING, MaxChanges)
    formulas = (_formula(item, moves, states) for item in items if not isinstance(item.statement, known))
    return tuple(formula for formula in formulas if formula != TRUE)


def _status(feature: Feature) -> Status:
    if feature.normal is None or isnan(feature.value):
        return Status.UNKNOWN
    return feature.normal.status(feature.value)


def _state(feature: Feature, status: Status) -> State:
    if isnan(feature.value):
        return State(feature.value, None, abnormal=False)
    if feature.normal is None:
        return State(feature.value, feature.guide, abnormal=feature.guide is not None)
    if status is Status.NORMAL:
        return State(feature.value, None, abnormal=False)
    return State(feature.value, target_of(feature, status), abnormal=True)


def target_of(feature: Feature, status: Status) -> float:
    """Where a feature with a normal range moves to: from below, from above, or from another category."""
    assert feature.normal is not None
    if isinstance(feature.normal, Allowed):
        return feature.normal.codes[0]
    target = feature.move_to.target(feature.normal, status)
    return whole_target(target, feature.normal) if feature.whole else target


def _why_not(status: Status, state: State) -> WhyNot | None:
    if isnan(state.value):
        return WhyNot.MISSING
    if status is Status.NORMAL:
        return WhyNot.NORMAL
    if state.target is None:
        return WhyNot.NO_RANGE
    return None if state.can_change else WhyNot.AT_TARGET


def _forbidden(items: tuple[Item, ...], states: tuple[State, ...]) -> dict[int, WhyNot]:
    """The features that an item keeps from changing, with the first reason."""
    reasons: dict[int, WhyNot] = {}
    for item in items:
        feature = forbids(item.statement, states)
        if feature is not None:
            reasons.setdefault(feature, FORBIDDING[type(item.statement)])
    return reasons
