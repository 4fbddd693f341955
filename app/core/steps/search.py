"""The search over choices of steps: the same engines, on closed sets of moves."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from app.core.budget import StoppedBy
from app.core.facts import Answers, Engine, Explained, Fact, Finished, Guarantee, LevelFinished
from app.core.search import cemsp, lattice, seed_map
from app.core.search.engines import Search
from app.core.search.no_way_out import NoWayOut, exact
from app.core.search.verdict import Verdict
from app.core.steps.frontier import StepFrontier
from app.core.steps.judge import StepJudge
from app.core.steps.ladder import Ladder, ladder_of
from app.core.steps.scan import StepScan
from app.core.subsets.masks import Masks
from app.core.through.view import View

# So many choices are asked about before it pays to see through the model.
MOST_AT_ONCE = 1_024


class StepSearch(Search):
    """One search where features have steps. It tells of each changed feature the one move that it ends at."""

    @property
    def _ladder(self) -> Ladder:
        assert self._problem.ladder is not None
        return self._problem.ladder

    def judge_instance(self, together: bool) -> Verdict:
        return self._oracle.judge_instance()

    def facts(self, engine: Engine) -> Iterator[Fact]:
        return map(self._told, super().facts(engine))

    def _lattice(self, engine: Engine) -> Iterator[Fact]:
        problem, budget = self._problem, self._budget
        has_solver = engine is not Engine.LATTICE and seed_map.suits(problem)
        # The frontier makes choices of steps only: their rules need not be looked at.
        others = replace(problem, conjuncts=problem.conjuncts[len(self._ladder.rules) :])
        explored = yield from lattice.explore(
            others,
            self._oracle,
            budget,
            lambda rows: rows <= budget.rows_left_by_size or not has_solver,
            StepFrontier(self._ladder),
            StepScan,
        )
        if explored.exhausted:
            yield exact(Engine.LATTICE, problem)
        elif explored.stopped_by is not None or not has_solver:
            stopped_by = explored.stopped_by or StoppedBy.MAX_MODEL_ROWS
            yield Finished(Engine.LATTICE, Guarantee.EXACT, explored.size, stopped_by)
        else:
            yield from self._solved_beyond(Engine.AUTO, explored.size, explored.answers)

    def _sees_through(self, engine: Engine) -> bool:
        if self._view is None or engine not in (Engine.THROUGH, Engine.AUTO):
            return False
        choices = prod(rungs.length + 1 for rungs in self._ladder.rungs)
        return engine is Engine.THROUGH or choices > MOST_AT_ONCE

    def _seen_through(self, view: View) -> Iterator[Fact]:
        """By the number of moves: what that says of the number of features is less, but true."""
        for fact in super()._seen_through(view):
            if isinstance(fact, LevelFinished):
                yield LevelFinished(self._ladder.fewest_features(fact.size))
            elif isinstance(fact, Finished):
                size = self._ladder.fewest_features(fact.complete_up_to)
                yield replace(fact, complete_up_to=size)
            else:
                yield fact

    def _explained(self, finished: Finished) -> Iterator[Fact]:
        return NoWayOut(self._problem, self._oracle, self._budget, None, None).facts(finished)

    def _can_count(self, answers: list[Masks], found: list[tuple[int, ...]]) -> bool:
        return False

    def _judge(self, settled: int) -> cemsp.SubsetJudge:
        return StepJudge(self._problem, self._oracle, self._budget, settled)

    def _told(self, fact: Fact) -> Fact:
        """The fact by the moves that features end at."""
        match fact:
            case Answers():
                return replace(fact, moves=list(map(self._ladder.farthest, fact.moves)))
            case Explained():
                return self._explained_by_ends(fact)
        return fact

    def _explained_by_ends(self, fact: Explained) -> Explained:
        ladder = ladder_of(self._problem.candidates)
        assert ladder is not None, "features have steps"
        told = fact.explanation
        relaxations = [
            replace(way, found=way.found._replace(moves=ladder.farthest(way.found.moves))) for way in told.relaxations
        ]
        best, anyhow = (
            None if each is None else replace(each, moves=ladder.farthest(each.moves))
            for each in (fact.best, fact.best_without_rules)
        )
        return Explained(replace(told, relaxations=relaxations), fact.proved, best, anyhow)
