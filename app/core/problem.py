"""The problem that the engines solve: an instance, the moves its features can make, and what subsets must satisfy."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from typing import NamedTuple

from app.core.constraints import Directed, Immutable, Item, MaxChanges, MaxStep, State, Statement, forbids, meaning
from app.core.formula import FALSE, TRUE, Changed, Formula, substituted
from app.core.ranges import Allowed, IfMissing, MoveTo, NormalRange, Status, whole_target


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
    """One position of the instance: its value, its normal range, and where it should move.

    The value of a category is its code; a missing value is NaN. Every request makes one `Feature`, `Finding` and
    `State` for each feature: as tuples, they are made three times as fast.
    """

    value: float
    normal: NormalRange | Allowed | None = None
    move_to: MoveTo = MoveTo()
    guide: float | None = None
    whole: bool = False
    weight: float = 1
    if_missing: IfMissing | None = None


class Finding(NamedTuple):
    """The result for one feature: its status, the target it would move to, and why it may not move."""

    status: Status
    target: float | None
    why_not: WhyNot | None

    @property
    def movable(self) -> bool:
        return self.why_not is None


class Move(NamedTuple):
    """One feature that can change: its position in the instance, its target, and what the change costs."""

    position: int
    target: float
    weight: float


@dataclass(frozen=True, slots=True)
class Problem:
    """The instance x, the finding for each feature, and the moves whose subsets are searched.

    `candidates` are the moves that would be possible without constraints; `moves` are those of movable features.
    A subset of `moves` (by index) is feasible if it satisfies `conjuncts` and has at most `max_size` moves.
    """

    instance: tuple[float, ...]
    findings: tuple[Finding, ...]
    states: tuple[State, ...]
    items: tuple[Item, ...]
    candidates: tuple[Move, ...]
    moves: tuple[Move, ...]
    conjuncts: tuple[Formula, ...]
    max_size: int

    def formulas(self, moves: Sequence[Move]) -> list[Formula]:
        """Each item as a formula over these moves, by index; no other feature changes."""
        return _formulas(self.items, moves, self.states)


def pose(features: tuple[Feature, ...], items: tuple[Item, ...]) -> Problem:
    """Make the problem of an instance: find its movable features, their targets, and what the items demand."""
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
        max_size=min([len(moves), *(item.statement.most for item in items if isinstance(item.statement, MaxChanges))]),
    )


def _formulas(items: Sequence[Item], moves: Sequence[Move], states: Sequence[State]) -> list[Formula]:
    index = {move.position: Changed(place) for place, move in enumerate(moves)}
    return [substituted(meaning(item.statement, states), lambda position: index.get(position, FALSE)) for item in items]


def _conjuncts(items: tuple[Item, ...], moves: tuple[Move, ...], states: tuple[State, ...]) -> tuple[Formula, ...]:
    """The formulas that remain after immovable features and `max_size` are taken into account."""
    known = (*FORBIDDING, MaxChanges)
    others = [item for item in items if not isinstance(item.statement, known)]
    return tuple(formula for formula in _formulas(others, moves, states) if formula != TRUE) if others else ()


def _status(feature: Feature) -> Status:
    if feature.normal is None or isnan(feature.value):
        return Status.UNKNOWN
    return feature.normal.status(feature.value)


def _state(feature: Feature, status: Status) -> State:
    if isnan(feature.value):
        target = target_if_missing(feature)
        return State(feature.value, target, abnormal=target is not None)
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


def target_if_missing(feature: Feature) -> float | None:
    """What a missing value would become, if `if_missing` says so."""
    if feature.if_missing is None:
        return None
    if feature.if_missing.value is not None:
        return feature.if_missing.value
    if feature.normal is None:
        return feature.guide
    if isinstance(feature.normal, Allowed):
        return feature.normal.codes[0]
    target = feature.move_to.only_target(feature.normal)
    return whole_target(target, feature.normal) if feature.whole and target is not None else target


def _why_not(status: Status, state: State) -> WhyNot | None:
    if isnan(state.value):
        return WhyNot.MISSING if state.target is None else None
    if status is Status.NORMAL:
        return WhyNot.NORMAL
    if state.target is None:
        return WhyNot.NO_RANGE
    return None if state.can_change else WhyNot.AT_TARGET


def _forbidden(items: tuple[Item, ...], states: tuple[State, ...]) -> dict[int, WhyNot]:
    """The features that an item keeps from changing, each with its first reason."""
    reasons: dict[int, WhyNot] = {}
    for item in items:
        feature = forbids(item.statement, states)
        if feature is not None:
            reasons.setdefault(feature, FORBIDDING[type(item.statement)])
    return reasons
