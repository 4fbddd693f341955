"""An answer: the search of one question, and the lines that tell of it."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from app.adapters.runs import Runs
from app.api.errors import NO_SCORE, FieldError, InvalidRequest, is_expected, log_unexpected, problem
from app.api.exchanges import Account
from app.api.forms import Line
from app.api.lines import LineWriter
from app.api.posing import Question
from app.api.promptness import is_prompt_to_answer
from app.core.budget import Budget, Limits, StopFlag
from app.core.checking import obeys
from app.core.engines import Search
from app.core.facts import Answers, Engine, Explained, Fact, Finished, Found, Guarantee, LevelFinished
from app.core.oracle import Oracle


class WrongAnswer(Exception):
    """An engine came up with an answer that breaks a constraint: a mistake of ours, which goes no further."""


class Answer:
    """One question on its way to its answer; all that can be refused has been, once it is made."""

    def __init__(
        self,
        question: Question,
        engine: Engine,
        limits: Limits,
        clock: Callable[[], float],
        started: float,
        stop: StopFlag,
        runs: Runs,
    ) -> None:
        self._question = question
        self._engine = engine
        self._limits = limits
        self._clock = clock
        self._started = started
        self.stop = stop
        self.runs = runs
        self._budget = Budget(limits, clock, started, stop)
        problem = question.problem
        scorer = question.model.scorer.within(runs)
        self._oracle = Oracle(scorer, question.favourable, problem.instance, problem.moves, self._budget)
        self._search = Search(question.problem, self._oracle, self._budget)
        self._writer = LineWriter(question)
        self._positions = [move.position for move in problem.moves]
        self._movable = frozenset([position for position, finding in enumerate(problem.findings) if finding.movable])
        self.complete_up_to = 0
        self._changed_in = [0] * len(question.problem.moves)
        self._count = 0
        self._explained: Explained | None = None
        self._finished: Finished | None = None
        self._failed = False
        self._first_seconds: float | None = None
        posed = clock()
        # Where the whole lattice takes next to no time, the instance is judged along with it.
        self._quick = is_prompt_to_answer(question, engine, limits)
        self._prediction = self._search.judge_instance(together=self._quick)
        self._search_seconds = clock() - posed
        if not np.isfinite(self._prediction.score[0]):
            raise InvalidRequest([FieldError("instance", NO_SCORE)])

    @property
    def seconds_left(self) -> float:
        """Until the deadline; nought once it is over."""
        return max(0.0, self._started + self._limits.deadline_seconds - self._clock())

    @property
    def is_prompt(self) -> bool:
        """Whether all of it is sure to be there in a few milliseconds."""
        return bool(self._prediction.favourable[0]) or self._quick

    def start(self) -> Line:
        """The first line, which is known before the search begins."""
        return self._writer.start(self._prediction, self._limits_text())

    def rest(self) -> Iterator[Line | None]:
        """All further lines; None where there is nothing to say yet. The last is `summary` or `error`."""
        try:
            for fact in self._timed(self._facts()):
                if isinstance(fact, Answers):
                    yield from map(self._counterfactual, fact)
                else:
                    yield self._line(fact)
        except Exception as error:  # noqa: BLE001  # the status is out: an error line is all that is left
            self._failed = True
            if not is_expected(error):
                log_unexpected(error)
            yield self._writer.error(problem(error))

    def progress(self, complete_up_to: int) -> Line:
        """How far the search is, and up to which size the answers have been told."""
        return self._writer.progress(complete_up_to, self._oracle.meter.rows, self._elapsed_ms())

    def account(self) -> Account:
        """What it has come to so far, for those who watch the service."""
        finished = self._finished
        return Account(
            engine=self._engine if finished is None else finished.engine,
            outcome="error" if self._failed else "unfinished" if finished is None else self._outcome(finished),
            stopped_by=None if finished is None else finished.stopped_by,
            count=self._count,
            model_rows=self._oracle.meter.rows,
            model_seconds=self._oracle.meter.seconds,
            search_seconds=self._search_seconds,
            first_answer_seconds=self._first_seconds,
        )

    def _facts(self) -> Iterator[Fact]:
        if self._prediction.favourable[0]:
            engine = Engine.LATTICE if self._engine is Engine.AUTO else self._engine
            yield Finished(engine, Guarantee.EXACT, len(self._question.problem.moves), None)
        else:
            yield from self._search.facts(self._engine)

    def _timed(self, facts: Iterator[Fact]) -> Iterator[Fact]:
        """The same facts, with the time that they took to find, and not the time to send them."""
        while True:
            began = self._clock()
            fact = next(facts, None)
            self._search_seconds += self._clock() - began
            if fact is None:
                return
            yield fact

    def _counterfactual(self, found: Found) -> Line:
        self._check(found)
        self._count += 1
        if self._first_seconds is None:
            self._first_seconds = self._clock() - self._started
        for index in found.moves:
            self._changed_in[index] += 1
        return self._writer.counterfactual(self._count, found)

    def _line(self, fact: Fact) -> Line | None:
        match fact:
            case LevelFinished():
                self.complete_up_to = fact.size
                return self.progress(fact.size)
            case Explained():
                self._explained = fact
            case Finished():
                return self._summary(fact)
        return None

    def _check(self, found: Found) -> None:
        """Hold an answer against every constraint once more, whichever engine found it; no wrong one is sent."""
        problem = self._question.problem
        changed = frozenset([self._positions[index] for index in found.moves])
        broken = [item.path for item in problem.items if not obeys(changed, item.statement, problem.states)]
        if broken or not changed <= self._movable:
            raise WrongAnswer(broken)

    def _summary(self, finished: Finished) -> Line:
        self._finished = finished
        features = self._question.model.features
        names = [features[move.position].name for move in self._question.problem.moves]
        content: dict[str, Any] = {
            "outcome": self._outcome(finished),
            "count": self._count,
            "complete": finished.complete,
            "complete_up_to": finished.complete_up_to,
            "stopped_by": finished.stopped_by,
            "guarantee": finished.guarantee,
            "engine": finished.engine,
            "model_rows": self._oracle.meter.rows,
            "model_calls": self._oracle.meter.calls,
            "solver_checks": self._search.solver.checks,
            "elapsed_ms": {
                "total": self._elapsed_ms(),
                "search": _milliseconds(self._search_seconds),
                "model": _milliseconds(self._oracle.meter.seconds),
                "solver": _milliseconds(self._search.solver.seconds),
            },
            "changed_in": {name: count for name, count in zip(names, self._changed_in, strict=True) if count},
        }
        return self._writer.summary(content, self._explained)

    def _outcome(self, finished: Finished) -> str:
        if self._prediction.favourable[0]:
            return "already_favourable"
        if self._count:
            return "found"
        return "no_recourse" if finished.complete else "unknown"

    def _limits_text(self) -> str:
        limits = self._limits
        most = "null" if limits.max_counterfactuals is None else limits.max_counterfactuals
        return (
            f'{{"engine":"{self._engine}","max_counterfactuals":{most},'
            f'"deadline_ms":{round(limits.deadline_seconds * 1000)},"max_model_rows":{limits.max_model_rows}}}'
        )

    def _elapsed_ms(self) -> float:
        return _milliseconds(self._clock() - self._started)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
