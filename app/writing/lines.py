"""The presenter: turns the events of an answer into lines of JSON, in the form that was asked for.

What repeats from line to line is encoded once for each request, and what repeats from request to request once for each
model and registry: see `wording`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

from app import __version__
from app.adapters.files.numbers import number_text
from app.adapters.graphs.features import as_sent
from app.adapters.locales.language import IN_ENGLISH, Language
from app.answering.events import Counterfactual, Event, Failed, Finished, Progress, Proof, Started
from app.asking.posing.question import Question
from app.core.facts import Best, Found
from app.core.findings import WhyNot
from app.core.least.turning import Turn
from app.core.problem import Move
from app.core.robust.telling import Stability
from app.writing.consequences import ConsequenceWriter
from app.writing.forms import Form
from app.writing.json_pieces import (
    WRITTEN,
    encoded,
    prediction_json,
    range_json,
    rules_json,
    target_json,
    unmatched_json,
)
from app.writing.moves import MoveWording, MoveWordings
from app.writing.robustness import StabilityWriter
from app.writing.wording import wording_of

# An explanation lists so many ways of giving up constraints, the smallest, and counts the others.
MOST_RELAXATIONS = 20

SERVICE = encoded({"name": "flipset", "version": __version__})


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
        writer = LineWriter(question, language)
        self._frame = form.frame
        self._kinds: dict[type[Event], tuple[str, Callable[[Any], str]]] = {
            Started: ("start", writer.start),
            Counterfactual: ("counterfactual", writer.counterfactual),
            Progress: ("progress", writer.progress),
            Finished: ("summary", writer.summary),
            Failed: ("error", partial(_error, problem)),
        }

    def text(self, event: Event | None) -> str:
        """What is sent of an event; nothing where there is nothing to tell."""
        if event is None:
            return ""
        kind, write = self._kinds[type(event)]
        return self._frame(kind, write(event))


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
        self._consequences = ConsequenceWriter(question, self._features, self._sentences, self._moves.spoken)
        self._cost, self._cost_text = 0.0, "0"
        robustness = question.robustness
        self._told = None if robustness is None else StabilityWriter(question, robustness, self._wording)

    def _worded(self, moves: Sequence[Move]) -> MoveWordings:
        return MoveWordings(moves, self._question, self._wording, self._language, self._sent, self._targets)

    def start(self, event: Started) -> str:
        question, prediction = self._question, event.prediction
        # In ASCII: a key of the context may hold half a character, which no UTF-8 can carry.
        unused = json.dumps(question.unused_context) if question.unused_context else "[]"
        usual = question.favourable is question.model.favourable
        target = self._wording.target if usual else encoded(target_json(question.favourable, question.model))
        decision = self._prediction(prediction.score[0], int(prediction.label[0]), bool(prediction.favourable[0]))
        features = ",".join(self._states())
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
        said, elapsed = event.summary, event.summary.elapsed_ms
        stopped_by = "null" if said.stopped_by is None else f'"{said.stopped_by}"'
        told = "" if event.told is None else f',"stability":{encoded(event.told._asdict())}'
        why = "null" if event.explained is None else self._no_recourse(event)
        # Piece by piece: every answer has one, and an encoder of JSON takes longer for it than for anything else.
        return (
            f'{{"type":"summary","outcome":"{said.outcome}","count":{said.count},"complete":{WRITTEN[said.complete]},'
            f'"complete_up_to":{said.complete_up_to},"stopped_by":{stopped_by},"guarantee":"{said.guarantee}",'
            f'"engine":"{said.engine}","model_rows":{said.model_rows},"model_calls":{said.model_calls},'
            f'"solver_checks":{said.solver_checks},"elapsed_ms":{{"total":{elapsed.total!r},"search":{elapsed.search!r},'
            f'"model":{elapsed.model!r},"solver":{elapsed.solver!r}}},"changed_in":{self._counts(said.changed_in)},'
            f'"proof":{_proof(said.proof)}{told},"no_recourse":{why}}}'
        )

    def _counts(self, changed_in: Mapping[str, int]) -> str:
        positions, features = self._question.model.positions, self._features
        counts = [f"{features[positions[name]].cell}{count}" for name, count in changed_in.items()]
        return f"{{{','.join(counts)}}}"

    def changed(self, found: Found) -> str:
        """What is changed, and what the model then says, as fields of an object."""
        changes = ",".join([self._moves[index].change for index in found.moves])
        return f'"changes":[{changes}],"prediction":{self._prediction(found.score, found.label, True)}'

    def _answer(self, moves: MoveWordings, found: Found | Best, enough: Sequence[Turn | None] | None = None) -> str:
        """What is changed, what it costs, what the model then says, and the whole changed row."""
        made = list(map(moves.__getitem__, found.moves))
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

    def _states(self) -> list[str]:
        """How each feature stands, as objects. One loop for all of them: it is a large part of a small answer."""
        problem, known, told = self._question.problem, self._wording.ranges, []
        standing = zip(problem.findings, problem.states, self._question.ranges, strict=True)
        texts = zip(self._features, self._sent, self._targets, strict=True)
        for position, ((status, _, why_not), state, chosen) in enumerate(standing):
            feature, sent, target = next(texts)
            held = known.get(id(chosen)) or range_json(chosen, self._question.model.features[position])
            movable = '"movable":true,"why_not":null' if why_not is None else f'"movable":false,"why_not":"{why_not}"'
            if why_not is WhyNot.MISSING:
                movable += feature.hint
            if not feature.least <= state.value <= feature.most:
                movable += self._warning(position)
            if state.path:
                movable += self._ways(position, state.path)
            unit = self._filled(position) if isnan(state.value) else feature.unfilled
            told.append(f'{feature.state}{sent}{unit}{held},"status":"{status}","target":{target},{movable}}}')
        return told

    def _ways(self, position: int, path: Sequence[float]) -> str:
        """The several values that a feature may stop at."""
        values = ",".join(map(self._question.model.features[position].text, path))
        return f',"{"any_of" if self._question.problem.states[position].chooses else "steps"}":[{values}]'

    def _warning(self, position: int) -> str:
        """That a value lies outside of the feature's bounds; values that are refused do not come so far."""
        flaw = self._question.model.features[position].beyond(self._question.problem.instance[position])
        return "" if flaw is None or self._question.is_missing(position) else f',"warning":{encoded(flaw)}'

    def _filled(self, position: int) -> str:
        """What stands in for a missing value, so that nobody takes it for a measurement; and the unit."""
        feature, known = self._features[position], self._question.model.features[position]
        return feature.unfilled if known.default is None else f',"filled":{as_sent(known.default)}{feature.unit}'


def _error(problem: Callable[[Exception], Mapping[str, Any]], event: Failed) -> str:
    return encoded({"type": "error", "problem": problem(event.error)})


def _proof(proof: Proof | None) -> str:
    if proof is None:
        return "null"
    inert = encoded(proof.inert) if proof.inert else "[]"
    return f'{{"by":"{proof.by}","nodes":{proof.nodes},"inert":{inert}}}'


def _limits(event: Started) -> str:
    limits = event.limits
    most = "null" if limits.max_counterfactuals is None else limits.max_counterfactuals
    return (
        f'{{"engine":"{event.engine}","max_counterfactuals":{most},'
        f'"deadline_ms":{round(limits.deadline_seconds * 1000)},"max_model_rows":{limits.max_model_rows}}}'
    )
