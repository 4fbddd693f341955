"""What may change: by a lock, a direction, a number, a rule between two, a formula; each asks again at once."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.web.support.browser import Watch
from tests.web.support.visiting import (
    CREDIT,
    DEBT,
    HOUSING,
    LOAN,
    SPOKEN,
    add_rule,
    answer_to,
    await_the_end,
    example,
    example_of,
    expect_plans,
    field,
    lock,
    open_model,
    paste,
    region,
    row,
    rules,
    visit,
)

REFUSED = "the server responded with a status of 422"


def expect_constraints(page: Page, server: LiveServer, constraints: dict[str, Any]) -> None:
    """The plans are those that the API gives under them."""
    request = {**example_of(server, "mortgage", "several-ways"), "constraints": constraints}
    expect_plans(page, answer_to(server, "mortgage", request))


def test_a_locked_feature_is_in_no_plan(page: Page, server: LiveServer):
    visit(page)
    lock(page, DEBT).click()
    expect_constraints(page, server, {"immutable": ["pirat"]})
    expect(lock(page, DEBT)).to_have_attribute("aria-pressed", "true")
    expect(row(page, DEBT)).to_contain_text("locked")
    expect(rules(page)).to_have_text([re.compile(f"^{SPOKEN[DEBT]} cannot change")])
    lock(page, DEBT).click()
    expect_constraints(page, server, {})
    expect(rules(page)).to_have_count(0)


def test_a_feature_may_be_allowed_one_direction(page: Page, server: LiveServer):
    visit(page)
    direction = page.get_by_label(f"Direction of {DEBT}")
    direction.select_option(label="↑ only up")
    expect_constraints(page, server, {"directions": {"pirat": "increase"}})
    expect(row(page, DEBT)).to_contain_text("would have to move the other way")
    expect(rules(page)).to_have_text([re.compile(f"^{SPOKEN[DEBT]} may only go up")])
    direction.select_option(label="↓ only down")
    expect_constraints(page, server, {"directions": {"pirat": "decrease"}})
    direction.select_option(label="↕ either way")
    expect(rules(page)).to_have_count(0)


def test_there_may_be_at_most_so_many_changes(page: Page, server: LiveServer):
    visit(page, "hcv")
    page.get_by_label("At most this many changes").select_option(label="2")
    request = {**example_of(server, "hcv", "several-ways"), "constraints": {"max_changes": 2}}
    expect_plans(page, answer_to(server, "hcv", request))
    expect(rules(page)).to_have_text([re.compile("^at most 2 changes")])


def test_two_features_are_connected_in_a_dialogue(page: Page, server: LiveServer):
    visit(page)
    causal = {"causal": [{"cause": "pirat", "effects": ["hirat"]}]}
    for kind, constraints, words in (
        (
            "moves together with",
            {"correlated": [["pirat", "hirat"]]},
            "debt-to-income and housing-to-income change together or not at all",
        ),
        (
            "never changes together with",
            {"exclusive": [["pirat", "hirat"]]},
            "at most one of debt-to-income and housing-to-income",
        ),
        ("brings about a change in", causal, "changing debt-to-income also changes housing-to-income"),
    ):
        add_rule(page, DEBT, kind, HOUSING)
        expect_constraints(page, server, constraints)
        expect(rules(page)).to_have_text([re.compile(f"^{re.escape(words)}")])
        rules(page).get_by_role("button").click()
        expect(rules(page)).to_have_count(0)


def test_a_rule_may_be_about_one_feature(page: Page, server: LiveServer):
    visit(page)
    for kind, most, constraints, words in (
        ("must end up in its range", None, {"required": ["chist"]}, f"{SPOKEN[CREDIT]} must end up in its range"),
        ("may move by at most", "0.5", {"max_step": {"chist": 0.5}}, f"{SPOKEN[CREDIT]} may move by at most 0.5"),
    ):
        add_rule(page, CREDIT, kind, most=most)
        expect_constraints(page, server, constraints)
        expect(rules(page)).to_have_text([re.compile(f"^{re.escape(words)}")])
        rules(page).get_by_role("button").click()
        expect(rules(page)).to_have_count(0)


def test_the_dialogue_says_what_is_wrong_with_a_rule(page: Page):
    visit(page)
    add_rule(page, DEBT, "moves together with", DEBT)
    dialog = page.get_by_role("dialog", name="Add a rule")
    expect(dialog.get_by_role("alert")).to_have_text("Choose two different values.")
    dialog.get_by_label("Rule", exact=True).select_option(label="may move by at most")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_role("alert")).to_have_text("Write a number above 0, such as 2.5.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    expect(rules(page)).to_have_count(0)


def test_one_feature_dragged_onto_another_is_connected_with_it(page: Page, server: LiveServer):
    visit(page)
    # Both in sight before: nothing may scroll away under the mouse.
    row(page, CREDIT).scroll_into_view_if_needed()
    page.get_by_role("button", name=f"Rule… for {LOAN}").drag_to(row(page, CREDIT))
    dialog = page.get_by_role("dialog", name="Add a rule")
    expect(dialog.get_by_label("Value", exact=True).locator("option:checked")).to_have_text(LOAN)
    expect(dialog.get_by_label("the other value").locator("option:checked")).to_have_text(CREDIT)
    dialog.get_by_label("Rule", exact=True).select_option(label="never changes together with")
    dialog.get_by_role("button", name="Add").click()
    expect_constraints(page, server, {"exclusive": [["lvrat", "chist"]]})


def test_a_formula_is_obeyed(page: Page, server: LiveServer):
    visit(page)
    page.get_by_label("Formula 1").fill("pirat xor hirat")
    expect_constraints(page, server, {"formulas": ["pirat xor hirat"]})
    page.get_by_role("button", name="Another formula").click()
    page.get_by_label("Formula 2").fill("chist -> lvrat")
    expect_constraints(page, server, {"formulas": ["pirat xor hirat", "chist -> lvrat"]})
    expect(rules(page)).to_have_count(2)


@pytest.mark.parametrize(
    ("formula", "marked", "said"),
    [
        ("pirat xor hirta", "hirta", "Line 1, column 11: 'hirta' is not a feature; did you mean 'hirat'?"),
        ("pirat and (", "\u00a0", "Line 1, column 12: expected one of: a feature"),
    ],
)
def test_a_mistake_in_a_formula_is_marked_where_it_is(
    page: Page, watch: Watch, server: LiveServer, formula: str, marked: str, said: str
):
    """The plans of before stay, faded, until it is mended."""
    watch.expect(REFUSED)
    visit(page)
    text = page.get_by_label("Formula 1")
    text.fill(formula)
    expect(text).to_have_attribute("aria-invalid", "true")
    expect(text).to_have_accessible_description(re.compile(f"^{re.escape(said)}"))
    expect(text).not_to_have_accessible_description(re.compile(r"\?\.$"))
    mark = region(page, "Rules").locator("mark")
    expect(mark).to_have_text(marked, use_inner_text=True)
    expect_constraints(page, server, {})
    expect(page.get_by_role("list", name="Plans")).to_have_css("opacity", "0.93")
    text.fill("pirat xor hirat")
    expect_constraints(page, server, {"formulas": ["pirat xor hirat"]})
    expect(text).to_have_attribute("aria-invalid", "false")
    expect(mark).to_have_count(0)
    expect(page.get_by_role("list", name="Plans")).to_have_css("opacity", "1")


def test_the_mark_lies_exactly_behind_the_mistake(page: Page, watch: Watch):
    """The field and the copy behind it have the same letters at the same place."""
    watch.expect(REFUSED)
    visit(page)
    text = page.get_by_label("Formula 1")
    text.fill("pirat xor hirta")
    mark = region(page, "Rules").locator("mark")
    expect(mark).to_be_visible()
    style = """(element) => {
        const { font, letterSpacing, lineHeight } = getComputedStyle(element);
        return [font, letterSpacing, lineHeight];
    }"""
    assert mark.evaluate(style) == text.evaluate(style)
    inside, outside = mark.bounding_box(), text.bounding_box()
    assert inside is not None
    assert outside is not None
    assert outside["x"] < inside["x"] < inside["x"] + inside["width"] < outside["x"] + outside["width"]
    assert outside["y"] <= inside["y"] < inside["y"] + inside["height"] <= outside["y"] + outside["height"]


def test_a_rule_is_dropped_at_its_chip(page: Page, server: LiveServer):
    visit(page)
    lock(page, HOUSING).click()
    page.get_by_label(f"Direction of {DEBT}").select_option(label="↓ only down")
    add_rule(page, LOAN, "never changes together with", CREDIT)
    page.get_by_label("Formula 1").fill("pirat or chist")
    every = {
        "immutable": ["hirat"],
        "directions": {"pirat": "decrease"},
        "exclusive": [["lvrat", "chist"]],
        "formulas": ["pirat or chist"],
    }
    expect(rules(page)).to_have_count(4)
    expect_constraints(page, server, every)
    page.get_by_role("button", name=f"Drop the rule: {SPOKEN[HOUSING]} cannot change").click()
    expect_constraints(page, server, {name: value for name, value in every.items() if name != "immutable"})
    expect(lock(page, HOUSING)).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Drop the rule: formula: pirat or chist").click()
    expect(page.get_by_label("Formula 1")).to_have_value("")
    page.get_by_role("button", name="Drop all rules").click()
    expect_constraints(page, server, {})
    expect(rules(page)).to_have_count(0)


def test_the_rules_of_an_example_are_in_force_and_on_the_page(page: Page, server: LiveServer):
    visit(page, "mortgage", "no way out")
    expect(lock(page, CREDIT)).to_have_attribute("aria-pressed", "true")
    expect(rules(page)).to_have_count(2)
    example(page, "several ways").click()
    expect_constraints(page, server, {})
    expect(rules(page)).to_have_count(0)


def test_rules_stay_when_a_value_is_edited(page: Page, server: LiveServer):
    visit(page)
    lock(page, DEBT).click()
    field(page, LOAN).fill("0.9")
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "lvrat": 0.9}
    answer = answer_to(server, "mortgage", {"instance": instance, "constraints": {"immutable": ["pirat"]}})
    expect_plans(page, answer)


def test_no_rule_is_offered_for_a_feature_without_a_range(page: Page):
    """Before anybody is asked about, and after."""
    open_model(page, "mortgage")
    ranged = [
        DEBT,
        HOUSING,
        LOAN,
        CREDIT,
        "Mortgage payment history, 1 (best) to 4",
        "Public record of bad credit, 1 is yes",
    ]
    for _ in range(2):
        region(page, "Rules").get_by_role("button", name="Connect two values").click()
        dialog = page.get_by_role("dialog", name="Add a rule")
        for name in ("Value", "the other value"):
            expect(dialog.get_by_label(name, exact=True).locator("option")).to_have_text(ranged)
        dialog.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("button", name="Rule… for")).to_have_count(len(ranged))
        example(page, "several ways").click()
        await_the_end(page)


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"correlated": [["pirat", "selfemp"]]}, "no effect: self-employed has no range"),
        ({"causal": [{"cause": "selfemp", "effects": ["pirat"]}]}, "no effect: self-employed has no range"),
        ({"exclusive": [["selfemp", "unemp"]]}, re.compile("no effect: self-employed and .* have no range")),
        ({"required": ["selfemp"]}, "no effect: self-employed has no range"),
        ({"correlated": [["pirat", "hirat", "selfemp"]]}, None),
        ({"causal": [{"cause": "pirat", "effects": ["hirat", "selfemp"]}]}, None),
    ],
)
def test_a_rule_without_effect_says_so(page: Page, server: LiveServer, constraints: dict, said: Any):
    """And has none: the plans are those without it."""
    request = example_of(server, "mortgage", "several-ways")
    open_model(page, "mortgage")
    paste(page, json.dumps({**request, "constraints": constraints}))
    await_the_end(page)
    expect(rules(page)).to_have_count(1)
    if said is None:
        expect(rules(page)).not_to_contain_text("no effect")
    else:
        expect(rules(page)).to_contain_text(said)
        expect_plans(page, answer_to(server, "mortgage", request))


def test_a_formula_with_a_mistake_does_not_look_as_if_it_were_in_force(page: Page, watch: Watch):
    watch.expect(REFUSED)
    visit(page)
    page.get_by_label("Formula 1").fill("pirat xor hirta")
    expect(rules(page)).to_contain_text("not applied: it has a mistake")
    page.get_by_label("Formula 1").fill("pirat xor hirat")
    await_the_end(page)
    expect(rules(page)).not_to_contain_text("not in force")
