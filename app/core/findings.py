"""What is found out about each feature: where its value stands, where it should move, and why it may not."""

from enum import StrEnum
from math import isnan
from typing import NamedTuple

from app.core.constraints import Directed, Immutable, Item, MaxStep, State, Statement, forbids
from app.core.following.arithmetic import Arithmetic
from app.core.ranges import Allowed, IfMissing, MoveTo, NormalRange, Policy, Status, whole_target


class WhyNot(StrEnum):
    """Why a feature cannot be changed."""

    NORMAL = "normal"
    NO_RANGE = "no_range"
    MISSING = "missing"
    DERIVED = "derived"
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
    # How it is computed from others, if it is.
    derived: Arithmetic | None = None


class Finding(NamedTuple):
    """The result for one feature: its status, its target, and why it may not move."""

    status: Status
    target: float | None
    why_not: WhyNot | None

    @property
    def movable(self) -> bool:
        return self.why_not is None


def status_of(feature: Feature) -> Status:
    if feature.normal is None or isnan(feature.value):
        return Status.UNKNOWN
    return feature.normal.status(feature.value)


def state_of(feature: Feature, status: Status) -> State:
    if feature.derived is not None:
        return State(feature.value, None, abnormal=status not in (Status.NORMAL, Status.UNKNOWN))
    if isnan(feature.value):
        target = target_if_missing(feature)
        return State(feature.value, target, abnormal=target is not None)
    if feature.normal is None:
        return State(feature.value, feature.guide, abnormal=feature.guide is not None)
    if status is Status.NORMAL:
        return State(feature.value, None, abnormal=False)
    if feature.move_to.policy in SEVERAL:
        return _stepped(feature, target_of(feature, status))
    return State(feature.value, target_of(feature, status), abnormal=True)


# How a target is chosen where there may be more than one.
SEVERAL = (Policy.STEPS, Policy.ANY_OF)


def _stepped(feature: Feature, target: float) -> State:
    """A value with several to move to; what is left of them for this person may be one."""
    value, move_to = feature.value, feature.move_to
    if move_to.policy is Policy.ANY_OF:
        is_one = len(move_to.steps) == 1
        return State(value, move_to.steps[0], True, () if is_one else move_to.steps, not is_one)
    if isinstance(feature.normal, Allowed):
        # What comes before the value lies behind it.
        path = move_to.steps[move_to.steps.index(value) + 1 if value in move_to.steps else 0 :]
    else:
        path = move_to.on_the_way(value, target, feature.whole)
    return State(value, path[-1], True, path if len(path) > 1 else ())


def target_of(feature: Feature, status: Status) -> float:
    """Where a feature with a normal range moves to: from below, from above, or from another category."""
    assert feature.normal is not None
    if isinstance(feature.normal, Allowed):
        return feature.move_to.steps[-1] if feature.move_to.steps else feature.normal.codes[0]
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


def why_not(feature: Feature, status: Status, state: State) -> WhyNot | None:
    if feature.derived is not None:
        return WhyNot.DERIVED
    if isnan(state.value):
        return WhyNot.MISSING if state.target is None else None
    if status is Status.NORMAL:
        return WhyNot.NORMAL
    if state.target is None:
        return WhyNot.NO_RANGE
    return None if state.can_change else WhyNot.AT_TARGET


def forbidden_in(items: tuple[Item, ...], states: tuple[State, ...]) -> dict[int, WhyNot]:
    """The features that an item keeps from changing, each with its first reason."""
    reasons: dict[int, WhyNot] = {}
    for item in items:
        feature = forbids(item.statement, states)
        if feature is not None:
            reasons.setdefault(feature, FORBIDDING[type(item.statement)])
    return reasons
