"""The plans: sorted, filtered, kept and compared; and very many of them."""

import json
import re

from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.made_up import WIDE_PLANS
from tests.web.support.visiting import (
    CREDIT,
    DEBT,
    HOUSING,
    LOAN,
    Answer,
    answer_to,
    cards,
    example,
    example_of,
    expect_plans,
    field,
    keep,
    lock,
    open_model,
    paste,
    region,
    tab,
    visit,
)

TITLES = {"pirat": DEBT, "hirat": HOUSING, "lvrat": LOAN, "chist": CREDIT}


def several_ways(server: LiveServer, **more: object) -> Answer:
    return answer_to(server, "mortgage", {**example_of(server, "mortgage", "several-ways"), **more})


def ranks(answer: Answer, feature: str, *, changed: bool) -> list[int]:
    return [
        plan["rank"]
        for plan in answer["counterfactuals"]
        if any(change["feature"] == feature for change in plan["changes"]) == changed
    ]


def test_plans_are_sorted_by_score(page: Page, server: LiveServer):
    visit(page)
    answer = several_ways(server)
    page.get_by_label("Sort").select_option(label="Best score first")
    best = sorted(answer["counterfactuals"], key=lambda plan: -plan["prediction"]["score"])
    expect_plans(page, answer, [plan["rank"] for plan in best])
    page.get_by_label("Sort").select_option(label="Fewest changes first")
    expect_plans(page, answer)


def test_each_feature_tells_how_often_it_appears(page: Page, server: LiveServer):
    visit(page)
    tab(page, "Overview").click()
    answer = several_ways(server)
    for name, count in answer["summary"]["changed_in"].items():
        button = region(page, "What the plans share").get_by_role(
            "button", name=f"{TITLES[name]}: in {count} of 4 plans"
        )
        expect(button).to_have_text(f"{TITLES[name]}{count}")


def test_plans_with_a_feature_or_without_it_are_shown_alone(page: Page, server: LiveServer):
    visit(page)
    answer = several_ways(server)
    tab(page, "Overview").click()
    button = page.get_by_role("button", name=re.compile(f"^{re.escape(CREDIT)}: in "))
    button.click()
    expect(button).to_have_accessible_name(f"{CREDIT}: in 2 of 4 plans; showing only with it")
    tab(page, "Plans").click()
    expect_plans(page, answer, ranks(answer, "chist", changed=True))
    said = region(page, "Plans").get_by_role("status")
    expect(said).to_have_text("2 of 4 plans shown: only those with credit history (1 is best)")
    tab(page, "Overview").click()
    button.click()
    tab(page, "Plans").click()
    expect_plans(page, answer, ranks(answer, "chist", changed=False))
    page.get_by_role("button", name="Show all", exact=True).click()
    expect_plans(page, answer)
    expect(said).to_be_empty()


def test_kept_plans_are_compared(page: Page, server: LiveServer):
    visit(page)
    one, _, other, last = several_ways(server)["counterfactuals"]
    keep(page, 1).click()
    expect(region(page, "Plans").get_by_role("heading", name="Kept plan", exact=True)).to_be_visible()
    keep(page, 3).click()
    table = region(page, "Kept plans").get_by_role("row")
    expect(table).to_have_text(
        [
            re.compile("^ValueNowPlan 1 .*Plan 3 "),
            f"{HOUSING}0.34↓ 0.28as it is",
            f"{CREDIT}5as it is↓ 2",
            f"{DEBT}0.42↓ 0.36↓ 0.36",
            re.compile("^Changes.22$"),
            f"Score0.381{one['prediction']['score']:.3f}{other['prediction']['score']:.3f}",
        ]
    )
    keep(page, 4).click()
    expect(table.first).to_have_text(re.compile("^ValueNowPlan 1 .*Plan 3 .*Plan 4 "))
    expect(table.last).to_contain_text(f"{last['prediction']['score']:.3f}")
    page.get_by_role("button", name="No longer keep plan 1").click()
    expect(keep(page, 1)).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Keep none").click()
    expect(table).to_have_count(0)
    expect(keep(page, 4)).to_have_attribute("aria-pressed", "false")


