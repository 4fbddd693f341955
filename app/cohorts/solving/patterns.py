"""Patterns: people with the same pattern have the same constraints and moves, whatever their values."""

import time
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from app.answering.answer import WrongAnswer
from app.asking.posing.standards import features_of
from app.asking.posing.terms import Terms
from app.cohorts.job import ENDLESS_MS
from app.cohorts.solving.range_groups import RangeGroup
from app.core.budget import Budget, Limits, StopFlag
from app.core.checking import obeys
from app.core.crowd.relaxing import Obstacles
from app.core.favourable import Bools
from app.core.problem import Problem, pose
from app.core.search.conflicts import find_conflict
from app.core.search.explaining import is_unconstrained
from app.core.search.whole_lattice import feasible, members
from app.core.turns import run_through


class Pattern:
    """The problem of one person, representative of all people with the same pattern."""

    def __init__(self, terms: Terms, group: RangeGroup, values: Sequence[float]) -> None:
        self._problem: Problem = pose(features_of(terms, group.standards, values), terms.items)
        self.contradicts = bool(run_through(find_conflict(self._problem, _ample_time())).items)
        self._checked: set[int] = set()

    @cached_property
    def unconstrained(self) -> bool:
        return is_unconstrained(self._problem)

    @cached_property
    def feasible(self) -> Bools:
        """Which subsets of the moves are allowed, by number."""
        return feasible(self._problem)

    @cached_property
    def obstacles(self) -> Obstacles:
        return Obstacles(self._problem)

    def item_paths(self, items: Sequence[int]) -> list[str]:
        return [self._problem.items[item].path for item in items]

    def check(self, numbers: np.ndarray) -> None:
        """Check these answers against every constraint again, as the service does; `WrongAnswer` if one breaks it."""
        for number in set(numbers.tolist()) - self._checked:
            problem = self._problem
            changed = frozenset(problem.moves[move].position for move in members(len(problem.moves))[number])
            if not all(obeys(changed, item.statement, problem.states) for item in problem.items):
                raise WrongAnswer(number)
            self._checked.add(number)


def _ample_time() -> Budget:
    return Budget(Limits(0, ENDLESS_MS / 1000), time.perf_counter, time.perf_counter(), StopFlag())
