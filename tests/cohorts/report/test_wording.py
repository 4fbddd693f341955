"""Numbers and rules in words."""

from typing import Any

import pytest

from app.adapters.rules.item_words import item_words
from app.cohorts.report.constraint_words import items_of
from app.cohorts.report.wording import MINUS, NONE, listed, percent, points, score, signed_points

CONSTRAINTS: dict[str, Any] = {
    "immutable": ["BIL"],
    "directions": {"AST": "decrease", "a.b[0]": "increase"},
    "max_step": {"ALT": 1234567.5},
    "causal": [{"cause": "AST", "effects": ["ALT", "GGT"]}],
    "correlated": [["ALT", "AST", "GGT"]],
    "exclusive": [["ALT", "AST"]],
    "required": ["ALB"],
    "max_changes": 1,
    "formulas": ["ALT xor AST"],
}


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0.0"),
        (1e-9, "under 0.1"),
        (0.0005, "0.1"),
        (0.1214, "12.1"),
        (0.9994, "99.9"),
        (0.9999, "over 99.9"),
        (1, "100.0"),
    ],
)
def test_some_is_never_rounded_to_none_nor_most_to_all(share: float, words: str):
    assert percent(share) == f"{words}\u00a0%"


@pytest.mark.parametrize(
    ("difference", "words"),
    [(0.0812, "+8.1"), (-0.0812, f"{MINUS}8.1"), (0.0002, "+0.02"), (1e-7, "+under 0.001"), (0, "0.0")],
)
def test_a_difference_keeps_its_sign_however_small_it_is(difference: float, words: str):
    assert signed_points(difference) == words
    assert points(difference) == words.lstrip(f"+{MINUS}")


@pytest.mark.parametrize(("value", "words"), [(None, NONE), (0.12345, "0.123"), (1234.5, "1,234"), (-0.5, "-0.500")])
def test_scores_are_short(value: float | None, words: str):
    assert score(value) == words


@pytest.mark.parametrize(
    ("words", "told"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_are_read_aloud(words: list[str], told: str):
    assert listed(words) == told


def test_every_kind_of_rule_has_its_words():
    assert {item: item_words(item, CONSTRAINTS) for item in items_of(CONSTRAINTS)} == {
        "immutable[0]": "BIL never changes",
        "directions.AST": "AST may only go down",
        "directions.a.b[0]": "a.b[0] may only go up",
        "max_step.ALT": "ALT may move by at most 1234567.5",
        "causal[0]": "if AST changes, ALT and GGT must be normal",
        "correlated[0]": "ALT, AST and GGT change together or not at all",
        "exclusive[0]": "at most one of ALT and AST changes",
        "required[0]": "ALB must be normal afterwards",
        "max_changes": "at most 1 feature changes",
        "formulas[0]": "ALT xor AST",
    }


@pytest.mark.parametrize(
    "item", ["", "immutable[9]", "immutable.x", "max_changes[0]", "new_kind[0]", "causal[0][1]", "]["]
)
def test_a_path_that_leads_nowhere_has_no_words(item: str):
    assert item_words(item, CONSTRAINTS) == ""
    assert item_words(item, {}) == ""


@pytest.mark.parametrize("held", [3, "x", None, [3], [None], {"a": 3}, {"AST": "sideways"}])
def test_constraints_of_another_shape_have_no_words_and_break_nothing(held: Any):
    for kind in CONSTRAINTS:
        for item in (kind, f"{kind}[0]", f"{kind}.AST", *items_of({kind: held})):
            assert isinstance(item_words(item, {kind: held}), str)
