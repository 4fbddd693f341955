"""Formulas as people write them: `ALT xor AST`, `"gamma GT" -> at_least(2, ALT, AST, ALP)`.

From the tightest to the loosest: not, and, xor, or, implies, iff; brackets override. Implications chain to the right.
A formula is only ever read by this grammar; nothing of it is evaluated as code:

    formula: operand (operator operand)*
    operand: "not"* (feature | "(" formula ")" | count "(" number ("," formula)+ ")")
    count: "at_most" | "at_least" | "exactly"
    feature: a name, or anything in double quotes
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.adapters.files.names import LONGEST_NAME, closest, listed, nearest, suggestion
from app.core.formula import Changed, Count, Formula, Not, Odd, all_of, any_of, same

LONGEST_NUMBER = 9
WORD_OR_SIGN = re.compile(r"[\w.]+|[^\w\s]")
TOKEN = re.compile(r'(?P<feature>[^\W\d][\w.]*|"(?:\\.|[^"\\])*")|(?P<number>\d+)|<->|->|\S')

# Tokens are of the kinds that errors name. Words may be written in capitals.
COUNTS = ("at_most", "at_least", "exactly")
SIGNS = {"!": "not", "&": "and", "^": "xor", "|": "or", "->": "implies", "<->": "iff"}
BRACKETS = {"(": "an opening bracket", ")": "a closing bracket", ",": "a comma"}
KINDS = {**SIGNS, **BRACKETS, **{word: word for word in (*SIGNS.values(), *COUNTS)}}
OTHER_KINDS = {"feature": "a feature", "number": "a whole number", None: "unreadable"}
OPERAND = ("a feature", "an opening bracket", *COUNTS, "not")
# Signs of a comparison: whoever writes one takes a formula for a rule about values.
COMPARING = frozenset("=<>")


@dataclass(frozen=True, slots=True)
class FormulaLimits:
    """How much may be asked: names in all constraints; formulas, their characters, nesting, and features in all."""

    items: int = 1_000
    count: int = 50
    length: int = 10_000
    depth: int = 20
    literals: int = 2_000

    @property
    def tokens(self) -> int:
        """Words, names, signs and brackets in all formulas together: what reading them costs."""
        return 5 * self.literals


class Place(NamedTuple):
    """Where in a formula something stands, both counted from 1, in characters."""

    line: int
    column: int

    @classmethod
    def at(cls, text: str, start: int) -> "Place":
        before = text[:start]
        return cls(before.count("\n") + 1, len(before) - before.rfind("\n"))


class BadFormula(Exception):
    """A formula that cannot be read, and why; with the place, unless it concerns the whole formula."""

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason if place is None else f"line {place.line}, column {place.column}: {reason}")
        self.place = place


def count_tokens(texts: Sequence[str]) -> int:
    """The number of tokens in all texts, counted without parsing them."""
    return sum(len(WORD_OR_SIGN.findall(text)) for text in texts)


def parse_formula(text: str, positions: Mapping[str, int], limits: FormulaLimits) -> tuple[Formula, int]:
    """Read a formula, and count the features that it names."""
    if len(text) > limits.length:
        raise BadFormula(f"is longer than {limits.length:,} characters")
    _check_depth(text, limits.depth)
    reader = _Reader(text, positions)
    return reader.read(), reader.literals


def _check_depth(text: str, most: int) -> None:
    """Count the brackets before anything is built from them; nothing else nests."""
    depth, quoted, escaped = 0, False, False
    for character in text:
        if quoted:
            quoted, escaped = character != '"' or escaped, character == "\\" and not escaped
            continue
        quoted = character == '"'
        depth += (character == "(") - (character == ")")
        if depth > most:
            raise BadFormula(f"is nested deeper than {most}")


def _implication(*parts: Formula) -> Formula:
    # a -> b -> c fails only where a and b hold and c does not.
    return any_of(*(Not(cause) for cause in parts[:-1]), parts[-1])


# How tightly each operator binds, and what it makes of its operands.
OPERATORS: dict[str, tuple[int, Callable[..., Formula]]] = {
    "iff": (0, same),
    "implies": (1, _implication),
    "or": (2, any_of),
    "xor": (3, lambda *parts: Odd(parts)),
    "and": (4, all_of),
}


class _Reader:
    """Reads from left to right, one token ahead: its kind, its text, and where it starts."""

    def __init__(self, text: str, positions: Mapping[str, int]) -> None:
        self._text = text
        self._positions = positions
        self._tokens = TOKEN.finditer(text)
        self._unknown: BadFormula | None = None
        # The last name that was read as a feature, and where it stood.
        self._name, self._named_at = "", 0
        self.literals = 0
        self._advance()

    def read(self) -> Formula:
        formula = self._formula()
        self._close("the end")
        if self._unknown is not None:
            raise self._unknown
        return formula

    def _advance(self) -> None:
        token = next(self._tokens, None)
        if token is None:
            self._kind, self._found, self._start = "the end", "", len(self._text)
        else:
            self._found, self._start = token[0], token.start()
            self._kind = KINDS.get(self._found.lower()) or OTHER_KINDS[token.lastgroup]

    def _formula(self, loosest: int = 0) -> Formula:
        """Operands, and operators between them that bind at least so tightly."""
        formula = self._operand()
        while (operator := self._kind) in OPERATORS:
            tightness, joined = OPERATORS[operator]
            if tightness < loosest:
                break
            parts = [formula]
            while self._kind == operator:
                self._advance()
                parts.append(self._formula(tightness + 1))
            formula = joined(*parts)
        return formula

    def _operand(self) -> Formula:
        negated = False
        while self._kind == "not":
            self._advance()
            negated = not negated
        if self._kind == "a feature":
            operand = self._feature()
        elif self._kind == "an opening bracket":
            self._advance()
            operand = self._formula()
            self._close("a closing bracket")
        elif self._kind in COUNTS:
            operand = self._count()
        else:
            raise self._unexpected(OPERAND)
        return Not(operand) if negated else operand

    def _feature(self) -> Formula:
        self.literals += 1
        name = named(self._found)
        self._name, self._named_at = name, self._start
        # Only the first unknown name is reported, and only if the formula is well formed.
        if name not in self._positions and self._unknown is None:
            hint = suggestion(name, self._positions)
            self._unknown = BadFormula(f"{name[:LONGEST_NAME]!r} is not a feature; {hint}", self._place())
        self._advance()
        return Changed(self._positions.get(name, -1))

    def _count(self) -> Formula:
        kind = self._kind
        self._advance()
        self._take("an opening bracket")
        number = self._take("a whole number")
        self._take("a comma")
        parts = [self._formula()]
        while self._kind == "a comma":
            self._advance()
            parts.append(self._formula())
        self._close("a closing bracket", "a comma")
        # Whatever is more than there are parts comes to the same; and Python does not read numbers of any length.
        digits = number.lstrip("0") or "0"
        wanted = min(int(digits[:LONGEST_NUMBER]), len(parts) + 1) if len(digits) <= LONGEST_NUMBER else len(parts) + 1
        low = 0 if kind == "at_most" else wanted
        high = len(parts) if kind == "at_least" else wanted
        return Count(low, high, tuple(parts))

    def _take(self, kind: str) -> str:
        if self._kind != kind:
            raise self._unexpected([kind])
        found = self._found
        self._advance()
        return found

    def _close(self, kind: str, *others: str) -> None:
        """Go on after an operand that ends something; the others might have stood here as well."""
        if self._kind == kind:
            self._advance()
        elif self._kind in ("the end", "a closing bracket", "a comma"):
            raise self._unexpected([kind, *others])
        elif self._kind == "an opening bracket" and (meant := nearest(self._name, COUNTS)):
            raise BadFormula(f"{self._name!r} is not a feature; did you mean {meant}?", self._place(self._named_at))
        else:
            raise self._unexpected([*sorted(OPERATORS), kind, *others])

    def _unexpected(self, expected: Sequence[str]) -> BadFormula:
        found = repr(self._found[:LONGEST_NAME]) if self._found else "the end"
        wanted = listed([repr(word) if word in KINDS else word for word in expected], "or")
        one_of = "one of: " if len(expected) > 1 else ""
        return BadFormula(f"expected {one_of}{wanted}; found {found}{self._hint()}", self._place())

    def _hint(self) -> str:
        """What was probably meant by a token that cannot stand where it stands."""
        if self._found in COMPARING:
            return "; a formula says which features change, and compares no values"
        if self._found in SIGNS and self._text[: self._start].endswith(self._found):
            return f"; write {self._found} or {SIGNS[self._found]}"
        so_far = self._text[self._named_at : self._start + len(self._found)]
        if self._name and any(name.startswith(so_far) for name in self._positions):
            return "; put a name with spaces in double quotes"
        meant = closest(self._found, OPERATORS) if self._kind == "a feature" else ""
        return f"; {meant}" if meant else ""

    def _place(self, start: int | None = None) -> Place:
        return Place.at(self._text, self._start if start is None else start)


def named(text: str) -> str:
    """The feature that a token names, with or without quotes."""
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\") if text[0] == '"' else text
