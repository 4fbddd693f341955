"""Changes as a person would say them, in any language."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from app.adapters.locales.messages import Messages
from app.core.constraints import Direction
from app.core.problem import Move

ENGLISH = Messages()


class Spoken(Protocol):
    """What a sentence says of one change: at its beginning, further on, and at its end with the word before it."""

    @property
    def first(self) -> str: ...

    @property
    def further(self) -> str: ...

    @property
    def last(self) -> str: ...


class Clause(NamedTuple):
    """The same, and no more than that."""

    first: str
    further: str
    last: str


class Frame(NamedTuple):
    """A change of one feature, with gaps for the values: how it begins a sentence, and the word before it as the last.

    `last` is None where it begins with a value, which then decides both.
    """

    template: str
    first: str
    last: str | None


class Sentences:
    """Makes sentences of the templates of one language."""

    def __init__(self, messages: Messages = ENGLISH) -> None:
        self._messages = messages
        # There may be millions of sentences: what is the same in all of them is looked up once.
        self._start, _, self._end = messages.plan.format(changes="\0").partition("\0")
        self._between = messages.between
        self._frames: dict[tuple[Direction | None, str, bool], Frame] = {}

    def clause(self, direction: Direction | None, feature: str, before: str | None, after: str) -> Clause:
        """A change from one value to another; `before` is None where the value is missing."""
        key = direction, feature, before is None
        frame = self._frames.get(key)
        if frame is None:
            frame = self._frames[key] = self._frame(*key)
        template, first, last = frame
        said = template.format(before, after)
        if last is None:
            return Clause(_capitalised(said), said, f"{self._before(said)}{said}")
        return Clause(f"{first}{said[1:]}", said, f"{last}{said}")

    def _frame(self, direction: Direction | None, feature: str, is_missing: bool) -> Frame:
        messages = self._messages
        if is_missing:
            template = messages.provide
        elif direction is None:
            template = messages.change
        else:
            template = messages.increase if direction is Direction.INCREASE else messages.decrease
        said = template.format(feature=feature, before="\0", after="\1")
        gaps = said.replace("{", "{{").replace("}", "}}").replace("\0", "{0}").replace("\1", "{1}")
        if {"\0", "\1"} & {*said[: max([2, *map(len, messages.last_before)])]}:
            return Frame(gaps, "", None)
        return Frame(gaps, _capitalised(said[:2])[:-1], self._before(said))

    def with_step(self, value: str, move: Move) -> str:
        """The value that a change leads to: with the step that it is, if there are several."""
        if move.steps <= 1:
            return value
        return self._messages.step.format(value=value, step=move.step, steps=move.steps)

    def consequence(self, feature: str, before: str | None, after: str) -> str:
        """A value that follows from changes; `before` is None where it was missing."""
        if before is None:
            return self._messages.known_then.format(feature=feature, after=after)
        return self._messages.consequence.format(feature=feature, before=before, after=after)

    def with_consequences(self, made: Sequence[Spoken], consequences: Sequence[str]) -> str:
        """All of the changes, and what follows from them."""
        sentence = self.of(made)
        if not consequences or not made:
            return sentence
        changes = sentence[len(self._start) : len(sentence) - len(self._end)]
        both = self._messages.then.format(changes=changes, consequences=self.joined(consequences))
        return f"{self._start}{both}{self._end}"

    def of(self, made: Sequence[Spoken]) -> str:
        """All of the changes."""
        if not made:
            return self._messages.no_change
        if len(made) == 1:
            return f"{self._start}{made[0].first}{self._end}"
        others = self._between.join([made[0].first, *[clause.further for clause in made[1:-1]]])
        return f"{self._start}{others}{made[-1].last}{self._end}"

    def joined(self, things: Sequence[str]) -> str:
        """Several things as a list in a sentence."""
        *others, last = things
        return f"{self._between.join(others)}{self._before(last)}{last}" if others else last

    def _before(self, word: str) -> str:
        """What stands before the last of several; the longest beginning that the word has decides."""
        changing = self._messages.last_before
        if not changing:
            return self._messages.last
        begins = [each for each in changing if word.lower().startswith(each)]
        return changing[max(begins, key=len)] if begins else self._messages.last


def _capitalised(text: str) -> str:
    """As at the beginning of a sentence; a word such as pH stays as it is."""
    return text if text[1:2].isupper() else f"{text[:1].upper()}{text[1:]}"
