"""Relations as people write them: `hirat <= pirat`, `ALT <= 2 * AST + 5`, `"gamma GT" > 0`.

    relation: sum ("<=" | "<" | ">=" | ">" | "==") sum
    sum: ["-"] term (("+" | "-") term)*
    term: number ["*" feature] | feature ["*" number]

Linear, over numbers. Nothing of it is evaluated as code.
"""

import re
from collections.abc import Collection, Mapping

from app.adapters.rules.formulas import BadFormula, FormulaLimits
from app.adapters.rules.reader import LARGEST_NUMBER, NAME, NUMBER, Reader
from app.core.relations.relation import Relation, Sign, Term

LONGEST_NUMBER = 40


def parse_relation(
    text: str, positions: Mapping[str, int], categories: Collection[str], limits: FormulaLimits
) -> Relation:
    """Read a relation; `BadFormula` says what is wrong, and where."""
    if len(text) > limits.length:
        raise BadFormula(f"is longer than {limits.length:,} characters")
    return _RelationReader(text, positions, categories).read()


class _RelationReader(Reader):
    signs = re.compile(rf"(?P<feature>{NAME})|(?P<number>{NUMBER})|(?P<sign><=|>=|==|<|>)|\S")
    no_categories = "a relation compares numbers"

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
        if len(text) > LONGEST_NUMBER or number > LARGEST_NUMBER:
            raise BadFormula("holds a number that is too large")
        return number

    def _take(self, kind: str, what: str) -> str:
        if self._kind != kind:
            raise self._expected(what)
        found = self._found
        self._advance()
        return found

    def _expected(self, what: str, hint: str = "") -> BadFormula:
        if self._found and self._found in "*/(^":
            hint = "; a relation is linear: a number times a feature, and sums of such"
        return super()._expected(what, hint)
