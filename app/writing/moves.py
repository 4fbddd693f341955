"""What is said of the moves of one question, in JSON and in words."""

from collections.abc import Sequence
from typing import NamedTuple

from app.adapters.locales.language import IN_ENGLISH, Language
from app.asking.posing.question import Question
from app.core.problem import Move
from app.writing.json_pieces import encoded
from app.writing.wording import Wording


class MoveWording(NamedTuple):
    """All that is said of a move: as a change, in the changed row, and in a sentence, first, further on, or last."""

    position: int
    change: str
    cell: str
    first: str
    further: str
    last: str


class MoveWordings(dict[int, MoveWording]):
    """By the place of a move: worded when a plan first makes it, because many moves are in none.

    `sent` and `targets` are the values of the features, as JSON. Nothing here leads back to who holds it: what is in a
    ring is freed late, and the next answers are slower for it.
    """

    def __init__(
        self,
        moves: Sequence[Move],
        question: Question,
        wording: Wording,
        language: Language,
        sent: Sequence[str],
        targets: Sequence[str],
    ) -> None:
        super().__init__()
        self._moves = moves
        self._question = question
        self._wording = wording
        self._language = language
        self._sent = sent
        self._targets = targets

    def __missing__(self, place: int) -> MoveWording:
        worded = self[place] = self._worded(self._moves[place])
        return worded

    def _worded(self, move: Move) -> MoveWording:
        position = move.position
        question, feature, target = self._question, self._wording.features[position], self._targets[position]
        is_missing, direction = question.is_missing(position), question.direction(position)
        value = "null" if is_missing else self._sent[position]
        way = "null" if direction is None else f'"{direction}"'
        if question.problem.states[position].path:
            target = question.model.features[position].text(move.target)
            way += f',"step":{move.step},"steps":{move.steps}' if move.steps > 1 else ""
        before, after = value, target
        if not feature.plain:
            before, after = self.spoken(value, position), self.spoken(target, position)
        after = f"{after}{feature.spoken_unit}"
        sentences = self._wording.sentences
        if move.steps > 1:
            after = sentences.with_step(after, move)
        return MoveWording(
            position,
            f'{feature.change}{value},"to":{target}{feature.direction}{way}}}',
            f"{feature.cell}{target}",
            *sentences.clause(direction, feature.spoken, None if is_missing else before, after),
        )

    def spoken(self, text: str, position: int) -> str:
        """A value inside a sentence, which is inside quotes itself."""
        if self._language is IN_ENGLISH:
            return text[1:-1] if text.startswith('"') else text
        model = self._question.model
        return encoded(self._language.value(model, model.features[position].name, text))[1:-1]
