"""The answer to a question as a clinic needs it: its first plans, once the search has ended."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from app.adapters.locales.language import Language
from app.answering.answer import Answer
from app.answering.events import Counterfactual, Event, Failed, Finished, Started, Summary
from app.asking.posing.question import Question
from app.core.facts import Found, Moment, Working
from app.core.memory import Waiting
from app.core.search.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Plans:
    """What the model says of the person, the first plans, and how the search ended."""

    question: Question
    prediction: Verdict
    first: tuple[Found, ...]
    summary: Summary


def first_plans(
    answer: Answer, most: int, present: Callable[[Event | None], str] | None = None
) -> Generator[Moment, None, Plans]:
    """Let the search run to its end, in turns; what breaks it down is raised. `present` gets every event too."""
    found: list[Found] = []
    prediction: Verdict | None = None
    for event in answer.events():
        if present is not None:
            present(event)
        match event:
            case Counterfactual() if len(found) < most:
                found.append(event.found)
            case Started():
                prediction = event.prediction
            case Failed():
                raise event.error
            case Finished(summary=summary):
                assert prediction is not None, "an answer begins with its start"
                return Plans(answer.question, prediction, tuple(found), summary)
        yield Waiting() if answer.is_waiting else Working()
    raise AssertionError("an answer ends with its summary, or with an error")


def findings(plans: Plans, language: Language) -> list[str]:
    """What the search came to, in sentences that claim no cause."""
    summary, messages = plans.summary, language.messages
    match summary.outcome:
        case "already_favourable":
            return [messages.favourable_already]
        case "found":
            said = language.counted(messages.sets, summary.count)
            return [said, messages.all_found if summary.complete else messages.maybe_others]
        case "no_recourse":
            return [messages.no_set]
    return [messages.no_set_known]
