"""Arithmetic as people write it for a derived feature: `amount / price`, `(a + b) / 2 - "gamma GT"`.

    sum: product (("+" | "-") product)*
    product: factor (("*" | "/") factor)*
    factor: ["-"] (number | feature | "(" sum ")")

Nothing of it is evaluated as code.
"""

import re
from collections.abc import Callable, Collection, Mapping

from app.adapters.files.names import LONGEST_NAME, suggestion
from app.adapters.rules.formulas import BadFormula, Place
from app.core.following.arithmetic import Arithmetic, Number, Operation, Value

TOKEN = re.compile(
    r'(?P<feature>[^\W\d][\w.]*|"(?:\\.|[^"\\])*")|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<sign>[-+*/()])|\S'
)
LONGEST = 1_000
DEEPEST = 20
LARGEST_NUMBER = 1e300


def parse_arithmetic(text: str, positions: Mapping[str, int], categories: Collection[str]) -> Arithmetic:
    """Read arithmetic over features; `BadFormula` says what is wrong, and where."""
    if len(text) > LONGEST:
        raise BadFormula(f"is longer than {LONGEST:,} characters")
    return _Reader(text, positions, categories).read()


class _Reader:
    """Reads from left to right, one token ahead."""

    def __init__(self, text: str, positions: Mapping[str, int], categories: Collection[str]) -> None:
        self._text = text
        self._positions = positions
        self._categories = categories
        self._tokens = TOKEN.finditer(text)
        self._depth = 0
        self._names_any = False
        self._advance()

    def read(self) -> Arithmetic:
        arithmetic = self._sum()
        if self._kind != "end":
            raise self._expected("one of + - * / or the end")
        if not self._names_any:
            raise BadFormula("names no feature")
        return arithmetic

    def _sum(self) -> Arithmetic:
        return self._joined("+-", self._product)

    def _product(self) -> Arithmetic:
        return self._joined("*/", self._factor)

    def _joined(self, signs: str, part: Callable[[], Arithmetic]) -> Arithmetic:
        found = part()
        while self._found and self._found in signs:
            sign = self._found
            self._advance()
            found = Operation(sign, found, part())
        return found

    def _factor(self) -> Arithmetic:
        is_negative = self._found == "-"
        if is_negative:
            self._advance()
        factor = (
            self._bracket() if self._found == "(" else self._number() if self._kind == "number" else self._feature()
        )
        return Operation("*", Number(-1.0), factor) if is_negative else factor

    def _bracket(self) -> Arithmetic:
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadFormula(f"is nested deeper than {DEEPEST}")
        self._advance()
        inside = self._sum()
        if self._found != ")":
            raise self._expected("a closing bracket")
        self._advance()
        self._depth -= 1
        return inside

    def _number(self) -> Arithmetic:
        number = float(self._found)
        if number > LARGEST_NUMBER:
            raise BadFormula("holds a number that is too large", self._place())
        self._advance()
        return Number(number)

    def _feature(self) -> Arithmetic:
        if self._kind != "feature":
            raise self._expected("a feature, a number or an opening bracket")
        text = self._found
        name = text[1:-1].replace('\\"', '"').replace("\\\\", "\\") if text.startswith('"') else text
        if name not in self._positions:
            hint = suggestion(name, self._positions)
            raise BadFormula(f"{name[:LONGEST_NAME]!r} is not a feature; {hint}", self._place())
        if name in self._categories:
            raise BadFormula(f"{name[:LONGEST_NAME]!r} is a category; arithmetic takes numbers", self._place())
        self._names_any = True
        self._advance()
        return Value(self._positions[name])

    def _advance(self) -> None:
        token = next(self._tokens, None)
        self._kind = "end" if token is None else token.lastgroup or "other"
        self._found = "" if token is None else token.group()
        self._start = len(self._text) if token is None else token.start()

    def _expected(self, what: str) -> BadFormula:
        found = repr(self._found[:LONGEST_NAME]) if self._found else "the end"
        return BadFormula(f"expected {what}; found {found}", self._place())

    def _place(self) -> Place:
        before = self._text[: self._start]
        return Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
