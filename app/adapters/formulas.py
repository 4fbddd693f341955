"""Formulas as people write them: `ALT xor AST`, `"gamma GT" -> at_least(2, ALT, AST, ALP)`.

From the tightest to the loosest: not, and, xor, or, implies, iff; brackets override. Implications chain to the right.
A formula is only ever read by this grammar; nothing of it is evaluated as code.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import VisitError

from app.adapters.names import LONGEST_NAME, suggestion
from app.core.formula import Changed, Count, Formula, Not, Odd, all_of, any_of, same

GRAMMAR = r"""
?start: equivalence
?equivalence: implication (_IFF implication)*
?implication: disjunction (_IMPLIES disjunction)*
?disjunction: difference (_OR difference)*
?difference: conjunction (_XOR conjunction)*
?conjunction: negation (_AND negation)*
?negation: NOT* atom
?atom: feature
    | "(" equivalence ")"
    | COUNT "(" NUMBER ("," equivalence)+ ")" -> count
feature: NAME | QUOTED

NOT.2: /not(?![\w.])|!/i
_AND.2: /and(?![\w.])|&/i
_XOR.2: /xor(?![\w.])|\^/i
_OR.2: /or(?![\w.])|\|/i
_IMPLIES.2: /implies(?![\w.])|->/i
_IFF.2: /iff(?![\w.])|<->/i
COUNT.2: /(at_most|at_least|exactly)(?![\w.])/i
NAME: /(?!(not|and|xor|or|implies|iff|at_most|at_least|exactly)(?![\w.]))[^\W\d][\w.]*/i
QUOTED: /"(\\.|[^"\\])*"/
NUMBER: /\d+/
%ignore /\s+/
"""

LONGEST_NUMBER = 9
WORD = re.compile(r"\w+")
TOKEN = re.compile(r"[\w.]+|[^\w\s]")

WORDS = {
    "NOT": "not",
    "_AND": "and",
    "_XOR": "xor",
    "_OR": "or",
    "_IMPLIES": "implies",
    "_IFF": "iff",
    "COUNT": "at_most, at_least, exactly",
    "NAME": "a feature",
    "QUOTED": "a feature",
    "NUMBER": "a whole number",
    "LPAR": "an opening bracket",
    "RPAR": "a closing bracket",
    "COMMA": "a comma",
    "$END": "the end",
}


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


class BadFormula(Exception):
    """A formula that cannot be read, and why; with its place, unless it is the formula as a whole that will not do."""

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason if place is None else f"line {place.line}, column {place.column}: {reason}")
        self.place = place


def count_tokens(texts: Sequence[str]) -> int:
    """How much there is to read, told without reading it."""
    return sum(len(TOKEN.findall(text)) for text in texts)


def parse_formula(text: str, positions: Mapping[str, int], limits: FormulaLimits) -> tuple[Formula, int]:
    """Read a formula, and count the features that it names."""
    if len(text) > limits.length:
        raise BadFormula(f"is longer than {limits.length:,} characters")
    _check_depth(text, limits.depth)
    reader = _Reader(positions)
    try:
        return reader.transform(_parser().parse(text)), reader.literals
    except UnexpectedInput as error:
        raise _complaint(error, text) from None
    except VisitError as error:
        if isinstance(error.orig_exc, RecursionError):
            raise BadFormula("is nested too deeply") from None
        raise error.orig_exc from None
    except RecursionError:
        raise BadFormula("is nested too deeply") from None


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", maybe_placeholders=False)


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


class _Reader(Transformer[Token, Formula]):
    """Builds the tree from the bottom up."""

    def __init__(self, positions: Mapping[str, int]) -> None:
        super().__init__()
        self._positions = positions
        self.literals = 0

    def feature(self, children: Sequence[Token]) -> Formula:
        (token,) = children
        self.literals += 1
        name = _unquoted(token) if token.type == "QUOTED" else str(token)
        if name not in self._positions:
            hint = suggestion(name, self._positions)
            # The parser gives every token that it reads its place.
            place = Place(token.line or 1, token.column or 1)
            raise BadFormula(f"{name[:LONGEST_NAME]!r} is not a feature; {hint}", place)
        return Changed(self._positions[name])

    def negation(self, children: Sequence[Any]) -> Formula:
        *signs, part = children
        return Not(part) if len(signs) % 2 else part

    def conjunction(self, children: Sequence[Formula]) -> Formula:
        return all_of(*children)

    def disjunction(self, children: Sequence[Formula]) -> Formula:
        return any_of(*children)

    def difference(self, children: Sequence[Formula]) -> Formula:
        return Odd(tuple(children))

    def equivalence(self, children: Sequence[Formula]) -> Formula:
        return same(*children)

    def implication(self, children: Sequence[Formula]) -> Formula:
        # a -> b -> c fails only where a and b hold and c does not.
        return any_of(*(Not(cause) for cause in children[:-1]), children[-1])

    def count(self, children: Sequence[Any]) -> Formula:
        kind, number, *parts = children
        # Whatever is more than there are parts comes to the same; and Python does not read numbers of any length.
        digits = str(number).lstrip("0") or "0"
        wanted = min(int(digits[:LONGEST_NUMBER]), len(parts) + 1) if len(digits) <= LONGEST_NUMBER else len(parts) + 1
        low = 0 if kind.lower() == "at_most" else wanted
        high = len(parts) if kind.lower() == "at_least" else wanted
        return Count(low, high, tuple(parts))


def _unquoted(token: Token) -> str:
    return str(token)[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def _complaint(error: UnexpectedInput, text: str) -> BadFormula:
    place, what = Place(error.line, error.column), "the end"
    expected = getattr(error, "accepts", None) or getattr(error, "allowed", None) or getattr(error, "expected", None)
    if isinstance(error, UnexpectedCharacters):
        word = WORD.match(text, error.pos_in_stream or 0)
        what = repr(word[0][:LONGEST_NAME] if word else error.char)
    elif isinstance(error, UnexpectedToken) and error.token.type != "$END":
        what = repr(str(error.token)[:LONGEST_NAME])
    else:
        place = Place(text.count("\n") + 1, len(text) - text.rfind("\n"))
    words = sorted({WORDS.get(name, name) for name in expected or ()})
    return BadFormula(f"expected {', '.join(words)}; found {what}", place)
