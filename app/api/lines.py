"""The lines of an answer, written as JSON. What repeats from line to line is encoded once for each request, and what
repeats from request to request once for each model: see `wording`.
"""

import json
from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any, NamedTuple

from app.adapters.features import as_sent
from app.adapters.numbers import number_text
from app.api.forms import Line
from app.api.json_pieces import encoded, prediction_json, target_json
from app.api.posing import Question
from app.api.ranges import NO_RANGE
from app.core.constraints import Direction
from app.core.facts import Best, Explained, Found
from app.core.oracle import Verdict
from app.core.problem import Move

# An explanation lists so many ways of giving up constraints, the smallest, and counts the others.
MOST_RELAXATIONS = 20

VERBS = {None: "change", Direction.INCREASE: "raise", Direction.DECREASE: "lower"}


class MoveWording(NamedTuple):
    """All that is said of a move: as a change, in the changed row, and in a sentence, first or further on."""

    position: int
    change: str
    cell: str
    first: str
    clause: str


class LineWriter:
    """Writes the lines of one answer."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._wording = question.pair.wording
        self._features = self._wording.features
        self._unchanged = [
            f"{feature.cell}{value}" for feature, value in zip(self._features, question.texts, strict=True)
        ]
        self._moves = self._worded(question.problem.moves)
        self._cost, self._cost_text = 0.0, "0"

    def start(self, prediction: Verdict, limits: str) -> Line:
        question = self._question
        # In ASCII: a key of the context may hold half a character, which no UTF-8 can carry.
        unused = json.dumps(question.unused_context) if question.unused_context else "[]"
        usual = question.favourable is question.model.favourable
        target = self._wording.target if usual else encoded(target_json(question.favourable, question.model.classes))
        decision = self._prediction(prediction.score[0], int(prediction.label[0]), bool(prediction.favourable[0]))
        features = ",".join([self._feature(position) for position in range(len(self._features))])
        return Line(
            "start",
            f'{{"type":"start","model":{self._wording.identity},"normal_ranges":{question.pair.text},'
            f'"prediction":{decision},"target":{target},"limits":{limits},"unused_context":{unused},'
            f'"features":[{features}]}}',
        )

    def counterfactual(self, rank: int, found: Found) -> Line:
        return Line("counterfactual", f'{{"type":"counterfactual","rank":{rank},{self._answer(self._moves, found)}}}')

    def progress(self, complete_up_to: int, rows: int, elapsed_ms: float) -> Line:
        return Line(
            "progress",
            f'{{"type":"progress","complete_up_to":{complete_up_to},"model_rows":{rows},"elapsed_ms":{elapsed_ms!r}}}',
        )

    def summary(self, content: dict[str, Any], explained: Explained | None) -> Line:
        why = "null" if explained is None else self._no_recourse(explained)
        return Line("summary", f'{encoded({"type": "summary", **content})[:-1]},"no_recourse":{why}}}')

    def error(self, problem: dict[str, Any]) -> Line:
        return Line("error", encoded({"type": "error", "problem": problem}))

    def _answer(self, moves: Sequence[MoveWording], found: Found | Best) -> str:
        """What is changed, what it costs, what the model then says, and the whole changed row."""
        made = [moves[index] for index in found.moves]
        row = self._unchanged.copy()
        for move in made:
            row[move.position] = move.cell
        if found.cost != self._cost:
            # Many in a row cost the same.
            self._cost, self._cost_text = found.cost, number_text(found.cost)
        prediction = self._prediction(found.score, found.label, isinstance(found, Found))
        return (
            f'"sentence":"{_sentence(made)}","changes":[{",".join([move.change for move in made])}],'
            f'"cost":{self._cost_text},"prediction":{prediction},"instance":{{{",".join(row)}}}'
        )

    def _prediction(self, score: Any, label: int, favourable: bool) -> str:
        return prediction_json(self._wording.labels[label], score, favourable)

    def _no_recourse(self, explained: Explained) -> str:
        """Why there is no way out: what to give up for one, or how close any subset comes."""
        explanation, problem, target = explained.explanation, self._question.problem, self._question.favourable
        shown = explanation.relaxations[:MOST_RELAXATIONS]
        candidates = self._worded(problem.candidates)
        relax = ",".join(
            f'{{"items":{encoded([problem.items[index].path for index in relaxation.items])},'
            f'"counterfactual":{{{self._answer(candidates, relaxation.found)}}}}}'
            for relaxation in shown
        )
        best = "null" if shown else f"{{{self._answer(candidates, explained.best)}}}"
        return (
            f'{{"reason":{encoded(explanation.reason)},"complete":{encoded(explanation.complete)},"relax":[{relax}],'
            f'"more":{len(explanation.relaxations) - len(shown)},"best":{best},'
            f'"threshold":{encoded(getattr(target, "threshold", None))}}}'
        )

    def _worded(self, moves: Iterable[Move]) -> list[MoveWording]:
        return [self._move(move) for move in moves]

    def _move(self, move: Move) -> MoveWording:
        position = move.position
        feature, value = self._features[position], self._question.texts[position]
        target = self._question.model.features[position].text(move.target)
        direction = self._direction(position)
        way = "null" if direction is None else f'"{direction}"'
        verb = VERBS[direction]
        rest = f" {feature.name} from {_spoken(value)} to {_spoken(target)}{feature.spoken_unit}"
        return MoveWording(
            position,
            f'{feature.change}{value},"to":{target}{feature.direction}{way}}}',
            f"{feature.cell}{target}",
            f"{verb.capitalize()}{rest}",
            f"{verb}{rest}",
        )

    def _direction(self, position: int) -> Direction | None:
        """Up or down; a category goes neither way."""
        is_category = self._question.model.features[position].type == "category"
        return None if is_category else self._question.problem.states[position].direction

    def _feature(self, position: int) -> str:
        question, feature = self._question, self._features[position]
        finding, chosen = question.problem.findings[position], question.ranges[position]
        target = "null" if finding.target is None else question.model.features[position].text(finding.target)
        movable = (
            '"movable":true,"why_not":null' if finding.movable else f'"movable":false,"why_not":"{finding.why_not}"'
        )
        return (
            f"{feature.state}{question.texts[position]}{self._filled(position)}"
            f'{NO_RANGE if chosen is None else chosen.text},"status":"{finding.status}","target":{target},{movable}}}'
        )

    def _filled(self, position: int) -> str:
        """What stood in for a missing value, so that nobody takes it for a measurement; and the unit."""
        feature, known = self._features[position], self._question.model.features[position]
        if known.default is None or not isnan(self._question.problem.instance[position]):
            return feature.unfilled
        return f',"filled":{as_sent(known.default)}{feature.unit}'


def _sentence(made: Sequence[MoveWording]) -> str:
    """The changes as a person would say them, inside the quotes of JSON."""
    if not made:
        return "Change nothing."
    if len(made) == 1:
        return f"{made[0].first}."
    if len(made) == 2:
        return f"{made[0].first} and {made[1].clause}."
    between = ", ".join([move.clause for move in made[1:-1]])
    return f"{made[0].first}, {between} and {made[-1].clause}."


def _spoken(text: str) -> str:
    """A value inside a sentence: a text without its quotes."""
    return text[1:-1] if text.startswith('"') else text
