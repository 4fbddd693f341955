"""The moves of features that may stop at several values: each step is a move, and implies the one before it.

So a choice of steps is a *closed* set of moves, and going nowhere farther is being a subset. The values of `any_of` are
moves too, at most one of which is made.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.formula import Changed, Formula, any_of, at_most, implies
from app.core.subsets.masks import Masks, of_truths

Levels = NDArray[np.intp]


class Step(Protocol):
    """A move: the feature that it changes, and how many steps that has in all."""

    @property
    def position(self) -> int: ...

    @property
    def steps(self) -> int: ...


class Rungs(NamedTuple):
    """The moves of one feature, which stand one after the other: the first, and how many. Of a choice one is made."""

    first: int
    length: int
    is_choice: bool

    @property
    def moves(self) -> range:
        return range(self.first, self.first + self.length)


class Ladder:
    """The moves of a person by feature."""

    def __init__(self, moves: Sequence[Step]) -> None:
        self.rungs: list[Rungs] = []
        self.moves = len(moves)
        first = 0
        for _, group in groupby(moves, key=lambda move: move.position):
            same = list(group)
            self.rungs.append(Rungs(first, len(same), len(same) > 1 and same[0].steps == 1))
            first += len(same)
        self._places = [place for place, rungs in enumerate(self.rungs) for _ in rungs.moves]

    @property
    def features(self) -> int:
        """How many features can change."""
        return len(self.rungs)

    @property
    def is_chained(self) -> bool:
        """Whether each move leads on from the one before it, and none excludes another."""
        return not any(rungs.is_choice for rungs in self.rungs)

    @cached_property
    def rules(self) -> tuple[Formula, ...]:
        """What makes a set of moves a choice of steps."""
        found: list[Formula] = []
        for rungs in self.rungs:
            if rungs.is_choice:
                found.append(at_most(1, tuple(map(Changed, rungs.moves))))
            else:
                found += [implies(Changed(move), Changed(move - 1)) for move in rungs.moves[1:]]
        return tuple(found)

    def changed(self) -> tuple[Formula, ...]:
        """For each feature that it is changed at all."""
        return tuple(
            any_of(*map(Changed, rungs.moves)) if rungs.is_choice else Changed(rungs.first) for rungs in self.rungs
        )

    def farthest(self, moves: Iterable[int]) -> tuple[int, ...]:
        """The last of the moves of each feature: where it ends up."""
        return tuple({self._places[move]: move for move in moves}.values())

    def closed(self, moves: Iterable[int]) -> tuple[int, ...]:
        """The moves with all that they imply."""
        found: list[int] = []
        for move in moves:
            rungs = self.rungs[self._places[move]]
            found += [move] if rungs.is_choice else range(rungs.first, move + 1)
        return tuple(sorted({*found}))

    def levels(self, truths: Bools) -> Levels:
        """For each set, a row of truth values, and each feature: its farthest move, counted from 1; 0 if unchanged."""
        found = np.zeros((len(truths), len(self.rungs)), dtype=np.intp)
        for place, rungs in enumerate(self.rungs):
            for level, move in enumerate(rungs.moves, start=1):
                found[truths[:, move], place] = level
        return found

    def masks(self, levels: Levels) -> Masks:
        """The sets of moves that take each feature to its level."""
        truths = np.zeros((len(levels), self.moves), dtype=np.bool_)
        for place, rungs in enumerate(self.rungs):
            for level, move in enumerate(rungs.moves, start=1):
                own = levels[:, place]
                truths[:, move] = own == level if rungs.is_choice else own >= level
        return of_truths(truths)

    def fewest_features(self, moves: int) -> int:
        """Every choice of so many features has at most this many moves: the largest such number of features."""
        longest = sorted((1 if rungs.is_choice else rungs.length for rungs in self.rungs), reverse=True)
        return int(np.searchsorted(np.cumsum(longest), moves, side="right"))


def ladder_of(moves: Sequence[Step]) -> Ladder | None:
    """None if every feature has one value to move to."""
    return Ladder(moves) if len({move.position for move in moves}) < len(moves) else None
