"""The grammar of formulas: what it reads, what it refuses and how it says so."""

import sys
from itertools import product
from types import FrameType

import numpy as np
import pytest

from app.adapters.rules.formulas import BadFormula, FormulaLimits, count_tokens, parse_formula
from app.core.formula import Changed, Formula, holds, only_forbids, substituted
from tests.support.constrained import random_formula

LIMITS = FormulaLimits()
NAMES = {"a": 0, "b": 1, "c": 2, "ALT (SGPT)": 3, "not": 4, 'say "hi"': 5, "größe": 6, "x.y": 7, "back\\slash": 8}
SUBSETS = np.array(list(product([False, True], repeat=3)))


OPERAND = "one of: a feature, an opening bracket, 'at_most', 'at_least', 'exactly' or 'not'"
OPERATOR = "one of: 'and', 'iff', 'implies', 'or', 'xor'"


def read(text: str) -> Formula:
    return parse_formula(text, NAMES, LIMITS)[0]


def truths(text: str) -> list[bool]:
    return holds(read(text), SUBSETS).tolist()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a", lambda a, b, c: a),
        ("not a", lambda a, b, c: not a),
        ("a and b", lambda a, b, c: a and b),
        ("a or b", lambda a, b, c: a or b),
        ("a xor b", lambda a, b, c: a != b),
        ("a implies b", lambda a, b, c: not a or b),
        ("a iff b", lambda a, b, c: a == b),
        ("!a & b | c", lambda a, b, c: (not a and b) or c),
        ("a | b & c", lambda a, b, c: a or (b and c)),
        ("a | b ^ c", lambda a, b, c: a or (b != c)),
        ("a ^ b & c", lambda a, b, c: a != (b and c)),
        ("a -> b | c", lambda a, b, c: not a or b or c),
        ("a <-> b -> c", lambda a, b, c: a == (not b or c)),
        ("a -> b -> c", lambda a, b, c: not a or (not b or c)),
        ("(a -> b) -> c", lambda a, b, c: not (not a or b) or c),
        ("a xor b xor c", lambda a, b, c: (a != b) != c),
        ("a iff b iff c", lambda a, b, c: (a == b) == c),
        ("not not a", lambda a, b, c: a),
        ("NOT a AND NOT b", lambda a, b, c: not a and not b),
        ("at_most(1, a, b, c)", lambda a, b, c: a + b + c <= 1),
        ("at_least(2, a, b, c)", lambda a, b, c: a + b + c >= 2),
        ("exactly(1, a and b, c)", lambda a, b, c: (a and b) + c == 1),
        ("at_least(0000000001, a, b)", lambda a, b, c: a or b),
        ("exactly(12, a, b)", lambda a, b, c: False),
        ("at_most(10, a, b)", lambda a, b, c: True),
        ("exactly(0, a, b)", lambda a, b, c: a + b == 0),
        ("at_least(9, a, b)", lambda a, b, c: False),
        ("at_most(99999999999999999999, a, b)", lambda a, b, c: True),
        ("a\n  and\n\tb", lambda a, b, c: a and b),
    ],
)
def test_what_a_formula_says(text: str, says):
    assert truths(text) == [bool(says(*row)) for row in SUBSETS.tolist()]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ('"ALT (SGPT)"', 3),
        ('"not"', 4),
        (r'"say \"hi\""', 5),
        ("größe", 6),
        ("x.y", 7),
        (r'"back\\slash"', 8),
        ('"a"', 0),
    ],
)
def test_odd_names_stand_in_quotes(text: str, position: int):
    assert read(text) == Changed(position)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a and", f"line 1, column 6: expected {OPERAND}; found the end"),
        ("a and\nor b", f"line 2, column 1: expected {OPERAND}; found 'or'"),
        ("(a", "line 1, column 3: expected a closing bracket; found the end"),
        ("a b", f"line 1, column 3: expected {OPERATOR} or the end; found 'b'"),
        (
            "a == 3",
            f"line 1, column 3: expected {OPERATOR} or the end; found '='; a formula says which features change",
        ),
        ("atmost(1, a)", "line 1, column 1: 'atmost' is not a feature; did you mean at_most?"),
        ("a xr b", f"line 1, column 3: expected {OPERATOR} or the end; found 'xr'; did you mean 'xor'?"),
        ("a && b", f"line 1, column 4: expected {OPERAND}; found '&'; write & or and"),
        ("a || b", f"line 1, column 4: expected {OPERAND}; found '|'; write | or or"),
        ("ALT (SGPT)", f"line 1, column 5: expected {OPERATOR} or the end; found '('; put a name with spaces in "),
        ("say hi", f"line 1, column 5: expected {OPERATOR} or the end; found 'hi'"),
        ("at_most(x, a)", "line 1, column 9: expected a whole number; found 'x'"),
        ("at_most(1)", "line 1, column 10: expected a comma; found ')'"),
        (
            "d",
            ("d", "line 1, column 1: 'd' is not a feature; known: a, b, c, ALT (SGPT), not, "),
        ),
        ("a or grösse", "line 1, column 6: 'grösse' is not a feature; did you mean 'größe'?"),
        ("__import__(a)", f"line 1, column 11: expected {OPERATOR} or the end; found '('"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, complaint: str):
    with pytest.raises(BadFormula) as bad:
        read(text)
    assert str(bad.value).startswith(complaint)
    assert bad.value.place is not None
    assert str(bad.value).startswith(f"line {bad.value.place.line}, column {bad.value.place.column}: ")