def test_weights_show_what_a_plan_costs(page: Page, server: LiveServer):
    """They come with a request that is pasted."""
    answer = several_ways(server, weights={"pirat": 3})
    page.goto("/#model=mortgage&example=several-ways&question=%7B%22weights%22%3A%7B%22pirat%22%3A3%7D%7D")
    expect(cards(page)).to_have_count(4)
    for plan in answer["counterfactuals"]:
        expect(cards(page).nth(plan["rank"] - 1)).to_contain_text(f"2 changes, cost {plan['cost']:g}")


def test_of_very_many_plans_only_what_is_seen_is_drawn(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "wide")
    example(page, "all low").click()
    expect(region(page, "Plans")).to_contain_text(f"{WIDE_PLANS:,} plans")
    expect(region(page, "Plans")).to_contain_text("Complete")
    assert cards(page).count() < 100
    expect(cards(page).first).to_have_attribute("aria-setsize", str(WIDE_PLANS))
    # A long list scrolls by itself.
    page.get_by_role("list", name="Plans").evaluate(
        "list => { list.scrollIntoView(); list.scrollTop = list.scrollHeight; }"
    )
    last = page.get_by_role("heading", name=f"Plan {WIDE_PLANS}", exact=True)
    expect(last).to_be_in_viewport()
    expect(cards(page).last).to_have_attribute("aria-posinset", str(WIDE_PLANS))
    assert cards(page).count() < 100
    counts = answer_to(made_up, "wide", example_of(made_up, "wide", "all-low"))["summary"]["changed_in"]
    tab(page, "Overview").click()
    button = page.get_by_role("button", name=f"f7: in {counts['f7']} of {WIDE_PLANS:,} plans")
    button.click()
    shown = region(page, "What the plans share").get_by_role("status")
    expect(shown).to_contain_text(f"{counts['f7']:,} of {WIDE_PLANS:,} plans shown")
    button.click()
    expect(shown).to_contain_text(f"{WIDE_PLANS - counts['f7']:,} of {WIDE_PLANS:,} plans shown")
    tab(page, "Plans").click()
    expect(cards(page).first).not_to_contain_text("f7")


def test_the_page_answers_while_plans_stream_in(open_page: OpenPage, made_up: LiveServer):
    """A rule that is set on the way is obeyed by the next answer, and nothing of the one before is left."""
    page = open_page(made_up)
    open_model(page, "wide")
    example(page, "all low").click()
    expect(cards(page).first).to_be_visible()
    lock(page, "f1").click()
    expect(lock(page, "f1")).to_have_attribute("aria-pressed", "true")
    # Any 5 of the other 16.
    expect(region(page, "Plans")).to_contain_text("4,368 plans")
    expect(cards(page).first).not_to_contain_text(re.compile(r"f1\b"))
    field(page, "f2").fill("1")
    # Any 4 of the other 15.
    expect(region(page, "Plans")).to_contain_text("1,365 plans")


def test_what_is_minimal_and_what_a_cost_is_is_explained_where_it_is_said(page: Page, server: LiveServer):
    open_model(page, "mortgage")
    paste(page, json.dumps({**example_of(server, "mortgage", "several-ways"), "weights": {"chist": 2.5}}))
    expect(page.get_by_text("there are no other minimal plans")).to_have_attribute("title", re.compile("no part of"))
    cost = cards(page).get_by_text("2 changes, cost 3.5").first
    expect(cost).to_have_attribute(
        "title", "Cost: the weights of its changes together; a change without a weight weighs 1."
    )
    expect(page.get_by_label("Sort").locator("option").last).to_have_text("Lowest cost first")
