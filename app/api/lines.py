"""The lines of an answer, written as JSON. What repeats from line to line is encoded once for each request."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.adapters.models import Model
from app.api.forms import Line
from app.api.numbers import number_text
from app.api.posing import ChosenRange, Question
from app.core.facts import Found
from app.core.favourable import Favourable, FavourableInterval
from app.core.oracle import Verdict
from app.core.problem import Direction
from app.core.ranges import Condition, Equals


def encoded(value: Any) -> str:
    """A value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def score_text(score: np.floating[Any]) -> str:
    """The shortest decimal that is this score and no other of its type."""
    return str(score)


def prediction_json(favourable: bool, score: np.floating[Any], label: int, classes: tuple[str, ...]) -> str:
    name = encoded(classes[label] if classes else None)
    return f'{{"label":{name},"score":{score_text(score)},"favourable":{encoded(favourable)}}}'


def model_identity(model: Model) -> dict[str, str]:
    """Which model it was, to the last bit."""
    return {"name": model.name, "version": model.version, "sha256": model.sha256}


def target_json(favourable: Favourable, classes: tuple[str, ...]) -> dict[str, Any]:
    """What counted as favourable."""
    if isinstance(favourable, FavourableInterval):
        return {"low": favourable.low, "high": favourable.high}
    return {"classes": [classes[place] for place in favourable.classes], "threshold": favourable.threshold}


def when_json(when: Mapping[str, Condition]) -> dict[str, Any]:
    """Conditions the way that a registry writes them."""
    return {
        key: condition.value if isinstance(condition, Equals) else {"low": condition.low, "high": condition.high}
        for key, condition in when.items()
    }


class LineWriter:
    """Writes the lines of one answer."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._names = [encoded(feature.name) for feature in question.model.features]
        self._values = [number_text(value) for value in question.values]
        self._moves = question.problem.moves
        self._targets = [number_text(move.target) for move in self._moves]
        self._changes = [self._change(index) for index in range(len(self._moves))]
        self._unchanged = [f"{name}:{value}" for name, value in zip(self._names, self._values, strict=True)]
        self._changed = [
            f"{self._names[move.position]}:{target}" for move, target in zip(self._moves, self._targets, strict=True)
        ]

    def start(self, prediction: Verdict, limits: dict[str, Any]) -> Line:
        question = self._question
        registry = question.registry
        ranges = None if registry is None else {"name": registry.name, "version": registry.version}
        features = ",".join(self._feature(position) for position in range(len(self._names)))
        return Line(
            "start",
            f'{{"type":"start","model":{encoded(model_identity(question.model))},"normal_ranges":{encoded(ranges)},'
            f'"prediction":{self._prediction(prediction)},'
            f'"target":{encoded(target_json(question.favourable, question.model.classes))},'
            f'"limits":{encoded(limits)},"features":[{features}]}}',
        )

    def counterfactual(self, rank: int, found: Found) -> Line:
        row = self._unchanged.copy()
        for index in found.moves:
            row[self._moves[index].position] = self._changed[index]
        changes = ",".join(self._changes[index] for index in found.moves)
        prediction = prediction_json(True, found.score, found.label, self._question.model.classes)
        return Line(
            "counterfactual",
            f'{{"type":"counterfactual","rank":{rank},"changes":[{changes}],"cost":{number_text(found.cost)},'
            f'"prediction":{prediction},"instance":{{{",".join(row)}}}}}',
        )

    def other(self, kind: str, content: dict[str, Any]) -> Line:
        """A line that comes once in a while, and needs no haste."""
        return Line(kind, encoded({"type": kind, **content}))

    def names_of_moves(self) -> list[str]:
        features = self._question.model.features
        return [features[move.position].name for move in self._moves]

    def _prediction(self, verdict: Verdict) -> str:
        classes = self._question.model.classes
        return prediction_json(bool(verdict.favourable[0]), verdict.score[0], int(verdict.label[0]), classes)

    def _change(self, index: int) -> str:
        move = self._moves[index]
        feature = self._question.model.features[move.position]
        way = Direction.INCREASE if move.target > self._question.values[move.position] else Direction.DECREASE
        return (
            f'{{"feature":{self._names[move.position]},"from":{self._values[move.position]},'
            f'"to":{self._targets[index]},"unit":{encoded(feature.unit)},"direction":"{way}"}}'
        )

    def _feature(self, position: int) -> str:
        feature = self._question.model.features[position]
        finding = self._question.problem.findings[position]
        return (
            f'{{"name":{self._names[position]},"title":{encoded(feature.title)},"value":{self._values[position]},'
            f'"unit":{encoded(feature.unit)},{_range_json(self._question.ranges[position])},'
            f'"status":"{finding.status}","target":{_number_or_null(finding.target)},'
            f'"movable":{encoded(finding.movable)},"why_not":{encoded(finding.why_not)}}}'
        )


def _range_json(chosen: ChosenRange | None) -> str:
    if chosen is None:
        return '"low":null,"high":null,"when":null'
    low, high = _number_or_null(chosen.normal.low), _number_or_null(chosen.normal.high)
    return f'"low":{low},"high":{high},"when":{encoded(when_json(chosen.when))}'


def _number_or_null(number: float | None) -> str:
    return "null" if number is None else number_text(number)
