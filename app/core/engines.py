"""One way into the engines: `lattice`, `cemsp`, and `auto`, which starts with the one and goes on with the other."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from app.core import cemsp, lattice, whole_lattice
from app.core.budget import Budget, Stopped
from app.core.explaining import explain, is_unconstrained
from app.core.facts import Answers, Best, Engine, Explained, Explanation, Fact, Finished, Found, Guarantee, Working
from app.core.lattice import unpacked
from app.core.masks import Masks
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.seed_map import SeedMap


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
        self._judged: whole_lattice.Judged | None = None

    def judge_instance(self, together: bool) -> Verdict:
        """What the model says of the instance as it stands; `together` with all subsets, where one call does it."""
        problem, oracle, budget = self._problem, self._oracle, self._budget
        if together and whole_lattice.suits(problem, oracle, budget) and budget.time_over() is None:
            try:
                self._judged = whole_lattice.judge(problem, oracle, with_instance=True)
            except Exception:  # noqa: BLE001  # whatever breaks a model down: it need not be the instance's own row
                return oracle.judge_instance()
            assert self._judged.verdict is not None, "the instance at least is asked about"
            return self._judged.verdict.row(0)
        return oracle.judge_instance()

    @property
    def solver(self) -> SolverUse:
        return SolverUse() if self._seeds is None else SolverUse(self._seeds.checks, self._seeds.seconds)

    def facts(self, engine: Engine) -> Iterator[Fact]:
        """Search with the engine that was asked for; the last fact is `Finished`.

        Where the search ends by itself and has found nothing, `Explained` comes before it.
        """
        found = False
        for fact in self._searched(engine):
            found = found or isinstance(fact, Answers)
            if isinstance(fact, Finished) and fact.complete and not found:
                yield from self._explained(fact)
            else:
                yield fact

    def _searched(self, engine: Engine) -> Iterator[Fact]:
        if not self._problem.largest:
            yield self._finished(Engine.LATTICE if engine is Engine.AUTO else engine)
        elif engine is Engine.CEMSP:
            yield from self._solved_beyond(Engine.CEMSP, 0, [])
        else:
            yield from self._lattice(engine)

    def _explained(self, finished: Finished) -> Iterator[Fact]:
        problem = self._problem
        if is_unconstrained(problem) and finished.guarantee is Guarantee.EXACT:
            # Every subset has been judged already.
            yield Explained(Explanation(complete=True), self._oracle.best)
            yield finished
            return
        oracle = self._oracle.over(problem.candidates, self._best_among_candidates())
        explanation = yield from explain(problem, oracle, self._budget)
        missed = [relaxation.found for relaxation in explanation.relaxations if not relaxation.items]
        if missed:
            # The model is not monotone, and the solver's search passed over an answer.
            yield Answers.of([self._within_moves(missed[0])])
            yield finished
            return
        yield Explained(explanation, oracle.best)
        yield self._finished(finished.engine) if explanation.complete else finished

    def _best_among_candidates(self) -> Best:
        """The best that the search has seen, by the candidates' indices."""
        best, problem = self._oracle.best, self._problem
        places = {move.position: place for place, move in enumerate(problem.candidates)}
        return replace(best, moves=tuple(places[problem.moves[index].position] for index in best.moves))

    def _within_moves(self, found: Found) -> Found:
        places = {move.position: place for place, move in enumerate(self._problem.moves)}
        moves = tuple(places[self._problem.candidates[index].position] for index in found.moves)
        return found._replace(moves=moves)

    def _lattice(self, engine: Engine) -> Iterator[Fact]:
        def fits(rows: int) -> bool:
            return engine is Engine.LATTICE or rows <= self._budget.rows_left

        problem, oracle, budget = self._problem, self._oracle, self._budget
        if self._judged is not None or whole_lattice.suits(problem, oracle, budget):
            explored = yield from whole_lattice.explore(problem, oracle, budget, self._judged)
        else:
            explored = yield from lattice.explore(problem, oracle, budget, fits)
        if explored.exhausted:
            yield self._finished(Engine.LATTICE)
        elif explored.stopped_by is not None:
            yield Finished(Engine.LATTICE, Guarantee.EXACT, explored.size, explored.stopped_by)
        else:
            yield from self._solved_beyond(Engine.AUTO, explored.size, explored.answers)

    def _solved_beyond(self, engine: Engine, settled: int, answers: list[Masks]) -> Iterator[Fact]:
        """Leave every size above `settled` to the solver, which is told of the answers that are known."""
        searched = yield from self._solve(settled, answers)
        if searched.stopped_by is None and not searched.assumed_monotone:
            yield self._finished(engine)
        else:
            yield Finished(engine, Guarantee.ASSUMES_MONOTONE, settled, searched.stopped_by)

    def _solve(self, settled: int, answers: list[Masks]) -> Generator[Fact, None, cemsp.Searched]:
        try:
            self._seeds = SeedMap(self._problem, self._budget, larger_than=settled)
            for known in answers:
                for block in unpacked(known, len(self._problem.moves)):
                    self._budget.check()
                    for answer in block:
                        self._seeds.block_up(answer)
                    yield Working()
        except Stopped as stopped:
            return cemsp.Searched(stopped.by, assumed_monotone=False)
        judge = cemsp.SubsetJudge(self._problem, self._oracle, self._budget, settled)
        return (yield from cemsp.explore(judge, self._seeds, self._budget))

    def _finished(self, engine: Engine) -> Finished:
        """The search ended by itself and missed nothing, whatever the model."""
        return Finished(engine, Guarantee.EXACT, len(self._problem.moves), None)
