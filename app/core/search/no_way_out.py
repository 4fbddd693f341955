"""When a search has found nothing: the reasons, and what it has missed if it assumed a monotone model."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from app.core.budget import Budget, StoppedBy
from app.core.facts import (
    Answers,
    Best,
    Engine,
    Explained,
    Explanation,
    Fact,
    Finished,
    Found,
    Guarantee,
)
from app.core.problem import Move, Problem
from app.core.search.explaining import explain, is_unconstrained
from app.core.search.oracle import Oracle, Rules, satisfying
from app.core.steps.frontier import StepFrontier
from app.core.steps.ladder import ladder_of
from app.core.through.networks.engine import NetworkSearch
from app.core.through.networks.view import NetworkView
from app.core.through.searches import reasons
from app.core.through.view import View

# What is seen of the model for some moves of the instance; None if it cannot be seen through for them.
ViewOf = Callable[[Sequence[Move]], View | NetworkView | None]
# Why there is no answer is looked for in so many rows at the most, once that is proved.
MOST_ROWS_TO_EXPLAIN = 2_000_000


def exact(engine: Engine, problem: Problem) -> Finished:
    """The result of a search that ended by itself and is exact for any model."""
    return Finished(engine, Guarantee.EXACT, problem.movable, None)


@dataclass(frozen=True, slots=True)
class NoWayOut:
    """A search that has ended by itself and found nothing; `network` is what it has seen through, if it has."""

    _problem: Problem
    _oracle: Oracle
    _budget: Budget
    _view: ViewOf | None
    _network: NetworkSearch | None

    def facts(self, finished: Finished) -> Iterator[Fact]:
        """`Explained` and the result; answers instead, if a search that assumed a monotone model has missed them."""
        problem, proved = self._problem, finished.complete
        if self._network is not None and is_unconstrained(problem) and proved:
            with self._budget.at_most(MOST_ROWS_TO_EXPLAIN):
                complete = yield from self._network.find_best()
            yield Explained(Explanation(complete=complete), True, self._oracle.best, None)
            yield finished
            return
        if finished.engine is Engine.THROUGH and self._network is None:
            told = yield from self._reasons(finished)
            if told:
                return
        elif is_unconstrained(problem) and proved:
            # Every subset has been judged already.
            yield Explained(Explanation(complete=True), True, self._oracle.best, None)
            yield finished
            return
        oracle = self._oracle.over(problem.candidates, _rules(problem))
        with self._budget.at_most(MOST_ROWS_TO_EXPLAIN if proved else self._budget.rows_left):
            explanation = yield from explain(problem, oracle, self._budget, proved, _frontier(problem))
        if not proved:
            finished = self._proved_so_far(finished, explanation)
        if explanation.answers:
            # The model is not monotone, and the solver's search missed them.
            yield from self._missed(explanation.answers, finished)
        else:
            yield self._told(explanation, finished, oracle)
            yield finished

    def _reasons(self, finished: Finished) -> Generator[Fact, None, bool]:
        """Why there is no answer, by the view of all candidates; False if that cannot be told by it."""
        problem = self._problem
        view = None if self._view is None else self._view(problem.candidates)
        if view is None or isinstance(view, NetworkView):
            return False
        oracle = self._oracle.over(problem.candidates, _rules(problem))
        explanation = yield from reasons.explain(problem, oracle, self._budget, view)
        if explanation is None:
            return False
        yield self._told(explanation, finished, oracle)
        yield finished
        return True

    def _proved_so_far(self, finished: Finished, explanation: Explanation) -> Finished:
        """The result of a search that assumed a monotone model, once every subset up to a size was judged."""
        if explanation.complete or explanation.size >= self._problem.max_size:
            return exact(finished.engine, self._problem)
        return replace(finished, complete_up_to=max(finished.complete_up_to, explanation.size))

    def _missed(self, answers: Sequence[Found], finished: Finished) -> Iterator[Fact]:
        problem, taken = self._problem, self._budget.take_answers(len(answers))
        yield Answers.of([self._within_moves(found) for found in answers[:taken]])
        if taken < len(answers):
            # A feature with steps has several moves.
            features = [len({problem.candidates[index].position for index in found.moves}) for found in answers[taken:]]
            size = min(finished.complete_up_to, min(features) - 1)
            finished = replace(finished, complete_up_to=size, stopped_by=StoppedBy.MAX_COUNTERFACTUALS)
        yield finished

    def _told(self, explanation: Explanation, finished: Finished, oracle: Oracle) -> Explained:
        best = _closest(self._among_candidates(self._oracle.best), oracle.best)
        anyhow = _closest(self._among_candidates(self._oracle.best_without_rules), oracle.best_without_rules)
        if explanation.relaxations or (best and anyhow and best.merit >= anyhow.merit):
            anyhow = None
        return Explained(explanation, finished.complete, best, anyhow)

    def _among_candidates(self, best: Best | None) -> Best | None:
        """The best that the search has seen, by the candidates' indices."""
        if best is None:
            return None
        problem = self._problem
        places = {move[:2]: place for place, move in enumerate(problem.candidates)}
        return replace(best, moves=tuple(places[problem.moves[index][:2]] for index in best.moves))

    def _within_moves(self, found: Found) -> Found:
        places = {move[:2]: place for place, move in enumerate(self._problem.moves)}
        moves = tuple(places[self._problem.candidates[index][:2]] for index in found.moves)
        return found._replace(moves=moves)


def _frontier(problem: Problem) -> StepFrontier | None:
    """Where features have steps, only choices of steps are asked about."""
    ladder = ladder_of(problem.candidates)
    return None if ladder is None else StepFrontier(ladder)


def _rules(problem: Problem) -> Rules | None:
    """Which subsets of the candidates satisfy the items; None if all do."""
    return None if is_unconstrained(problem) else satisfying(problem.formulas(problem.candidates), problem.candidates)


def _closest(*found: Best | None) -> Best | None:
    """The one with the highest merit; of equals the smallest, then the first by its positions."""
    known = [best for best in found if best is not None]
    return min(known, key=lambda best: (-best.merit, len(best.moves), best.moves), default=None)
