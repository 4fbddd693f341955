"""The problem that the engines solve: an instance, the moves its features can make, and what subsets must satisfy."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import isnan
from typing import NamedTuple

from app.core.constraints import (
    Directed,
    Immutable,
    Item,
    MaxChanges,
    MaxStep,
    State,
    Statement,
    forbids,
    reach_of,
)
from app.core.demands import conjuncts_of, following_of, formulas_of
from app.core.following.arithmetic import Arithmetic
from app.core.following.following import Following
from app.core.formula import Formula
from app.core.ranges import Allowed, IfMissing, MoveTo, NormalRange, Policy, Status, whole_target
from app.core.steps.ladder import Ladder


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


class Move(NamedTuple):
    """One feature that can change: its position in the instance, its target, and what the change costs.

    A feature with several steps has a move for each of them, which costs its share.
    """

    position: int
    target: float
    weight: float | Fraction
    step: int = 1
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """The instance x, the finding for each feature, and the moves whose subsets are searched.

    `candidates` are the moves that would be possible without constraints; `moves` are those of movable features.
    A subset of `moves` (by index) is feasible if it satisfies `conjuncts` and has at most `max_size` moves. If some
    feature has several values to move to, there is a `ladder` of the moves, and the conjuncts begin with its rules.
    """

    instance: tuple[float, ...]
    findings: tuple[Finding, ...]
    states: tuple[State, ...]
    items: tuple[Item, ...]
    candidates: tuple[Move, ...]
    moves: tuple[Move, ...]
    conjuncts: tuple[Formula, ...]
    max_size: int
    ladder: Ladder | None = None
    # What follows from others in every row, if anything does.
    following: Following | None = None

    @property
    def movable(self) -> int:
        """How many features can change."""
        return len(self.moves) if self.ladder is None else self.ladder.features

    def formulas(self, moves: Sequence[Move]) -> list[Formula]:
        """Each item as a formula over these moves, by index; no other feature changes."""
        return formulas_of(self.items, moves, self.states, self.following)


def pose(features: tuple[Feature, ...], items: tuple[Item, ...]) -> Problem:
    """Make the problem of an instance; `Cycle` where features follow from each other in a ring."""
    statuses = [_status(feature) for feature in features]
    states = tuple(map(_state, features, statuses))
    forbidden = _forbidden(items, states)
    findings = tuple(
        [
            Finding(status, state.target, _why_not(feature, status, state) or forbidden.get(position))
            for position, (feature, status, state) in enumerate(zip(features, statuses, states, strict=True))
        ]
    )
    following = following_of(features, items)
    if any(state.path for state in states):
        return _posed_in_steps(features, items, states, findings, following)
    candidates = tuple(
        [
            Move(position, state.target, features[position].weight)
            for position, state in enumerate(states)
            if state.target is not None and state.can_change
        ]
    )
    moves = tuple([move for move in candidates if findings[move.position].movable])
    following = _if_moved(following, candidates)
    return Problem(
        instance=tuple([feature.value for feature in features]),
        findings=findings,
        states=states,
        items=items,
        candidates=candidates,
        moves=moves,
        conjuncts=conjuncts_of(items, moves, states, (*FORBIDDING, MaxChanges), following),
        max_size=min([len(moves), *(item.statement.most for item in items if isinstance(item.statement, MaxChanges))]),
        following=following,
    )


def _if_moved(following: Following | None, candidates: Sequence[Move]) -> Following | None:
    """None where nothing follows from what this person could change."""
    moves = following is not None and following.follows_any([move.position for move in candidates])
    return following if moves else None


def _posed_in_steps(
    features: tuple[Feature, ...],
    items: tuple[Item, ...],
    states: tuple[State, ...],
    findings: tuple[Finding, ...],
    following: Following | None,
) -> Problem:
    """The same where a feature has several values to move to."""
    candidates = tuple(move for position, feature in enumerate(features) for move in _moves(position, feature, states))
    following = _if_moved(following, candidates)
    reach = _reach(items, states)
    moves = tuple(
        move
        for move in candidates
        if findings[move.position].movable and move.step <= reach.get(move.position, move.steps)
    )
    ladder = Ladder(moves)
    return Problem(
        instance=tuple(feature.value for feature in features),
        findings=findings,
        states=states,
        items=items,
        candidates=candidates,
        moves=moves,
        conjuncts=(*ladder.rules, *conjuncts_of(items, moves, states, tuple(FORBIDDING), following)),
        max_size=len(moves),
        ladder=ladder,
        following=following,
    )


def _moves(position: int, feature: Feature, states: Sequence[State]) -> Sequence[Move]:
    """The moves of one feature: one for each value that it may move to."""
    state = states[position]
    if state.target is None or not state.can_change:
        return ()
    if not state.path:
        return [Move(position, state.target, feature.weight)]
    if state.chooses:
        return [Move(position, target, feature.weight) for target in state.path]
    steps = len(state.path)
    share = Fraction(repr(float(feature.weight))) / steps
    return [Move(position, target, share, step, steps) for step, target in enumerate(state.path, start=1)]


def _reach(items: Sequence[Item], states: Sequence[State]) -> dict[int, int]:
    """The last step that items leave to each feature with steps."""
    found: dict[int, int] = {}
    for item in items:
        match item.statement:
            case Directed(feature) | MaxStep(feature) as statement if states[feature].path:
                steps = reach_of(statement, states[feature])
                found[feature] = min(steps, found.get(feature, steps))
    return found


def _status(feature: Feature) -> Status:
    if feature.normal is None or isnan(feature.value):
        return Status.UNKNOWN
    return feature.normal.status(feature.value)


def _state(feature: Feature, status: Status) -> State:
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


def _why_not(feature: Feature, status: Status, state: State) -> WhyNot | None:
    if feature.derived is not None:
        return WhyNot.DERIVED
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
