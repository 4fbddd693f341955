"""An answer: the search of one question, and the events that tell of it."""

from collections.abc import Generator, Iterator, Sequence
from itertools import repeat
from math import isfinite

from app.adapters.graphs.runs import Runs
from app.answering.events import (
    Counterfactual,
    Elapsed,
    Event,
    Failed,
    Finished,
    Progress,
    Proof,
    Started,
    Summary,
    Told,
)
from app.answering.holding import Telling, in_order, oracle_of
from app.answering.least import Least
from app.answering.on_the_loop import judges_with_the_instance, rows_at_once
from app.answering.searching import search_of
from app.asking.posing.question import Question
from app.asking.refusals import NO_SCORE, FieldError, InvalidRequest, is_refusal
from app.core import facts
from app.core.budget import Budget, Limits
from app.core.checking import NOWHERE_ELSE, Row, obeyed
from app.core.facts import Answers, Engine, Explained, Fact, Found, Guarantee, LevelFinished, Moment, ProvedBy
from app.core.memory import Waiting
from app.core.robust.asked import Order
from app.core.robust.telling import Stability
from app.core.search.oracle import ModelCost
from app.observing.observed_requests import SearchFigures
from app.observing.unexpected import log_unexpected


class WrongAnswer(Exception):
    """An engine came up with an answer that breaks a constraint: a mistake of ours, which goes no further."""


