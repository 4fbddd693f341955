"""What depends on values as a formula over the moves: made from the table of all values of features together.

That is a relation, and whatever is asked of a feature that follows from others.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from app.core.favourable import Bools
from app.core.following.following import Following, ValueOf
from app.core.formula import FALSE, TRUE, Changed, Constant, Formula, Not, all_of, any_of, none_of
from app.core.relations.relation import Relation

# Beyond so many combinations of values a relation is refused.
MOST_COMBINATIONS = 2**12


class TargetedMove(Protocol):
    """A move: the feature that it changes, where that leads, and how many steps the feature has."""

    @property
    def position(self) -> int: ...

    @property
    def target(self) -> float: ...

    @property
    def steps(self) -> int: ...


class _Way(NamedTuple):
    """A feature of a relation that can change: its values, unchanged first, and the moves that lead to the others."""

    feature: int
    values: tuple[float, ...]
    moves: tuple[int, ...]
    is_choice: bool

    def at(self, first: int, last: int) -> list[Formula]:
        """What says that the feature is at one of these levels."""
        if self.is_choice:
            return [none_of(*map(Changed, self.moves))] if first == 0 else [Changed(self.moves[first - 1])]
        begun: list[Formula] = [Changed(self.moves[first - 1])] if first else []
        return [*begun, Not(Changed(self.moves[last]))] if last < len(self.moves) else begun


# Whether something holds: by where each feature is through its own changes, and by where it is in the row.
Judge = Callable[[ValueOf, ValueOf], Any]


def combinations_of(features: Sequence[int], moves: Sequence[TargetedMove], following: Following | None = None) -> int:
    """How many values these features can take together, and those that they follow from."""
    sources = features if following is None else following.sources(features)
    return prod(sum(move.position == feature for move in moves) + 1 for feature in sources)


def compiled(
    relation: Relation, moves: Sequence[TargetedMove], values: Sequence[float], following: Following | None = None
) -> Formula:
    """What the relation says of a choice of moves of a person with these values."""
    return tabulated(relation.features, lambda _, after: relation.holds(after), moves, values, following)


def tabulated(
    features: Sequence[int],
    judge: Judge,
    moves: Sequence[TargetedMove],
    values: Sequence[float],
    following: Following | None = None,
) -> Formula:
    """What is judged by the values of these features, as a formula over the moves."""
    sources = features if following is None else following.sources(features)
    ways = [way for feature in sources if (way := _way(feature, moves, values)).moves]
    own = _own(ways, values)
    after = own if following is None else following.seen(own)
    return _formula(np.broadcast_to(judge(own, after), [len(way.values) for way in ways]), ways)


def values_of(
    feature: int, moves: Sequence[TargetedMove], values: Sequence[float], following: Following
) -> tuple[Any, Any]:
    """Every value that a feature can have which follows from others, and whether one of those is missing."""
    sources = following.sources([feature])
    own = _own([way for source in sources if (way := _way(source, moves, values)).moves], values)
    after = following.seen(own)
    lacking: Any = np.False_
    for source in sources:
        lacking = lacking | (np.isnan(after(source)) if source != feature else np.isnan(own(source)))
    values_there, is_lacking = np.broadcast_arrays(after(feature), lacking)
    return values_there, is_lacking


def _own(ways: Sequence[_Way], values: Sequence[float]) -> ValueOf:
    """Where each feature is by its own changes, in a table of all that these can be together."""
    table = np.meshgrid(*(np.array(way.values) for way in ways), indexing="ij")
    known = {way.feature: table[place] for place, way in enumerate(ways)}
    return lambda feature: known.get(feature, np.float64(values[feature]))


def _way(feature: int, moves: Sequence[TargetedMove], values: Sequence[float]) -> _Way:
    places = [place for place, move in enumerate(moves) if move.position == feature]
    is_choice = len(places) > 1 and moves[places[0]].steps == 1
    return _Way(feature, (values[feature], *(moves[place].target for place in places)), tuple(places), is_choice)


def _formula(held: Bools, ways: Sequence[_Way]) -> Formula:
    """The formula of a table of truth values, one side for each way."""
    if held.all():
        return TRUE
    if not held.any():
        return FALSE
    way, *others = ways
    rest = [_formula(part, others) for part in held]
    parts: list[Formula] = []
    levels = [[level] for level in range(len(rest))]
    if not way.is_choice:
        levels = [[level for level, _ in same] for _, same in groupby(enumerate(rest), key=lambda each: each[1])]
    for same in levels:
        inside = rest[same[0]]
        if inside != FALSE:
            also = [] if isinstance(inside, Constant) else [inside]
            parts.append(all_of(*way.at(same[0], same[-1]), *also))
    return any_of(*parts)
