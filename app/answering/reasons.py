"""Reasons for a decision: which features outside their ranges it rests on, by all the minimal sets that would turn it.

The search is that of the plans, with the constraints set aside: what nobody can change can still be a reason.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from enum import StrEnum

from app.answering.answer import Answer
from app.answering.events import Counterfactual, Failed, Finished, Started, Summary
from app.asking.posing.question import Question
from app.core.facts import Found, Moment, Working
from app.core.memory import Waiting
from app.core.search.verdict import Verdict
from app.observing.observed_requests import observed_request


class Outcome(StrEnum):
    """What came of looking for reasons; `none`: no set of features, brought into range, turns the decision."""

    FOUND = "found"
    ALREADY_FAVOURABLE = "already_favourable"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reason:
    """A feature that minimal sets hold: its position, how many hold it, and the first of the smallest of them."""

    position: int
    sets: int
    smallest: Found


@dataclass(frozen=True, slots=True)
class Reasons:
    """What is known of a decision. `ranked` is empty unless every minimal set was found, and that is proved."""

    answer: Answer
    prediction: Verdict
    summary: Summary
    ranked: tuple[Reason, ...]

    @property
    def question(self) -> Question:
        return self.answer.question

    @property
    def outcome(self) -> Outcome:
        if not self.summary.complete:
            return Outcome.UNKNOWN
        if self.summary.outcome == "already_favourable":
            return Outcome.ALREADY_FAVOURABLE
        return Outcome.FOUND if self.ranked else Outcome.NONE


class Tally:
    """Counts the minimal sets by the features that they hold, without keeping them."""

    def __init__(self, question: Question) -> None:
        # A feature with steps has several moves; a set holds one of them at the most.
        self._positions = [move.position for move in question.problem.moves]
        self._sets: Counter[int] = Counter()
        self._smallest: dict[int, Found] = {}

    def add(self, found: Found) -> None:
        for position in [self._positions[move] for move in found.moves]:
            self._sets[position] += 1
            best = self._smallest.setdefault(position, found)
            if (len(found.moves), found.moves) < (len(best.moves), best.moves):
                self._smallest[position] = found

    def ranked(self) -> tuple[Reason, ...]:
        """In more sets before in fewer; then by the size of the smallest set; then in the model's order."""
        reasons = [Reason(position, self._sets[position], found) for position, found in self._smallest.items()]
        return tuple(sorted(reasons, key=lambda each: (-each.sets, len(each.smallest.moves), each.position)))


def find_reasons(answer: Answer) -> Generator[Moment, None, Reasons]:
    """Let the search of an answer run to its end, in turns, and draw the reasons from what it finds."""
    observed_request().answer = answer
    tally, prediction = Tally(answer.question), None
    for event in answer.events():
        match event:
            case Counterfactual():
                tally.add(event.found)
            case Started():
                prediction = event.prediction
            case Failed():
                raise event.error
            case Finished(summary=summary):
                assert prediction is not None, "an answer begins with its start"
                return Reasons(answer, prediction, summary, tally.ranked() if summary.complete else ())
        yield Waiting() if answer.is_waiting else Working()
    raise AssertionError("an answer ends with its summary, or with an error")
