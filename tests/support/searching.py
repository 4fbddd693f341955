"""Running an engine on a case, the way that the service does."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from app.adapters.graphs.features import ModelFeature
from app.adapters.rules.constraints import ConstraintsEntry, read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.core.budget import Budget, Limits, StopFlag
from app.core.constraints import Item
from app.core.facts import Answers, Engine, Finished, Found
from app.core.favourable import Favourable, FavourableClasses
from app.core.findings import Feature
from app.core.memory import Memory
from app.core.problem import Problem, pose
from app.core.ranges import IfMissing, MoveTo, NormalRange, Policy
from app.core.search.engines import Search
from app.core.search.no_way_out import ViewOf
from app.core.search.oracle import Oracle, Scorer
from tests.support.brute_force import Case

FAVOURABLE = FavourableClasses(classes=(1,), others=(0,))


def pose_case(case: Case, weights: dict[int, float] | None = None) -> Problem:
    features = tuple(
        Feature(
            value,
            normal=None if case.ranges[i] is None else NormalRange(*case.ranges[i]),
            move_to=_move_to(*case.move_to[i]) if i in case.move_to else MoveTo(),
            guide=case.guides.get(i),
            whole=i in case.whole,
            weight=(weights or {}).get(i, 1),
            if_missing=_if_missing(case.if_missing.get(i)),
        )
        for i, value in enumerate(case.values)
    )
    return pose(features, items_of(case))


def _move_to(policy: str, amount: float) -> MoveTo:
    return MoveTo(Policy(policy), amount)


def _if_missing(said: float | str | None) -> IfMissing | None:
    return None if said is None else IfMissing(None if isinstance(said, str) else said)


def items_of(case: Case) -> tuple[Item, ...]:
    """The constraints of a case, through the reader that requests go through."""
    entry = ConstraintsEntry.model_validate(constraints_json(case))
    features = [ModelFeature(f"f{i}", None, None, "number") for i in range(len(case.values))]
    items, mistakes = read_constraints(entry, features, FormulaLimits())
    assert not mistakes
    return items


def constraints_json(case: Case) -> dict[str, Any]:
    """The constraints of a case as a request writes them, features named f0, f1, ..."""

    def named(positions: Iterable[int]) -> list[str]:
        return [f"f{i}" for i in positions]

    return {
        "immutable": named(case.immutable),
        "directions": {f"f{i}": way for i, way in case.directions.items()},
        "max_step": {f"f{i}": step for i, step in case.max_step.items()},
        "causal": [{"cause": f"f{cause}", "effects": named(effects)} for cause, effects in case.causal],
        "correlated": [named(group) for group in case.correlated],
        "exclusive": [named(group) for group in case.exclusive],
        "required": named(case.required),
        "formulas": [written.text for written in case.formulas],
        **({} if case.max_changes is None else {"max_changes": case.max_changes}),
    }


class Run:
    """One search, and what came of it in the words of the definition."""

    def __init__(  # noqa: PLR0913  # whatever a test may want to choose
        self,
        case: Case,
        scorer: Scorer,
        engine: str,
        *,
        rows: int = 10**9,
        answers: int | None = None,
        weights: dict[int, float] | None = None,
        memory: Memory | None = None,
        favourable: Favourable = FAVOURABLE,
        view: ViewOf | None = None,
        rows_by_size: int | None = None,
    ) -> None:
        self.problem = pose_case(case, weights)
        clock = time.perf_counter
        budget = Budget(Limits(rows, 600.0, answers, rows_by_size), clock, clock(), StopFlag(), memory)
        self.oracle = Oracle(scorer, favourable, self.problem.instance, self.problem.moves, budget)
        self.already = bool(self.oracle.judge_instance().favourable[0])
        self.search = Search(self.problem, self.oracle, budget, view)
        self.facts = list(self.search.facts(Engine(engine)))
        self.found: list[Found] = [found for fact in self.facts if isinstance(fact, Answers) for found in fact]

    @property
    def rows(self) -> int:
        return self.oracle.meter.rows

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