@pytest.mark.parametrize("text", ["", "   ", "a $ b", '"a', "()", "a,b", "1", "a -", "at_most 1 (a)", "a == b"])
def test_nonsense_is_refused(text: str):
    with pytest.raises(BadFormula):
        read(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("(" * 21 + "a" + ")" * 21, "is nested deeper than 20"),
        ("(" * 9_999, "is nested deeper than 20"),
        ("a" * 1_000_000, "is longer than 10,000 characters"),
        ("a and " * 1_000_000 + "a", "is longer than 10,000 characters"),
        ("!" * 20_000 + "a", "is longer than 10,000 characters"),
    ],
)
def test_hostile_formulas_are_refused_before_they_are_read(text: str, complaint: str):
    with pytest.raises(BadFormula) as bad:
        read(text)
    assert str(bad.value) == complaint
    assert bad.value.place is None


@pytest.mark.parametrize(
    "text", ["not " * 2_000 + "a", "!" * 9_000 + "a", " xor ".join(["a"] * 1_400), "(" * 20 + "a" + ")" * 20]
)
def test_long_chains_within_the_limits_are_read(text: str):
    assert holds(read(text), SUBSETS).shape == (8,)


@pytest.mark.parametrize(
    "text",
    [
        f"exactly(495, {', '.join(['a&b'] * 990)})",
        f"at_least(1, {', '.join(['!!a'] * 1_900)})",
        " xor ".join(["a"] * 1_400),
    ],
)
def test_a_long_formula_is_read_with_few_calls_a_token(text: str):
    """It is read in one go while other searches wait for their turn. lark made about 60 calls a token."""
    assert calls_of_reading(text) < 15 * count_tokens([text])


def calls_of_reading(text: str) -> int:
    """The functions that are called meanwhile, Python's own included: the work, whatever the machine."""
    calls = 0

    def count(frame: FrameType, event: str, function: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read(text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a)", "the end"),
        ("(a, b)", "a closing bracket"),
        ("at_most(1, a", "one of: a closing bracket or a comma"),
        ("(a b", f"{OPERATOR} or a closing bracket"),
        ("at_most(1, a $", f"{OPERATOR}, a closing bracket or a comma"),
        ("at_most a", "an opening bracket"),
        ("at_most(1.5, a)", "a comma"),
        ("not $", OPERAND),
        ('"a', OPERAND),
        ("d and )", OPERAND),
    ],
)
def test_a_mistake_says_what_could_have_stood_there(text: str, expected: str):
    with pytest.raises(BadFormula, match=f": expected {expected}; found "):
        read(text)


def test_random_formulas_mean_what_they_should():
    rng = np.random.default_rng(3)
    names = {f"f{i}": i for i in range(3)}
    for _ in range(500):
        written = random_formula(rng, 3, depth=4)
        formula, _ = parse_formula(written.text, names, LIMITS)
        expected = [written.says(frozenset(np.flatnonzero(row).tolist())) for row in SUBSETS]
        assert holds(formula, SUBSETS).tolist() == expected
        assert holds(substituted(formula, Changed), SUBSETS).tolist() == expected, written.text


def test_a_formula_that_only_forbids_is_never_mended_by_one_more_change():
    rng = np.random.default_rng(4)
    forbidding = 0
    for _ in range(1_000):
        written = random_formula(rng, 3, depth=3)
        formula, _ = parse_formula(written.text, {f"f{i}": i for i in range(3)}, LIMITS)
        held = {
            tuple(row): value for row, value in zip(SUBSETS.tolist(), holds(formula, SUBSETS).tolist(), strict=True)
        }
        if only_forbids(formula):
            forbidding += 1
            for smaller, larger in product(held, repeat=2):
                if all(a <= b for a, b in zip(smaller, larger, strict=True)):
                    assert held[smaller] >= held[larger]
    assert forbidding > 50
