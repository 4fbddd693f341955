"""Arithmetic as people write it for a derived feature: `amount / price`, `(a + b) / 2 - "gamma GT"`.

    sum: product (("+" | "-") product)*
    product: factor (("*" | "/") factor)*
    factor: ["-"] (number | feature | "(" sum ")")

Nothing of it is evaluated as code.
"""

import re
from collections.abc import Callable, Collection, Mapping

from app.adapters.rules.formulas import BadFormula
from app.adapters.rules.reader import LARGEST_NUMBER, NAME, NUMBER, Reader
from app.core.following.arithmetic import Arithmetic, Number, Operation, Value

LONGEST = 1_000
DEEPEST = 20


def parse_arithmetic(text: str, positions: Mapping[str, int], categories: Collection[str]) -> Arithmetic:
    """Read arithmetic over features; `BadFormula` says what is wrong, and where."""
    if len(text) > LONGEST:
        raise BadFormula(f"is longer than {LONGEST:,} characters")
    return _ArithmeticReader(text, positions, categories).read()


class _ArithmeticReader(Reader):
    signs = re.compile(rf"(?P<feature>{NAME})|(?P<number>{NUMBER})|(?P<sign>[-+*/()])|\S")
    no_categories = "arithmetic takes numbers"
    _depth = 0
    _names_any = False

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
        is_negative = self._skip("-")
        factor = self._bracket() if self._found == "(" else self._number() if self._kind == "number" else self._value()
        return Operation("*", Number(-1.0), factor) if is_negative else factor

    def _bracket(self) -> Arithmetic:
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadFormula(f"is nested deeper than {DEEPEST}")
        self._advance()
        inside = self._sum()
        if not self._skip(")"):
            raise self._expected("a closing bracket")
        self._depth -= 1
        return inside

    def _number(self) -> Arithmetic:
        number = float(self._found)
        if number > LARGEST_NUMBER:
            raise BadFormula("holds a number that is too large", self._place())
        self._advance()
        return Number(number)

    def _value(self) -> Arithmetic:
        self._names_any = True
        return Value(self._feature("a feature, a number or an opening bracket"))
