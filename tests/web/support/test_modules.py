"""The parts of the page that only compute, called in the browser without the page around them."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

EVERY_RULE: dict[str, Any] = {
    "immutable": ["a", "b", "c"],
    "directions": {"a": "increase", "b": "decrease"},
    "max_step": {"a": 2, "b.c": 3},
    "causal": [{"cause": "a", "effects": ["b"]}],
    "correlated": [["a", "b"], ["b", "c"]],
    "exclusive": [["a", "b"]],
    "required": ["a"],
    "max_changes": 2,
    "formulas": ["a", "b", "c"],
    "relations": ["a <= b"],
}


Call = Callable[..., Any]

SCORES = [
    (0.381, None, "0.381"),
    (0.76, 0.76, "0.760"),
    (0.7599, 0.76, "0.7599"),
    (0.75999, 0.76, "0.75999"),
    (0.7600001, 0.76, "0.7600001"),
    (0.4999999999, 0.5, "0.4999999999"),
    (146.1, 100, "146.100"),
    (None, 0.5, "no score"),
    (123456.789, None, "123457"),
    (0, None, "0.000"),
    (0.0001, None, "< 0.001"),
    (0.0001, 0.5, "< 0.001"),
    (0.0001, 0.00005, "0.0001"),
    (-0.0001, None, "> -0.001"),
]


NUMBERS = [
    (" 31.5 ", {"value": 31.5}),
    ("-.5", {"value": -0.5}),
    ("1e3", {"value": 1000}),
    ("31,5", {"flaw": "write 31.5"}),
    ("0x10", {"flaw": "write a number such as 31.5"}),
    ("Infinity", {"flaw": "write a number such as 31.5"}),
    ("1e999", {"flaw": "is too large"}),
]


DROPPED = [
    (["immutable[1]"], {"immutable": ["a", "c"]}),
    (["immutable[0]", "immutable[2]"], {"immutable": ["b"]}),
    (["immutable[2]", "immutable[0]", "immutable[1]"], {"immutable": None}),
    (["directions.a"], {"directions": {"b": "decrease"}}),
    (["max_step.b.c"], {"max_step": {"a": 2}}),
    (["causal[0]"], {"causal": None}),
    (["correlated[0]"], {"correlated": [["b", "c"]]}),
    (["exclusive[0]", "required[0]"], {"exclusive": None, "required": None}),
    (["max_changes"], {"max_changes": None}),
    (["formulas[0]", "formulas[1]", "max_changes"], {"formulas": ["c"], "max_changes": None}),
    (["nothing[0]", "immutable[7]"], {}),
]


@pytest.fixture
def module(page: Page) -> Call:
    """Call a function of a module: `module("numbers", "scoreText", 0.5, 0.4)`."""
    page.goto("/")

    def call(name: str, function: str, *arguments: Any) -> Any:
        return page.evaluate(
            "([name, key, given]) => import(`/web/scripts/${name}.js`).then((module) => module[key](...given))",
            [name, function, list(arguments)],
        )

    return call


def test_a_score_never_looks_as_if_it_stood_beyond_its_threshold(module: Call):
    for score, threshold, text in SCORES:
        assert module("numbers", "scoreText", score, {} if threshold is None else {"low": threshold}) == text
        assert module("numbers", "scoreText", score, {} if threshold is None else {"high": threshold}) == text


def test_numbers_are_read_as_people_write_them(module: Call):
    for text, read in NUMBERS:
        assert module("numbers", "parseNumber", text) == read


REPORTED = [
    ("88 U/L", {"unit": "U/L", "type": "number"}, {"value": 88}),
    ("88 u/l", {"unit": "U/L", "type": "number"}, {"value": 88}),
    ("1,234.5", {"unit": "U/L", "type": "number"}, {"value": 1234.5}),
    ("1,234", {"unit": "U/L", "type": "number"}, {"flaw": "can mean two things: write 1234 or 1.234"}),
    ("31,5", {"unit": "U/L", "type": "number"}, {"flaw": "write 31.5"}),
    ("<5", {"unit": "U/L", "type": "number"}, {"flaw": "is a limit, not a value: write the number to use, such as 5"}),
    ("<", {"unit": "U/L", "type": "number"}, {"flaw": "is a limit, not a value: write the number to use"}),
    ("88 IU/L", {"unit": "U/L", "ucum": "U/L", "type": "number"}, {"value": 88}),
    ("8.4 kIU/l", {"unit": "kU/L", "ucum": "kU/L", "type": "number"}, {"value": 8.4}),
    # Of a hormone they are no synonyms, and without a code nobody knows what it is.
    ("4 mIU/L", {"unit": "mU/L", "ucum": "mU/L", "type": "number"}, {"flaw": "must be in mU/L, not mIU/L"}),
    ("88 IU/L", {"unit": "U/L", "ucum": None, "type": "number"}, {"flaw": "must be in U/L, not IU/L"}),
    ("92 µmol/L", {"unit": "umol/L", "type": "number"}, {"value": 92}),
    ("1.04 mg/dL", {"unit": "umol/L", "type": "number"}, {"flaw": "must be in umol/L, not mg/dL"}),
    ("1,234 mg/dL", {"unit": "umol/L", "type": "number"}, {"flaw": "must be in umol/L, not mg/dL"}),
    ("31 years", {"unit": None, "type": "integer"}, {"flaw": "must be a number alone, without years"}),
    ("88 mg/dL", {"unit": "g/dL", "type": "number"}, {"flaw": "must be in g/dL, not mg/dL"}),
    ("1e3", {"unit": "U/L", "type": "number"}, {"value": 1000}),
    ("1e999", {"unit": "U/L", "type": "number"}, {"flaw": "is too large"}),
    ("42%", {"unit": "1", "type": "number"}, {"value": 0.42}),
    ("0.31", {"unit": "1", "type": "number"}, {"value": 0.31}),
    ("1", {"unit": "1", "type": "integer"}, {"value": 1}),
    ("3.1 %", {"unit": "%", "type": "number"}, {"value": 3.1}),
    ("42%", {"unit": "U/L", "type": "number"}, {"flaw": "is not a percentage: leave out the %"}),
    ("2.5", {"unit": "1", "type": "integer"}, {"flaw": "write a whole number"}),
]


def test_values_are_read_as_reports_write_them_and_never_guessed(module: Call):
    for text, feature, read in REPORTED:
        assert module("numbers", "parseValue", text, feature) == read


def test_rules_are_taken_away_by_their_paths(module: Call):
    for paths, changed in DROPPED:
        left = {name: value for name, value in {**EVERY_RULE, **changed}.items() if value is not None}
        assert module("person/items", "withoutItems", EVERY_RULE, paths) == left


def test_every_rule_has_a_path_and_can_be_taken_away_by_it(module: Call):
    paths = module("person/items", "itemPaths", EVERY_RULE)
    assert len(paths) == len(set(paths)) == 17
    assert module("person/items", "withoutItems", EVERY_RULE, paths) == {}
    for path in paths:
        left = module("person/items", "withoutItems", EVERY_RULE, [path])
        assert len(module("person/items", "itemPaths", left)) == 16


def test_a_goal_is_the_threshold_as_it_was_compared(module: Call):
    target = {"classes": ["yes"], "threshold": 0.829701975, "compared_as": {"type": "float32", "threshold": 0.82970196}}
    goal = module("words", "goalOf", target, {"classes": ["no", "yes"]})
    assert goal == {"low": 0.82970196, "high": None, "words": "yes needs a score of at least 0.82970196"}
