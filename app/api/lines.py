"""The lines of an answer, written as JSON. What repeats from line to line is encoded once for each request."""

import json
from collections.abc import Sequence
from math import isnan
from typing import Any

from app.adapters.features import as_sent
from app.adapters.numbers import number_text
from app.api.forms import Line
from app.api.json_pieces import encoded, model_identity, prediction_json, target_json, when_json
from app.api.posing import Question
from app.core.constraints import Direction
from app.core.facts import Best, Explained, Found
from app.core.oracle import Verdict
from app.core.problem import Move
from app.core.ranges import Allowed

# An explanation lists so many ways of giving up constraints, the smallest, and counts the others.
MOST_RELAXATIONS = 20


class LineWriter:
    """Writes the lines of one answer."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._names = [encoded(feature.name) for feature in question.model.features]
        self._values = question.texts
        self._unchanged = [f"{name}:{value}" for name, value in zip(self._names, self._values, strict=True)]
        targets = {move.position: self._text(move.position, move.target) for move in question.problem.candidates}
        self._changes = {position: self._change(position, target) for position, target in targets.items()}
        self._changed = {position: f"{self._names[position]}:{target}" for position, target in targets.items()}
        self._clauses = {position: self._clause(position, target) for position, target in targets.items()}

    def start(self, prediction: Verdict, limits: dict[str, Any]) -> Line:
        question = self._question
        registry = question.registry
        ranges = None if registry is None else {"name": registry.name, "version": registry.version}
        # In ASCII: a key of the context may hold half a character, which no UTF-8 can carry.
        unused = json.dumps(question.unused_context)
        features = ",".join(self._feature(position) for position in range(len(self._names)))
        return Line(
            "start",
            f'{{"type":"start","model":{encoded(model_identity(question.model))},"normal_ranges":{encoded(ranges)},'
            f'"prediction":{self._prediction(prediction)},'
            f'"target":{encoded(target_json(question.favourable, question.model.classes))},'
            f'"limits":{encoded(limits)},"unused_context":{unused},'
            f'"features":[{features}]}}',
        )

    def counterfactual(self, rank: int, found: Found) -> Line:
        answer = self._answer(self._question.problem.moves, found)
        return Line("counterfactual", f'{{"type":"counterfactual","rank":{rank},{answer}}}')

    def summary(self, content: dict[str, Any], explained: Explained | None) -> Line:
        why = "null" if explained is None else self._no_recourse(explained)
        return Line("summary", f'{encoded({"type": "summary", **content})[:-1]},"no_recourse":{why}}}')

    def other(self, kind: str, content: dict[str, Any]) -> Line:
        """A line that comes once in a while, and needs no haste."""
        return Line(kind, encoded({"type": kind, **content}))

    def _answer(self, moves: Sequence[Move], found: Found | Best) -> str:
        """What is changed, what it costs, what the model then says, and the whole changed row."""
        row = self._unchanged.copy()
        positions = [moves[index].position for index in found.moves]
        for position in positions:
            row[position] = self._changed[position]
        changes = ",".join(self._changes[position] for position in positions)
        classes = self._question.model.classes
        prediction = prediction_json(isinstance(found, Found), found.score, found.label, classes)
        return (
            f'"sentence":{self._sentence(positions)},"changes":[{changes}],"cost":{number_text(found.cost)},'
            f'"prediction":{prediction},"instance":{{{",".join(row)}}}'
        )

    def _sentence(self, positions: Sequence[int]) -> str:
        """The changes as a person would say them, as JSON."""
        *first, last = [self._clauses[position] for position in positions] or ["change nothing"]
        said = f"{', '.join(first)} and {last}" if first else last
        return encoded(f"{said[0].upper()}{said[1:]}.")

    def _clause(self, position: int, target: str) -> str:
        feature = self._question.model.features[position]
        verb = {None: "change", Direction.INCREASE: "raise", Direction.DECREASE: "lower"}[self._direction(position)]
        unit = f" {feature.unit}" if feature.unit not in (None, "1") else ""
        before, after = (
            json.loads(text) if text.startswith('"') else text for text in (self._values[position], target)
        )
        return f"{verb} {feature.name} from {before} to {after}{unit}"

    def _no_recourse(self, explained: Explained) -> str:
        """Why there is no way out: what to give up for one, or how close any subset comes."""
        explanation, problem, target = explained.explanation, self._question.problem, self._question.favourable
        shown = explanation.relaxations[:MOST_RELAXATIONS]
        relax = ",".join(
            f'{{"items":{encoded([problem.items[index].path for index in relaxation.items])},'
            f'"counterfactual":{{{self._answer(problem.candidates, relaxation.found)}}}}}'
            for relaxation in shown
        )
        best = "null" if shown else f"{{{self._answer(problem.candidates, explained.best)}}}"
        return (
            f'{{"reason":{encoded(explanation.reason)},"complete":{encoded(explanation.complete)},"relax":[{relax}],'
            f'"more":{len(explanation.relaxations) - len(shown)},"best":{best},'
            f'"threshold":{encoded(getattr(target, "threshold", None))}}}'
        )

    def _prediction(self, verdict: Verdict) -> str:
        classes = self._question.model.classes
        return prediction_json(bool(verdict.favourable[0]), verdict.score[0], int(verdict.label[0]), classes)

    def _change(self, position: int, target: str) -> str:
        feature = self._question.model.features[position]
        return (
            f'{{"feature":{self._names[position]},"title":{encoded(feature.title)},"from":{self._values[position]},'
            f'"to":{target},"unit":{encoded(feature.unit)},"direction":{encoded(self._direction(position))}}}'
        )

    def _direction(self, position: int) -> Direction | None:
        """Up or down; a category goes neither way."""
        is_category = self._question.model.features[position].type == "category"
        return None if is_category else self._question.problem.states[position].direction

    def _text(self, position: int, value: float | None) -> str:
        return "null" if value is None else self._question.model.features[position].text(value)

    def _filled(self, position: int) -> str:
        """What stood in for a missing value, so that nobody takes it for a measurement."""
        missing = isnan(self._question.problem.instance[position])
        default = self._question.model.features[position].default if missing else None
        return "null" if default is None else as_sent(default)

    def _range(self, position: int) -> str:
        chosen = self._question.ranges[position]
        if chosen is None:
            return '"low":null,"high":null,"allowed":null,"when":null'
        when = encoded(when_json(chosen.when))
        if isinstance(chosen.normal, Allowed):
            allowed = ",".join(self._text(position, code) for code in chosen.normal.codes)
            return f'"low":null,"high":null,"allowed":[{allowed}],"when":{when}'
        low, high = _number_or_null(chosen.normal.low), _number_or_null(chosen.normal.high)
        return f'"low":{low},"high":{high},"allowed":null,"when":{when}'

    def _feature(self, position: int) -> str:
        feature = self._question.model.features[position]
        finding = self._question.problem.findings[position]
        return (
            f'{{"name":{self._names[position]},"title":{encoded(feature.title)},"value":{self._values[position]},'
            f'"filled":{self._filled(position)},"unit":{encoded(feature.unit)},{self._range(position)},'
            f'"status":"{finding.status}","target":{self._text(position, finding.target)},'
            f'"movable":{encoded(finding.movable)},"why_not":{encoded(finding.why_not)}}}'
        )


def _number_or_null(number: float | None) -> str:
    return "null" if number is None else number_text(number)
