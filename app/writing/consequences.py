"""What follows from the changes of a plan, in JSON and in words."""

from collections.abc import Callable, Sequence
from math import isnan
from typing import NamedTuple

from app.asking.posing.question import Question
from app.core.following.consequences import Consequence, consequences_of
from app.core.problem import Move
from app.writing.json_pieces import encoded
from app.writing.sentences import Sentences
from app.writing.wording import FeatureWording

# Of a computed number in a sentence: decimals, or digits below 1.
DIGITS = 6


class FollowedWording(NamedTuple):
    """What is said of a consequence: as an object, in the changed row, and in a sentence."""

    position: int
    told: str
    cell: str
    spoken: str


class ConsequenceWriter:
    """Writes what follows from moves of one question. `spoken` makes a value of a feature part of a sentence."""

    def __init__(
        self,
        question: Question,
        features: Sequence[FeatureWording],
        sentences: Sentences,
        spoken: Callable[[str, int], str],
    ) -> None:
        self._question = question
        self._features = features
        self._sentences = sentences
        self._spoken = spoken

    def of(self, moves: Sequence[Move]) -> list[FollowedWording]:
        return [self._worded(each) for each in consequences_of(self._question.problem.following, moves)]

    def _worded(self, consequence: Consequence) -> FollowedWording:
        model, position = self._question.model, consequence.position
        feature, wording = model.features[position], self._features[position]
        before, after = feature.text(consequence.before), feature.text(consequence.after)
        causes = encoded([model.features[cause].name for cause in consequence.because_of])
        was_missing = isnan(consequence.before)
        return FollowedWording(
            position,
            f'{wording.change}{before},"to":{after}{wording.unit}"because_of":{causes}}}',
            f"{wording.cell}{after}",
            self._sentences.consequence(
                wording.spoken,
                None if was_missing else self._said(consequence.before, position),
                f"{self._said(consequence.after, position)}{wording.spoken_unit}",
            ),
        )

    def _said(self, value: float, position: int) -> str:
        """A value in a sentence: what is computed may have more digits than anybody reads."""
        feature = self._question.model.features[position]
        if feature.derived is not None:
            value = round(value, DIGITS) if abs(value) >= 1 else float(f"{value:.{DIGITS}g}")
        return self._spoken(feature.text(value), position)
