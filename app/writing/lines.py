"""The presenter: turns the events of an answer into lines of JSON, in the form that was asked for.

What repeats from line to line is encoded once for each request, and what repeats from request to request once for each
model and registry: see `wording`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple

from app import __version__
from app.adapters.files.numbers import number_text
from app.adapters.graphs.features import as_sent
from app.adapters.locales.language import IN_ENGLISH, Language
from app.answering.events import Counterfactual, Event, Finished, Progress, Started, Summary
from app.asking.posing.question import Question
from app.core.facts import Best, Found
from app.core.findings import WhyNot
from app.core.least.turning import Turn
from app.core.problem import Move
from app.core.robust.telling import Stability
from app.writing.consequences import ConsequenceWriter
from app.writing.forms import Form
from app.writing.json_pieces import encoded, prediction_json, range_json, rules_json, target_json, unmatched_json
from app.writing.robustness import StabilityWriter
from app.writing.wording import wording_of

# An explanation lists so many ways of giving up constraints, the smallest, and counts the others.
MOST_RELAXATIONS = 20

SUMMARY = [field.name for field in fields(Summary)]
_summary_values = attrgetter(*SUMMARY)
SERVICE = encoded({"name": "flipset", "version": __version__})


class MoveWording(NamedTuple):
    """All that is said of a move: as a change, in the changed row, and in a sentence, first, further on, or last."""

    position: int
    change: str
    cell: str
    first: str
    further: str
    last: str


class Presenter:
    """Writes one answer: events in, text out.

    `problem` makes the object that tells of an error; what such an object holds is for the door to say. Titles and
    sentences are in the language.
    """

    def __init__(
        self,
        question: Question,
        form: Form,
        problem: Callable[[Exception], Mapping[str, Any]],
        language: Language = IN_ENGLISH,
    ) -> None:
        self._writer = LineWriter(question, language)
        self._frame = form.frame
        self._problem = problem

    def text(self, event: Event | None) -> str:
        """What is sent of an event; nothing where there is nothing to tell."""
        if isinstance(event, Counterfactual):
            return self._frame("counterfactual", self._writer.counterfactual(event))
        match event:
            case Progress():
                return self._frame("progress", self._writer.progress(event))
            case None:
                return ""
            case Started():
                return self._frame("start", self._writer.start(event))
            case Finished():
                return self._frame("summary", self._writer.summary(event))
        return self._frame("error", encoded({"type": "error", "problem": self._problem(event.error)}))


class LineWriter:
    """Writes the JSON of the lines of one answer."""

    def __init__(self, question: Question, language: Language = IN_ENGLISH) -> None:
        self._question = question
        self._language = language
        self._wording = wording_of(question.prepared, language)
        self._sentences = self._wording.sentences
        self._features = self._wording.features
        self._sent = [as_sent(value) for value in question.sent]
        self._unchanged = [f"{feature.cell}{value}" for feature, value in zip(self._features, self._sent, strict=True)]
        self._targets = [
            "null" if finding.target is None else feature.text(finding.target)
            for feature, finding in zip(question.model.features, question.problem.findings, strict=True)
        ]
        self._moves = self._worded(question.problem.moves)
        self._consequences = ConsequenceWriter(question, self._features, self._sentences, self._spoken)
        self._cost, self._cost_text = 0.0, "0"
        robustness = question.robustness
        self._told = None if robustness is None else StabilityWriter(question, robustness, self._wording)

    def start(self, event: Started) -> str:
        question, prediction = self._question, event.prediction
        # In ASCII: a key of the context may hold half a character, which no UTF-8 can carry.
        unused = json.dumps(question.unused_context) if question.unused_context else "[]"
        usual = question.favourable is question.model.favourable
        target = self._wording.target if usual else encoded(target_json(question.favourable, question.model))
        decision = self._prediction(prediction.score[0], int(prediction.label[0]), bool(prediction.favourable[0]))
        features = ",".join(
            [self._feature(*each) for each in enumerate(map(self._wording.ranges.get, map(id, question.ranges)))]
        )
        unsure = "" if question.conflicts_ruled_out else ',"conflicts_ruled_out":false'
        added = rules_json(question.added_rules)
        robustness = "" if self._told is None else f',"robustness":{self._told.asked()}'
        rules = f"{self._wording.rules}," if self._wording.rules and added else self._wording.rules
        return (
            f'{{"type":"start","model":{self._wording.model},"normal_ranges":{self._wording.registry},'
            f'"prediction":{decision},"target":{target},"limits":{_limits(event)},"unused_context":{unused},'
            f'"unmatched_context":{unmatched_json(question)},'
            f'"features":[{features}],"service":{SERVICE},"rules":[{rules}{added}]{unsure}{robustness}}}'
        )

    def counterfactual(self, event: Counterfactual) -> str:
        holds = "" if self._told is None else f',"stability":{self._told.stability(event.stability)}'
        answer = self._answer(self._moves, event.found, event.enough)
        return f'{{"type":"counterfactual","rank":{event.rank},{answer}{holds}}}'

    def progress(self, event: Progress) -> str:
        return (
            f'{{"type":"progress","complete_up_to":{event.complete_up_to},"model_rows":{event.model_rows},'
            f'"elapsed_ms":{event.elapsed_ms!r}}}'
        )

    def summary(self, event: Finished) -> str:
        summary, why = event.summary, "null" if event.explained is None else self._no_recourse(event)
        content = {"type": "summary", **dict(zip(SUMMARY, _summary_values(summary), strict=True))}
        content["elapsed_ms"] = summary.elapsed_ms._asdict()
        content["proof"] = None if summary.proof is None else summary.proof._asdict()
        if event.told is not None:
            content["stability"] = event.told._asdict()
        return f'{encoded(content)[:-1]},"no_recourse":{why}}}'

    def changed(self, found: Found) -> str:
        """What is changed, and what the model then says, as fields of an object."""
        changes = ",".join([self._moves[index].change for index in found.moves])
        return f'"changes":[{changes}],"prediction":{self._prediction(found.score, found.label, True)}'

    def _answer(
        self, moves: Sequence[MoveWording], found: Found | Best, enough: Sequence[Turn | None] | None = None
    ) -> str:
        """What is changed, what it costs, what the model then says, and the whole changed row."""
        made = [moves[index] for index in found.moves]
        row = self._unchanged.copy()
        for move in made:
            row[move.position] = move.cell
        if found.cost != self._cost:
            # Many in a row cost the same.
            self._cost, self._cost_text = found.cost, number_text(found.cost)
        follows, sentence = "", self._sentences.of(made)
        if self._question.problem.following is not None:
            posed = self._question.problem.moves if moves is self._moves else self._question.problem.candidates
            followed = self._consequences.of([posed[index] for index in found.moves])
            follows = f'"consequences":[{",".join([each.told for each in followed])}],'
            sentence = self._sentences.with_consequences(made, [each.spoken for each in followed])
            for each in followed:
                row[each.position] = each.cell
        changes = [move.change for move in made]
        if self._question.least and moves is self._moves:
            changes = list(map(self._with_enough, made, enough or [None] * len(made)))
        prediction = self._prediction(found.score, found.label, isinstance(found, Found))
        return (
            f'"sentence":"{sentence}","changes":[{",".join(changes)}],{follows}'
            f'"cost":{self._cost_text},"prediction":{prediction},"instance":{{{",".join(row)}}}'
        )

    def _with_enough(self, move: MoveWording, turn: Turn | None) -> str:
        """A change with what would be enough of it, if the others stay."""
        if turn is None:
            return f'{move.change[:-1]},"enough":null,"turns":null}}'
        return f'{move.change[:-1]},"enough":{number_text(turn.enough)},"turns":{turn.turns}}}'

    def _prediction(self, score: Any, label: int, favourable: bool) -> str:
        return prediction_json(self._wording.labels[label], score, favourable)

    def _no_recourse(self, event: Finished) -> str:
        """Why nothing was found: what to give up for a way, and what comes closest."""
        explained = event.explained
        assert explained is not None
        explanation, problem, target = explained.explanation, self._question.problem, self._question.favourable
        shown = explanation.relaxations[:MOST_RELAXATIONS]
        candidates = self._worded(problem.candidates)
        relax = ",".join(
            f'{{"items":{encoded([problem.items[index].path for index in relaxation.items])},'
            f'"counterfactual":{{{self._answer(candidates, relaxation.found)}}}}}'
            for relaxation in shown
        )
        best, without_rules = (
            "null" if best is None else f"{{{self._answer(candidates, best)}{self._holds(told)}}}"
            for best, told in ((explained.best, event.best), (explained.best_without_rules, event.best_without_rules))
        )
        return (
            f'{{"reason":{encoded(explained.reason)},"complete":{encoded(explanation.complete)},"relax":[{relax}],'
            f'"more":{len(explanation.relaxations) - len(shown)},"best":{best},"best_without_rules":{without_rules},'
            f'"threshold":{encoded(getattr(target, "threshold", None))}}}'
        )

    def _holds(self, told: Stability | None) -> str:
        return "" if self._told is None or told is None else f',"stability":{self._told.stability(told)}'

    def _worded(self, moves: Iterable[Move]) -> list[MoveWording]:
        return [self._move(move) for move in moves]

    def _move(self, move: Move) -> MoveWording:
        position = move.position
        is_missing = self._question.is_missing(position)
        feature, value = self._features[position], "null" if is_missing else self._sent[position]
        target = self._targets[position]
        direction = self._question.direction(position)
        way = "null" if direction is None else f'"{direction}"'
        if self._question.problem.states[position].path:
            target = self._question.model.features[position].text(move.target)
            way += f',"step":{move.step},"steps":{move.steps}' if move.steps > 1 else ""
        before = None if is_missing else self._spoken(value, position)
        after = f"{self._spoken(target, position)}{feature.spoken_unit}"
        return MoveWording(
            position,
            f'{feature.change}{value},"to":{target}{feature.direction}{way}}}',
            f"{feature.cell}{target}",
            *self._sentences.clause(direction, feature.spoken, before, self._sentences.with_step(after, move)),
        )

    def _spoken(self, text: str, position: int) -> str:
        """A value inside a sentence, which is inside quotes itself."""
        if self._language is IN_ENGLISH:
            return text[1:-1] if text.startswith('"') else text
        model = self._question.model
        return encoded(self._language.value(model, model.features[position].name, text))[1:-1]

    def _feature(self, position: int, known: str | None) -> str:
        question, feature = self._question, self._features[position]
        finding, target = question.problem.findings[position], self._targets[position]
        movable = (
            '"movable":true,"why_not":null' if finding.movable else f'"movable":false,"why_not":"{finding.why_not}"'
        )
        if known is None:
            known = range_json(question.ranges[position], question.model.features[position])
        if finding.why_not is WhyNot.MISSING:
            movable += feature.hint
        if question.model.features[position].bounds is not None:
            movable += self._warning(position)
        if path := question.problem.states[position].path:
            movable += self._ways(position, path)
        return (
            f"{feature.state}{self._sent[position]}{self._filled(position)}"
            f'{known},"status":"{finding.status}","target":{target},{movable}}}'
        )

    def _ways(self, position: int, path: Sequence[float]) -> str:
        """The several values that a feature may stop at."""
        values = ",".join(map(self._question.model.features[position].text, path))
        return f',"{"any_of" if self._question.problem.states[position].chooses else "steps"}":[{values}]'

    def _warning(self, position: int) -> str:
        """That a value lies outside of the feature's bounds; values that are refused do not come so far."""
        flaw = self._question.model.features[position].beyond(self._question.problem.instance[position])
        return "" if flaw is None or self._question.is_missing(position) else f',"warning":{encoded(flaw)}'

    def _filled(self, position: int) -> str:
        """What stood in for a missing value, so that nobody takes it for a measurement; and the unit."""
        feature, known = self._features[position], self._question.model.features[position]
        if known.default is None or not self._question.is_missing(position):
            return feature.unfilled
        return f',"filled":{as_sent(known.default)}{feature.unit}'


def _limits(event: Started) -> str:
    limits = event.limits
    most = "null" if limits.max_counterfactuals is None else limits.max_counterfactuals
    return (
        f'{{"engine":"{event.engine}","max_counterfactuals":{most},'
        f'"deadline_ms":{round(limits.deadline_seconds * 1000)},"max_model_rows":{limits.max_model_rows}}}'
    )
