"""Other values that a person could have had, in words: what they would have been instead of what they are."""

from app.adapters.graphs.features import as_sent
from app.adapters.locales.language import IN_ENGLISH, Language
from app.asking.posing.question import Question
from app.core.facts import Found
from app.core.problem import Move
from app.writing.sentences import Sentences
from app.writing.wording import spoken_names, spoken_unit

# Numbers that come from another unit, or from a computation, have more digits.
LONGEST_NUMBER = 9


class Variations:
    """Speaks of the answers to one question."""

    def __init__(self, question: Question, language: Language = IN_ENGLISH) -> None:
        self._question = question
        self._language = language
        self._joined = Sentences(language.messages).joined
        self._spoken = spoken_names(language.features(question.model))

    def values(self, found: Found) -> str:
        """Each changed value, beside the one that was sent."""
        return self._joined([self._instead(self._question.problem.moves[index]) for index in found.moves])

    def label(self, found: Found) -> str | None:
        """What the model then says; a regression has no word for it."""
        model = self._question.model
        return self._language.label(model, found.label) if model.classes else None

    def _instead(self, move: Move) -> str:
        question, position = self._question, move.position
        feature = question.model.features[position]
        messages, unit = self._language.messages, spoken_unit(feature)
        now = messages.missing
        if not question.is_missing(position):
            now = f"{self._value(as_sent(question.sent[position]), feature.name)}{unit}"
        after = f"{self._value(feature.text(move.target), feature.name)}{unit}"
        return messages.instead.format(feature=self._spoken[position], after=after, before=now)

    def _value(self, text: str, feature: str) -> str:
        """A value inside a sentence: a text without its quotes, a number without digits that nobody reads."""
        if len(text) > LONGEST_NUMBER and not text.startswith('"'):
            text = f"{float(text):.4g}"
        return self._language.value(self._question.model, feature, text)
