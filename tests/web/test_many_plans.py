"""Many plans: in groups of what they share, searched, pressed on in the picture, and as a table."""

import re
from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.browser import STILL
from tests.web.support.visiting import (
    await_the_end,
    cards,
    example,
    keep,
    open_model,
    region,
    tab,
    visit,
)

MOST = 10_000


def groups_of(page: Page, sets: list[set[str]]) -> list[dict[str, Any]]:
    plans = [{"changes": [{"feature": name} for name in sorted(one)]} for one in sets]
    return page.evaluate(
        "(plans) => import('/web/scripts/plans/grouping.js').then((module) => module.groupsOf(plans))", plans
    )


def spelled_out(group: dict[str, Any]) -> set[frozenset[str]]:
    return {frozenset({*group["core"], *some}) for some in combinations(group["pool"], group["any"])}


FAMILIES = {
    "one core": [{"a", "b"}, {"a", "c"}, {"a", "d"}],
    "any two of four": [set(two) for two in combinations("abcd", 2)],
    "a core and another way": [{"a", "b"}, {"a", "c"}, {"b", "c", "d"}],
    "nothing shared": [{"a", "b"}, {"c", "d"}, {"e", "f"}],
    "any three of nine but one": [set(three) for three in combinations("abcdefghi", 3)][1:],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_groups_say_exactly_which_plans_there_are(page: Page, family: str):
    """Each plan is in the one group whose filter it passes; what a group says in short is all of its plans."""
    page.goto("/")
    sets = FAMILIES[family]
    groups = groups_of(page, sets)
    assert sum(group["count"] for group in groups) == len(sets)
    for group in groups:
        mine = {
            frozenset(one)
            for one in sets
            if all((name in one) == (how == "with") for name, how in group["wanted"].items())
        }
        assert len(mine) == group["count"]
        assert all(one >= set(group["core"]) and one <= {*group["core"], *group["pool"]} for one in mine)
        if isinstance(group["any"], int):
            assert spelled_out(group) == mine


def test_a_group_lists_its_plans(page: Page):
    visit(page)
    tab(page, "Overview").click()
    shared = region(page, "What the plans share")
    group = shared.get_by_role("button", name="Debt-to-income and one of ")
    expect(group).to_have_text(
        "Debt-to-income and one of housing-to-income, loan-to-value or credit history (1 is best)3 plans"
    )
    group.click()
    expect(cards(page)).to_have_count(3)
    expect(region(page, "Plans")).to_be_focused()
    expect(region(page, "Plans")).to_contain_text("3 of 4 plans shown: only those with debt-to-income")


def test_plans_are_searched_by_words(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "wide")
    example(page, "all low").click()
    await_the_end(page)
    page.get_by_role("searchbox", name="Search").fill("f16, f17")
    said = region(page, "Plans").get_by_text("455 of 6,188 plans shown: only those that change “f16, f17”")
    expect(said).to_be_visible()
    for card in cards(page).all()[:3]:
        expect(card).to_contain_text(re.compile("f16.*f17", re.DOTALL))
    page.get_by_role("button", name="Show all", exact=True).click()
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("")
    expect(said).to_have_count(0)


@pytest.mark.parametrize("press", ["mouse", "keyboard"])
def test_a_circle_of_the_picture_lists_its_plans(page: Page, press: str):
    visit(page, "hcv")
    tab(page, "Picture").click()
    circle = page.get_by_role("button", name=re.compile("^List 1 plan of 4 changes"))
    if press == "mouse":
        circle.click()
    else:
        circle.press("Enter")
    expect(cards(page)).to_have_count(1)
    expect(cards(page).first).to_contain_text("4 changes")
    expect(region(page, "Plans")).to_contain_text("1 of 5 plans shown: only those of 4 changes with a score from ")


def rows(page: Page) -> Locator:
    return page.get_by_role("region", name="Table of plans").get_by_role("row")


def test_plans_stand_in_a_table(page: Page, server: LiveServer):
    visit(page)
    page.get_by_role("button", name="Table", exact=True).click()
    expect(rows(page)).to_have_count(5)
    expect(rows(page).first).to_have_text(
        "PlanChangesScoreDebt-to-incomeLoan-to-valueCredit history (1 is best)Housing-to-income"
    )
    expect(rows(page).nth(1)).to_contain_text(re.compile(r"1 Keep.*20\.830↓ 0\.36"))
    page.get_by_label("Sort").select_option(label="Best score first")
    expect(rows(page).nth(1)).to_contain_text(re.compile("^3 "))
    keep(page, 3).last.click()
    expect(rows(page).nth(1).get_by_role("button")).to_be_focused()
    expect(region(page, "Plans").get_by_role("heading", name="Kept plan", exact=True)).to_be_visible()
    page.get_by_role("button", name="Table", exact=True).click()
    expect(cards(page)).to_have_count(4)


def test_a_long_table_goes_on_with_a_button(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "wide")
    example(page, "all low").click()
    await_the_end(page)
    page.get_by_role("button", name="Table", exact=True).click()
    expect(rows(page)).to_have_count(51)
    page.get_by_role("button", name="Show 50 more").click()
    expect(rows(page)).to_have_count(101)


def test_of_thirty_values_and_ten_thousand_plans_the_sentence_comes_first(open_page: OpenPage, made_up: LiveServer):
    """It is there before the last plan is, and the budget can be raised."""
    page = open_page(made_up, **STILL)
    open_model(page, "many")
    example(page, "some low").click()
    story = page.locator("#decision .story")
    expect(story).to_have_text("No single value is enough: it takes at least 5 changes.")
    await_the_end(page)
    expect(region(page, "Plans")).to_contain_text(f"{MOST:,} plans")
    page.get_by_role("button", name="Search longer").click()
    expect(region(page, "Plans")).to_contain_text("11,628 plans")
    expect(story).to_contain_text("No single value is enough: it takes any 5 of 19 values.")
    tab(page, "Overview").click()
    expect(page.get_by_role("button", name="Any 5 of 19 values 11,628 plans")).to_be_visible()
