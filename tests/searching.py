"""Running an engine on a case, the way that the service does."""

import time

import numpy as np

from app.core.budget import Budget, Limits, StopFlag
from app.core.engines import Search
from app.core.facts import Engine, Finished, Found
from app.core.favourable import FavourableClasses
from app.core.oracle import Oracle, Scorer
from app.core.problem import Constraints, Direction, Feature, Problem, pose
from app.core.ranges import NormalRange
from tests.brute_force import Case

FAVOURABLE = FavourableClasses(classes=(1,), others=(0,))


def pose_case(case: Case, weights: dict[int, float] | None = None) -> Problem:
    features = tuple(
        Feature(
            value,
            normal=None if case.ranges[i] is None else NormalRange(*case.ranges[i]),
            guide=case.guides.get(i),
            weight=(weights or {}).get(i, 1),
        )
        for i, value in enumerate(case.values)
    )
    constraints = Constraints(
        case.immutable,
        {i: Direction(way) for i, way in case.directions.items()},
        case.max_step,
        case.max_changes,
    )
    return pose(features, constraints)


class Run:
    """One search, and what came of it in the words of the definition."""

    def __init__(
        self,
        case: Case,
        scorer: Scorer,
        engine: str,
        *,
        rows: int = 10**9,
        answers: int | None = None,
        weights: dict[int, float] | None = None,
    ) -> None:
        self.problem = pose_case(case, weights)
        clock = time.perf_counter
        budget = Budget(Limits(rows, 600.0, answers), clock, clock(), StopFlag())
        self.oracle = Oracle(scorer, FAVOURABLE, self.problem, budget)
        self.already = bool(self.oracle.judge_instance().favourable[0])
        self.facts = list(Search(self.problem, self.oracle, budget).facts(Engine(engine)))
        self.found = [fact for fact in self.facts if isinstance(fact, Found)]

    @property
    def finished(self) -> Finished:
        last = self.facts[-1]
        assert isinstance(last, Finished)
        return last

    @property
    def answers(self) -> list[frozenset[int]]:
        """The answers as positions of features, in the order that they came."""
        moves = self.problem.moves
        return [frozenset(moves[index].position for index in found.moves) for found in self.found]


def scores_of(run: Run) -> list[float]:
    return [float(np.float64(found.score)) for found in run.found]
