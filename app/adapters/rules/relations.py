"""Relations as people write them: `hirat <= pirat`, `ALT <= 2 * AST + 5`, `"gamma GT" > 0`.

    relation: sum ("<=" | "<" | ">=" | ">" | "==") sum
    sum: ["-"] term (("+" | "-") term)*
    term: number ["*" feature] | feature ["*" number]

Linear, over numbers. Nothing of it is evaluated as code.
"""

import re
from collections.abc import Collection, Mapping

from app.adapters.files.names import LONGEST_NAME, suggestion
from app.adapters.rules.formulas import BadFormula, FormulaLimits, Place
from app.core.relations.relation import Relation, Sign, Term

NAME = r'[^\W\d][\w.]*|"(?:\\.|[^"\\])*"'
NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
TOKEN = re.compile(rf"(?P<feature>{NAME})|(?P<number>{NUMBER})|(?P<sign><=|>=|==|<|>)|\S")
LONGEST_NUMBER = 40


def parse_relation(
    text: str, positions: Mapping[str, int], categories: Collection[str], limits: FormulaLimits
) -> Relation:
    """Read a relation; `BadFormula` says what is wrong, and where."""
    if len(text) > limits.length:
        raise BadFormula(f"is longer than {limits.length:,} characters")
    return _Reader(text, positions, categories).read()


class _Reader:
    """Reads from left to right, one token ahead."""

    def __init__(self, text: str, positions: Mapping[str, int], categories: Collection[str]) -> None:
        self._text = text
        self._positions = positions
        self._categories = categories
        self._tokens = TOKEN.finditer(text)
        self._advance()

    def read(self) -> Relation:
        left = self._sum()
        sign = self._take("sign", "one of <=, <, >=, > and ==")
        right = self._sum()
        if self._kind != "end":
            raise self._expected("an operator or the end")
        relation = Relation(left, Sign(sign), right)
        if not relation.features:
            raise BadFormula("names no feature")
        return relation

    def _sum(self) -> tuple[Term, ...]:
        factor = -1.0 if self._skip("-") else 1.0
        terms = [self._term(factor)]
        while self._found in ("+", "-"):
            factor = -1.0 if self._found == "-" else 1.0
            self._advance()
            terms.append(self._term(factor))
        return tuple(terms)

    def _term(self, factor: float) -> Term:
        if self._kind == "feature":
            feature = self._feature()
            return Term(factor * self._number() if self._skip("*") else factor, feature)
        factor *= self._number()
        return Term(factor, self._feature()) if self._skip("*") else Term(factor)

    def _number(self) -> float:
        is_factor = self._text[: self._start].rstrip().endswith("*")
        text = self._take("number", "a number" if is_factor else "a number or a feature")
        number = float(text)
        if len(text) > LONGEST_NUMBER or abs(number) > 1e300:
            raise BadFormula("holds a number that is too large")
        return number

    def _feature(self) -> int:
        start = self._start
        text = self._take("feature", "a feature")
        name = text[1:-1].replace('\\"', '"').replace("\\\\", "\\") if text.startswith('"') else text
        if name not in self._positions:
            hint = suggestion(name, self._positions)
            raise BadFormula(f"{name[:LONGEST_NAME]!r} is not a feature; {hint}", self._place(start))
        if name in self._categories:
            reason = f"{name[:LONGEST_NAME]!r} is a category; a relation compares numbers"
            raise BadFormula(reason, self._place(start))
        return self._positions[name]

    def _skip(self, found: str) -> bool:
        is_there = self._found == found
        if is_there:
            self._advance()
        return is_there

    def _take(self, kind: str, what: str) -> str:
        if self._kind != kind:
            raise self._expected(what)
        found = self._found
        self._advance()
        return found

    def _advance(self) -> None:
        token = next(self._tokens, None)
        self._kind = "end" if token is None else token.lastgroup or "other"
        self._found = "" if token is None else token.group()
        self._start = len(self._text) if token is None else token.start()

    def _expected(self, what: str) -> BadFormula:
        found = repr(self._found[:LONGEST_NAME]) if self._found else "the end"
        hint = "; a relation is linear: a number times a feature, and sums of such" if self._found in "*/(^" else ""
        return BadFormula(f"expected {what}; found {found}{hint if self._found else ''}", self._place(self._start))

    def _place(self, start: int) -> Place:
        before = self._text[:start]
        return Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
