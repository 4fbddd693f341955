"""One way into the engines: `lattice`, `cemsp`, and `auto`, which starts with the one and goes on with the other."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from app.core import cemsp, lattice
from app.core.budget import Budget, Stopped
from app.core.facts import Engine, Fact, Finished, Guarantee
from app.core.oracle import Oracle
from app.core.problem import Problem
from app.core.seed_map import SeedMap
from app.core.subsets import Members


@dataclass(slots=True)
class SolverUse:
    """What the solver has cost so far; nothing where no solver was needed."""

    checks: int = 0
    seconds: float = 0.0


class Search:
    """One search over one problem, whose instance is known to be unfavourable as it stands."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget) -> None:
        self._problem = problem
        self._oracle = oracle
        self._budget = budget
        self._seeds: SeedMap | None = None

    @property
    def solver(self) -> SolverUse:
        return SolverUse() if self._seeds is None else SolverUse(self._seeds.checks, self._seeds.seconds)

    def facts(self, engine: Engine) -> Iterator[Fact]:
        """Search with the engine that was asked for; the last fact is `Finished`."""
        if not self._problem.largest:
            yield self._finished(Engine.LATTICE if engine is Engine.AUTO else engine)
        elif engine is Engine.CEMSP:
            yield from self._solved_beyond(Engine.CEMSP, 0, [])
        else:
            yield from self._lattice(engine)

    def _lattice(self, engine: Engine) -> Iterator[Fact]:
        def fits(rows: int) -> bool:
            return engine is Engine.LATTICE or rows <= self._budget.rows_left

        explored = yield from lattice.explore(self._problem, self._oracle, self._budget, fits)
        if explored.exhausted:
            yield self._finished(Engine.LATTICE)
        elif explored.stopped_by is not None:
            yield Finished(Engine.LATTICE, Guarantee.EXACT, explored.size, explored.stopped_by)
        else:
            yield from self._solved_beyond(Engine.AUTO, explored.size, explored.answers)

    def _solved_beyond(self, engine: Engine, settled: int, answers: list[Members]) -> Iterator[Fact]:
        """Leave every size above `settled` to the solver, which is told of the answers that are known."""
        searched = yield from self._solve(settled, answers)
        if searched.stopped_by is None and not searched.assumed_monotone:
            yield self._finished(engine)
        else:
            yield Finished(engine, Guarantee.ASSUMES_MONOTONE, settled, searched.stopped_by)

    def _solve(self, settled: int, answers: list[Members]) -> Generator[Fact, None, cemsp.Searched]:
        self._seeds = SeedMap(self._problem, self._budget, larger_than=settled)
        try:
            for known in answers:
                for answer in known:
                    self._budget.check()
                    self._seeds.block_up(frozenset(answer.tolist()))
        except Stopped as stopped:
            return cemsp.Searched(stopped.by, assumed_monotone=False)
        judge = cemsp.SubsetJudge(self._problem, self._oracle, settled)
        return (yield from cemsp.explore(judge, self._seeds, self._budget))

    def _finished(self, engine: Engine) -> Finished:
        """The search ended by itself and missed nothing, whatever the model."""
        return Finished(engine, Guarantee.EXACT, len(self._problem.moves), None)
