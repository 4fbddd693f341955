"""What a plan leads to besides its changes."""

from collections.abc import Iterable
from math import isnan
from typing import NamedTuple, Protocol

from app.core.following.following import Following
from app.core.following.rows import moved_to


class TargetedMove(Protocol):
    """A move: the feature that it changes, and where that leads."""

    @property
    def position(self) -> int: ...

    @property
    def target(self) -> float: ...


class Consequence(NamedTuple):
    """A value that follows from changes: of which feature, from where to where, and what it follows from directly."""

    position: int
    before: float
    after: float
    because_of: tuple[int, ...]


def consequences_of(following: Following | None, moves: Iterable[TargetedMove]) -> list[Consequence]:
    """All that follows from the moves that features end at, in the order of the features."""
    if following is None:
        return []
    reached = {move.position: move.target for move in moves}
    own = moved_to(following, reached)
    values = {feature: float(value) for feature, value in following.after(own).items()}
    before = following.before

    def has_moved(feature: int) -> bool:
        value = values.get(feature, reached.get(feature, before[feature]))
        return value != before[feature] and not (isnan(value) and isnan(before[feature]))

    return [
        Consequence(feature, before[feature], value, tuple(filter(has_moved, following.direct(feature))))
        for feature, value in sorted(values.items())
        if feature not in reached and has_moved(feature)
    ]
