"""People with one pattern share everything but their numbers: what they may choose, and what forbids the rest."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from app.api.answers import WrongAnswer
from app.api.posing import Terms, features_of
from app.cohorts.job import ENDLESS_MS
from app.cohorts.kinds import Kind
from app.core.checking import obeys
from app.core.conflicts import conflicting_items
from app.core.explaining import is_unconstrained
from app.core.favourable import Bools
from app.core.problem import Problem, pose
from app.core.relaxing import Obstacles
from app.core.whole_lattice import feasible, members


class Pattern:
    """The problem of one person, who stands for all with the same pattern."""

    def __init__(self, terms: Terms, kind: Kind, values: Sequence[float]) -> None:
        self._problem: Problem = pose(features_of(terms, kind.standards, values), terms.items)
        self.contradicts = bool(conflicting_items(self._problem, lambda: ENDLESS_MS / 1000))
        self._checked: set[int] = set()

    @cached_property
    def unconstrained(self) -> bool:
        return is_unconstrained(self._problem)

    @cached_property
    def feasible(self) -> Bools:
        """Which subsets of the moves are asked about, by number: those that are allowed, and that nothing changes."""
        flags = feasible(self._problem)
        flags[0] = True
        return flags

    @cached_property
    def obstacles(self) -> Obstacles:
        return Obstacles(self._problem)

    def item_paths(self, items: Sequence[int]) -> list[str]:
        return [self._problem.items[item].path for item in items]

    def check(self, numbers: np.ndarray) -> None:
        """Hold these answers against every constraint once more, as the service does with each that it sends."""
        for number in set(numbers.tolist()) - self._checked:
            problem = self._problem
            changed = frozenset(problem.moves[move].position for move in members(len(problem.moves))[number])
            if not all(obeys(changed, item.statement, problem.states) for item in problem.items):
                raise WrongAnswer(number)
            self._checked.add(number)
