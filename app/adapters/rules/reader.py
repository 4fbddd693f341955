"""What reading arithmetic and reading relations share: tokens, one ahead, and features by their names."""

import re
from collections.abc import Collection, Mapping

from app.adapters.files.names import LONGEST_NAME, suggestion
from app.adapters.rules.formulas import BadFormula, Place, named

NAME = r'[^\W\d][\w.]*|"(?:\\.|[^"\\])*"'
NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
LARGEST_NUMBER = 1e300


class Reader:
    """Reads from left to right, one token ahead: its kind, its text, and where it starts."""

    # The signs of the language, and why it takes no categories.
    signs: re.Pattern[str]
    no_categories: str

    def __init__(self, text: str, positions: Mapping[str, int], categories: Collection[str]) -> None:
        self._text = text
        self._positions = positions
        self._categories = categories
        self._tokens = self.signs.finditer(text)
        self._advance()

    def _feature(self, wanted: str = "a feature") -> int:
        """The position of the feature that is named here."""
        if self._kind != "feature":
            raise self._expected(wanted)
        name = named(self._found)
        if name not in self._positions:
            hint = suggestion(name, self._positions)
            raise BadFormula(f"{name[:LONGEST_NAME]!r} is not a feature; {hint}", self._place())
        if name in self._categories:
            raise BadFormula(f"{name[:LONGEST_NAME]!r} is a category; {self.no_categories}", self._place())
        self._advance()
        return self._positions[name]

    def _advance(self) -> None:
        token = next(self._tokens, None)
        self._kind = "end" if token is None else token.lastgroup or "other"
        self._found = "" if token is None else token.group()
        self._start = len(self._text) if token is None else token.start()

    def _skip(self, found: str) -> bool:
        is_there = self._found == found
        if is_there:
            self._advance()
        return is_there

    def _expected(self, what: str, hint: str = "") -> BadFormula:
        found = repr(self._found[:LONGEST_NAME]) if self._found else "the end"
        return BadFormula(f"expected {what}; found {found}{hint}", self._place())

    def _place(self) -> Place:
        return Place.at(self._text, self._start)
