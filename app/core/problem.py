"""The question that a request asks, and the problem that the engines solve: method, section 1."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.core.ranges import MoveTo, NormalRange, Status, whole_target

# max_step is compared with this much grace, so that a step computed in decimals is not refused for its last bit.
STEP_TOLERANCE = 1e-9


class Direction(StrEnum):
    """The way a value moves."""

    INCREASE = "increase"
    DECREASE = "decrease"


class WhyNot(StrEnum):
    """Why a feature cannot be changed."""

    NORMAL = "normal"
    NO_RANGE = "no_range"
    AT_TARGET = "at_target"
    IMMUTABLE = "immutable"
    DIRECTION = "direction"
    MAX_STEP = "max_step"


@dataclass(frozen=True, slots=True)
class Feature:
    """One position of the instance: its value, and what is known of where it should be."""

    value: float
    normal: NormalRange | None = None
    move_to: MoveTo = MoveTo()
    guide: float | None = None
    whole: bool = False
    weight: float = 1


@dataclass(frozen=True, slots=True)
class Constraints:
    """What the person cannot or will not do, by position."""

    immutable: frozenset[int] = frozenset()
    directions: Mapping[int, Direction] = field(default_factory=dict)
    max_step: Mapping[int, float] = field(default_factory=dict)
    max_changes: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one feature: its status, the target it would move to, and why it may not."""

    status: Status
    target: float | None
    why_not: WhyNot | None

    @property
    def movable(self) -> bool:
        return self.why_not is None


@dataclass(frozen=True, slots=True)
class Move:
    """One movable feature: the position it has in the instance, and the target it would take."""

    position: int
    target: float
    weight: float


@dataclass(frozen=True, slots=True)
class Problem:
    """The instance x, what was found of each feature, and the moves whose subsets are searched."""

    instance: tuple[float, ...]
    findings: tuple[Finding, ...]
    moves: tuple[Move, ...]
    max_changes: int

    @property
    def largest(self) -> int:
        """The size of the largest subset that may be an answer."""
        return min(len(self.moves), self.max_changes)


def pose(features: tuple[Feature, ...], constraints: Constraints) -> Problem:
    """Find the movable features of an instance and their targets."""
    findings = tuple(_finding(position, feature, constraints) for position, feature in enumerate(features))
    moves = tuple(
        Move(position, finding.target, features[position].weight)
        for position, finding in enumerate(findings)
        if finding.movable and finding.target is not None
    )
    limit = len(moves) if constraints.max_changes is None else constraints.max_changes
    return Problem(tuple(feature.value for feature in features), findings, moves, limit)


def _finding(position: int, feature: Feature, constraints: Constraints) -> Finding:
    status = Status.UNKNOWN if feature.normal is None else feature.normal.status(feature.value)
    if status is Status.NORMAL:
        return Finding(status, None, WhyNot.NORMAL)
    target = _target(feature, status)
    if target is None:
        return Finding(status, None, WhyNot.NO_RANGE)
    return Finding(status, target, _why_not(position, feature.value, target, constraints))


def _target(feature: Feature, status: Status) -> float | None:
    if feature.normal is None:
        return feature.guide
    target = feature.move_to.target(feature.normal, status)
    return whole_target(target, feature.normal) if feature.whole else target


def _why_not(position: int, value: float, target: float, constraints: Constraints) -> WhyNot | None:
    if target == value:
        return WhyNot.AT_TARGET
    if position in constraints.immutable:
        return WhyNot.IMMUTABLE
    way = Direction.INCREASE if target > value else Direction.DECREASE
    if constraints.directions.get(position, way) is not way:
        return WhyNot.DIRECTION
    step = constraints.max_step.get(position)
    if step is not None and abs(target - value) > step * (1 + STEP_TOLERANCE):
        return WhyNot.MAX_STEP
    return None