class Answer:
    """One question on its way to its answer: `events` searches, and tells what it finds while it goes on.

    To make one may raise whatever a question is refused for at last, or `Stopped`; after that nothing is raised.
    """

    def __init__(
        self,
        question: Question,
        engine: Engine,
        limits: Limits,
        budget: Budget,
        runs: Runs,
    ) -> None:
        self.question = question
        self._engine = engine
        self.limits = limits
        self._budget = budget
        self._clock = clock = budget.clock
        self._started = budget.started
        # Whether the search can go on only when others have given back memory.
        self.is_waiting = self._has_waited = False
        problem = question.problem
        scorer = question.model.scorer.within(runs)
        self._oracle = oracle_of(question, scorer, runs, budget, ModelCost())
        self._search = search_of(question, self._oracle, budget)
        robustness = question.robustness
        self._telling = None if robustness is None else Telling(question, scorer, runs, limits, budget)
        self._least = Least(question, runs, limits, budget) if question.least else None
        # All plans, if they are sent in an order that is known only at the end.
        self._kept: list[Counterfactual] | None = None
        if robustness is not None and robustness.order is not Order.SIZE:
            self._kept = []
        self._positions = [move.position for move in problem.moves]
        if any(problem.findings[position].why_not for position in self._positions):
            raise WrongAnswer("a feature that cannot move is among the moves")
        self.complete_up_to = 0
        self._changed_in = [0] * len(question.problem.moves)
        self._count = 0
        self._explained: Explained | None = None
        self._finished: facts.Finished | None = None
        self._failed = False
        self._first_seconds: float | None = None
        posed = clock()
        # Where the whole lattice takes next to no time, the instance is judged along with it.
        rows = rows_at_once(question, engine, limits)
        self._quick = rows <= question.model.scorer.prompt_rows
        together = judges_with_the_instance(question, engine, rows)
        self._prediction = self._search.judge_instance(together)
        self._search_seconds = clock() - posed
        if not isfinite(self._prediction.score[0]):
            raise InvalidRequest([FieldError("instance", NO_SCORE)])

    def settle(self) -> Generator[Moment, None, None]:
        """Find out in turns what the instance is, where that takes more than its score. Comes before `events`."""
        self._prediction = yield from self._search.settled(self._prediction)

    @property
    def seconds_left(self) -> float:
        """Until the deadline; nought once it is over."""
        return max(0.0, self._started + self.limits.deadline_seconds - self._clock())

    @property
    def is_prompt(self) -> bool:
        """Whether all of it is sure to be there in a few milliseconds."""
        return bool(self._prediction.favourable[0]) or self._quick

    def events(self) -> Iterator[Event | None]:
        """`Started`, known before the search begins, and all that follows; None where there is nothing to tell yet."""
        yield Started(self.question, self._prediction, self._engine, self.limits)
        try:
            known = self._timed(self._facts())
            for fact in known if self._telling is None else self._telling.ahead(known, self._search.judged):
                self.is_waiting = isinstance(fact, Waiting)
                if isinstance(fact, Answers):
                    yield from self._counterfactuals(fact) if self._kept is None else self._keep(fact, self._kept)
                    continue
                if self._kept and isinstance(fact, facts.Finished) and self.question.robustness is not None:
                    yield from in_order(self._kept, self.question.robustness.order)
                yield self._event(fact)
        except Exception as error:  # noqa: BLE001  # the answer has begun: to tell of it is all that is left
            yield self.failed(error)

    def failed(self, error: Exception) -> Failed:
        """The last event of an answer that has begun and cannot go on."""
        self._failed = True
        if not is_refusal(error):
            log_unexpected(error)
        return Failed(error)

    def progress(self, complete_up_to: int) -> Progress:
        """How far the search is, and up to which size the answers have been told."""
        return Progress(complete_up_to, self._oracle.meter.rows, self._elapsed_ms())

    def figures(self) -> SearchFigures:
        """What it has come to so far, for those who watch the service."""
        finished = self._finished
        return SearchFigures(
            engine=self._engine if finished is None else finished.engine,
            outcome="error" if self._failed else "unfinished" if finished is None else self._outcome(finished),
            stopped_by=None if finished is None else finished.stopped_by,
            proved_by=None if finished is None or finished.proof is None else finished.proof.by,
            count=self._count,
            model_rows=self._oracle.meter.rows,
            model_seconds=self._oracle.meter.seconds,
            search_seconds=self._search_seconds,
            first_answer_seconds=self._first_seconds,
            waited_for_memory=self._has_waited,
        )

    def _facts(self) -> Iterator[Fact]:
        if self._prediction.favourable[0]:
            engine = Engine.LATTICE if self._engine is Engine.AUTO else self._engine
            proof = facts.Proof(ProvedBy.ROWS, self._oracle.meter.rows)
            yield facts.Finished(engine, Guarantee.EXACT, self.question.problem.movable, None, proof)
        else:
            yield from self._search.facts(self._engine)

    def _timed(self, facts: Iterator[Fact]) -> Iterator[Fact]:
        """The same facts, with the time that they took to find, and not the time to send them."""
        clock = self._clock
        while True:
            began = clock()
            fact = next(facts, None)
            self._search_seconds += clock() - began
            if fact is None:
                return
            yield fact

    def _counterfactuals(self, answers: Answers) -> Iterator[Counterfactual]:
        if self._first_seconds is None:
            self._first_seconds = self._clock() - self._started
        is_constrained, changed_in = bool(self.question.problem.items), self._changed_in
        told = repeat(None) if self._telling is None else self._telling.of(answers, self._search.judged)
        for found, stability in zip(answers, told, strict=False):
            if is_constrained:
                self._check(found)
            self._count += 1
            for index in found.moves:
                changed_in[index] += 1
            enough = None if self._least is None else self._least.of(found)
            yield Counterfactual(self._count, found, stability, enough)

    def _keep(self, answers: Answers, kept: list[Counterfactual]) -> Iterator[None]:
        kept += self._counterfactuals(answers)
        yield None

    def _event(self, fact: Fact) -> Event | None:
        match fact:
            case LevelFinished():
                self.complete_up_to = fact.size
                return self.progress(fact.size)
            case Explained():
                self._explained = fact
            case Waiting():
                self._has_waited = True
            case facts.Finished():
                self._finished = fact
                return Finished(self._summary(fact), self._explained, *self._told())
        return None

    def _told(self) -> tuple[Told | None, Stability | None, Stability | None]:
        telling, explained = self._telling, self._explained
        if telling is None or explained is None:
            return None if telling is None else telling.told, None, None
        best, without_rules = telling.of_best(explained.best), telling.of_best(explained.best_without_rules)
        return telling.told, best, without_rules

    def _check(self, found: Found) -> None:
        """Hold an answer against every constraint once more, whichever engine found it; no wrong one is sent."""
        problem = self.question.problem
        changed = frozenset([self._positions[index] for index in found.moves])
        reached = NOWHERE_ELSE
        if problem.ladder is not None:
            reached = {problem.moves[index].position: problem.moves[index].target for index in found.moves}
        row = Row.of(changed, reached, problem.states, problem.following)
        broken = [item.path for item in problem.items if not obeyed(row, item.statement)]
        if broken:
            raise WrongAnswer(broken)

    def _summary(self, finished: facts.Finished) -> Summary:
        features = self.question.model.features
        names = [features[move.position].name for move in self.question.problem.moves]
        meter, solver = self._oracle.meter, self._search.solver
        return Summary(
            outcome=self._outcome(finished),
            count=self._count,
            complete=finished.complete,
            complete_up_to=finished.complete_up_to,
            stopped_by=finished.stopped_by,
            guarantee=finished.guarantee,
            engine=finished.engine,
            model_rows=meter.rows,
            model_calls=meter.calls,
            solver_checks=solver.checks,
            elapsed_ms=Elapsed(
                total=self._elapsed_ms(),
                search=_milliseconds(self._search_seconds),
                model=_milliseconds(meter.seconds),
                solver=_milliseconds(solver.seconds),
            ),
            changed_in=_added_up(names, self._changed_in),
            proof=_proof(finished.proof, names),
        )

    def _outcome(self, finished: facts.Finished) -> str:
        if self._prediction.favourable[0]:
            return "already_favourable"
        if self._count:
            return "found"
        return "no_recourse" if finished.complete else "unknown"

    def _elapsed_ms(self) -> float:
        return round((self._clock() - self._started) * 1000, 3)


def _added_up(names: Sequence[str], counts: Sequence[int]) -> dict[str, int]:
    """The features that change in any answer; one with steps has more than one move."""
    found: dict[str, int] = {}
    for name, count in zip(names, counts, strict=True):
        if count:
            found[name] = found.get(name, 0) + count
    return found


def _proof(proof: facts.Proof | None, names: Sequence[str]) -> Proof | None:
    return None if proof is None else Proof(proof.by, proof.nodes, _inert(proof.inert, names))


def _inert(moves: Sequence[int], names: Sequence[str]) -> list[str]:
    """The features that no answer can need: all of the moves of each are inert."""
    if not moves:
        return []
    named = [names[move] for move in moves]
    return [name for name in dict.fromkeys(named) if named.count(name) == names.count(name)]


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
