"""The problem that the engines solve: an instance, the moves its features can make, and what subsets must satisfy."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from app.core.constraints import Directed, Item, MaxChanges, MaxStep, State, reach_of
from app.core.demands import conjuncts_of, following_of, formulas_of
from app.core.findings import FORBIDDING, Feature, Finding, forbidden_in, state_of, status_of, why_not
from app.core.following.following import Following
from app.core.formula import Formula
from app.core.steps.ladder import Ladder


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
    statuses = list(map(status_of, features))
    states = tuple(map(state_of, features, statuses))
    forbidden, reasons = forbidden_in(items, states), list(map(why_not, features, statuses, states))
    findings = tuple(
        [
            Finding(status, state.target, reason or forbidden.get(position))
            for position, (status, state, reason) in enumerate(zip(statuses, states, reasons, strict=True))
        ]
    )
    following = following_of(features, items)
    if any(state.path for state in states):
        return _posed_in_steps(features, items, states, findings, following)
    candidates = tuple(
        [
            Move(position, state.target, features[position].weight)
            for position, state in enumerate(states)
            if reasons[position] is None and state.target is not None
        ]
    )
    moves = tuple([move for move in candidates if findings[move.position].why_not is None])
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
