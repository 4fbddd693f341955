"""An answer as a person reads it in a terminal."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from math import isnan
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.adapters.files.names import counted, listed
from app.adapters.files.numbers import SentNumber, number_text
from app.adapters.graphs.features import ModelFeature
from app.answering.events import Counterfactual, Event, Failed, Finished, Started, Summary
from app.asking.posing.question import Question
from app.asking.ranges import ChosenRange
from app.asking.refusals import told
from app.core.constraints import Item
from app.core.facts import Best, Explained, Found
from app.core.findings import WhyNot
from app.core.following.consequences import consequences_of
from app.core.least.turning import Turn
from app.core.problem import Move
from app.core.ranges import Allowed, Condition, NormalRange
from app.core.robust.telling import Stability
from app.writing.json_pieces import encoded, target_json
from app.writing.lines import MOST_RELAXATIONS
from app.writing.sentences import Clause, Sentences
from app.writing.wording import spoken_names, spoken_unit

SENTENCES = Sentences()
MARKS = {
    "normal": "normal",
    "low": "▼ low",
    "high": "▲ high",
    "not_allowed": "✕ not allowed",
    "unknown": "? no range",
    "missing": "? missing",
}


def show(events: Sequence[Event], console: Console) -> None:
    """Print the decision, where each value stands, every answer, and how far to trust that these are all."""
    started, last = events[0], events[-1]
    assert isinstance(started, Started)
    question = started.question
    answers = [event for event in events if isinstance(event, Counterfactual)]
    console.print(_decision(started, last))
    for line in _context_mistakes(question):
        console.print(Text(line))
    console.print(_features(question))
    if answers:
        console.print(_answers(answers, question))
    if isinstance(last, Failed):
        console.print(Text(told(last.error)[0]))
    elif isinstance(last, Finished):
        console.print(_conclusion(last.summary, question))
        if last.explained is not None:
            console.print(_why(last, last.explained, question))


def _decision(started: Started, last: Event) -> Text:
    question, prediction = started.question, started.prediction
    model, registry = question.model, question.prepared.registry
    against = f", ranges {registry.name} {registry.version}" if registry else ", no ranges"
    verdict = "favourable" if prediction.favourable[0] else "not favourable"
    if prediction.decided is not None and prediction.decided[0] and not prediction.favourable[0]:
        is_unknown = not isinstance(last, Finished) or last.summary.outcome == "unknown"
        verdict = f"favourable, but that {'is not known to' if is_unknown else 'does not'} hold as you require"
    said = f"{model.classes[prediction.label[0]]}, {verdict}" if model.classes else verdict
    return Text(f"{model.name} {model.version}{against}: {said}\n{_scored(started)}\n")


def _scored(started: Started) -> str:
    """The score beside what it should be."""
    score = _short(started.prediction.score[0])
    target = target_json(started.question.favourable, started.question.model)
    # As compared: the model's own type may not hold all digits that were asked for.
    ends = target["compared_as"]
    if "classes" not in target:
        return f"value {score}; favourable is {_interval(ends['low'], ends['high'])}"
    wanted = " or ".join(target["classes"])
    least = f"{wanted} must score highest" if ends["threshold"] is None else f"it must reach {ends['threshold']}"
    return f"score of {wanted}: {score}; {least}"


def _context_mistakes(question: Question) -> Iterator[str]:
    """What of the context no range looks at, most likely because it is misspelt."""
    for key in question.unused_context:
        yield f"context.{key}: no range uses it"
    for key in question.unmatched_context:
        known = [_condition(condition) for condition in question.prepared.asked[key].written]
        yield f"context.{key}: no range knows this value, so the ranges for {listed(known, 'or')} do not apply"


def _condition(condition: Condition) -> str:
    if isinstance(condition, NormalRange):
        return _interval(condition.low, condition.high)
    return condition.value if isinstance(condition.value, str) else encoded(condition.value)


def _features(question: Question) -> Table:
    table = Table("feature", "value", "unit", "normal range", "status", "would move to", title="Where the values stand")
    for position, feature in enumerate(question.model.features):
        sent, finding = question.sent[position], question.problem.findings[position]
        target = "" if finding.target is None else _shown(finding.target, feature)
        if finding.target is not None and not finding.movable:
            target = f"may not: {finding.why_not}"
        if finding.why_not is WhyNot.MISSING:
            target = "may not: see if_missing"
        cells = (
            f"{feature.name} ({feature.title})" if feature.title else feature.name,
            "missing" if sent is None else str(sent),
            spoken_unit(feature).lstrip(),
            _range(question.ranges[position], feature),
            MARKS["missing" if sent is None else finding.status],
            target,
        )
        table.add_row(*map(Text, cells))
    return table


def _range(chosen: ChosenRange | None, feature: ModelFeature) -> str:
    if chosen is None:
        return ""
    if isinstance(chosen.normal, Allowed):
        return ", ".join(_shown(code, feature) for code in chosen.normal.codes)
    return _interval(*(None if end is None else _number(end) for end in (chosen.normal.low, chosen.normal.high)))


def _interval(low: float | str | None, high: float | str | None) -> str:
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"


def _shown(value: float, feature: ModelFeature) -> str:
    """A value that is not missing, or the category that it stands for."""
    known = feature.categories[int(value)] if feature.type == "category" else value
    return known if isinstance(known, str) else _number(known)


def _number(number: float) -> str:
    return str(number) if isinstance(number, SentNumber) else number_text(number)


def _answers(answers: Sequence[Counterfactual], question: Question) -> Table:
    columns = ["rank", "change", "cost", "score then"]
    holds = question.robustness is not None
    title = "Plans that hold" if _must_hold(question) else "What would turn the decision"
    table = Table(*columns, *["holds"] * holds, title=title, show_lines=True)
    moves = question.problem.moves
    for rank, found, stability, enough in answers:
        made = [moves[index] for index in found.moves]
        changed = map(_change, made, repeat(question), enough or repeat(None))
        changes = "\n".join([*changed, *_consequences(made, question)])
        cells = str(rank), changes, number_text(round(found.cost, 4)), _short(found.score)
        # As Text: a name or a unit in square brackets is no markup.
        table.add_row(*map(Text, (*cells, *[_holds(stability, question)] * holds)))
    return table


def _must_hold(question: Question) -> bool:
    """Whether only plans that hold are asked for."""
    return question.robustness is not None and question.robustness.is_required_in_any_way


def _holds(told: Stability | None, question: Question) -> str:
    """Whether a plan holds, in a few lines."""
    return "not told" if told is None else "\n".join(_stability(told, question))


def _stability(told: Stability, question: Question) -> Iterator[str]:
    assert question.robustness is not None
    if told.draws:
        yield f"in {told.passed} of {told.draws} repeated measurements"
    if told.certificate.certified:
        yield "proved for every error up to three standard deviations"
    elif told.certificate.certified is False and told.passed == told.draws:
        yield "not for every error up to three standard deviations"
    for model, other in zip(question.robustness.models, told.others, strict=True):
        yield f"{'also' if other.favourable else 'not'} approved by {model.name}"
    if told.breaks_with is not None:
        features = [question.model.features[question.problem.moves[move].position] for move in told.breaks_with]
        names = list(dict.fromkeys(each.spoken for each in features))
        yield f"undone if {listed(names)} {'improve' if len(names) > 1 else 'improves'} too"


def _change(move: Move, question: Question, turn: Turn | None) -> str:
    feature = question.model.features[move.position]
    before = "missing" if question.is_missing(move.position) else str(question.sent[move.position])
    after = SENTENCES.with_step(f"{_shown(move.target, feature)}{spoken_unit(feature)}", move)
    return f"{feature.title or feature.name}: {before} → {after}{'' if turn is None else _enough(turn)}"


def _enough(turn: Turn) -> str:
    nearest = f", the nearest of {turn.turns} turns" if turn.turns > 1 else ""
    return f"\n  {number_text(turn.enough)} is enough{nearest}"


def _consequences(moves: Sequence[Move], question: Question) -> list[str]:
    """What follows from moves."""
    said = []
    for position, before, after, _ in consequences_of(question.problem.following, moves):
        feature = question.model.features[position]
        values = " → ".join("missing" if isnan(value) else _number(value) for value in (before, after))
        said.append(f"  so {feature.title or feature.name}: {values}{spoken_unit(feature)}")
    return said


def _conclusion(summary: Summary, question: Question) -> Text:
    holding = _must_hold(question)
    outcomes = {
        "found": f"{counted(summary.count, 'minimal set')} of changes{' that hold' if holding else ''} found.",
        "already_favourable": "The decision is already favourable: nothing needs to change.",
        "no_recourse": f"No allowed set of changes {'holds' if holding else 'turns the decision'}.",
        "unknown": "No set of changes was found, but there may be one.",
    }
    trust = "" if summary.outcome == "already_favourable" else _trust(summary)
    return Text(f"{outcomes[summary.outcome]} {trust}".rstrip())


def _trust(summary: Summary) -> str:
    if summary.complete:
        return "This is complete and exact."
    size = counted(summary.complete_up_to, "change")
    if summary.stopped_by:
        return f"Stopped by {summary.stopped_by}: all answers of at most {size} are here."
    return f"The search assumed that one more change never hurts; without that, all answers of at most {size} are here."


def _why(last: Finished, explained: Explained, question: Question) -> Text:
    explanation, items = explained.explanation, question.problem.items
    cut_short = [] if explanation.complete else ["There was not enough time to check every set of changes."]
    if ways := explanation.relaxations:
        told = [
            f"  without {' and '.join(_named(items[index], question) for index in way.items)}: "
            f"{_sentence(way.found, question)}"
            for way in ways[:MOST_RELAXATIONS]
        ]
        more = [f"  and {len(ways) - MOST_RELAXATIONS} more"] if len(ways) > MOST_RELAXATIONS else []
        title = (
            "Constraints are in the way:"
            if explained.reason
            else "Giving these up opens a way. There may also be one that gives up nothing:"
        )
        return Text("\n".join([title, *told, *more, *cut_short]))
    closest = [
        *_closest("What comes closest", explained.best, last.best, question),
        *_closest("What comes closest, rules aside", explained.best_without_rules, last.best_without_rules, question),
    ]
    return Text("\n".join([*closest, *cut_short]))


def _named(item: Item, question: Question) -> str:
    """An item by its path, and what it says."""
    rules = (*question.prepared.rules, *question.added_rules)
    words = next((rule.words for rule in rules if rule.item == item.path), "")
    return f"{item.path} ({words})" if words else item.path


def _closest(title: str, best: Best | None, told: Stability | None, question: Question) -> list[str]:
    if best is None:
        return []
    holds = "" if told is None else f" Holds: {'; '.join(_stability(told, question))}."
    return [f"{title}, with a score of {_short(best.score)}: {_sentence(best, question)}{holds}"]


def _sentence(found: Found | Best, question: Question) -> str:
    moves = [question.problem.candidates[index] for index in found.moves]
    names = spoken_names(question.model.features)
    follows = [
        SENTENCES.consequence(names[position], None if isnan(before) else _number(before), _number(after))
        for position, before, after, _ in consequences_of(question.problem.following, moves)
    ]
    return SENTENCES.with_consequences([_clause(move, question) for move in moves], follows)


def _clause(move: Move, question: Question) -> Clause:
    position, features = move.position, question.model.features
    sent = question.sent[position]
    before = None if question.is_missing(position) else sent if isinstance(sent, str) else number_text(sent or 0)
    after = SENTENCES.with_step(f"{_shown(move.target, features[position])}{spoken_unit(features[position])}", move)
    return SENTENCES.clause(question.direction(position), spoken_names(features)[position], before, after)


def _short(score: Any) -> str:
    # By the decimal that answers write: a score has fewer digits than Python's numbers.
    return f"{float(str(score)):.4g}"
