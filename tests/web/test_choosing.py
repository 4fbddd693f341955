"""Choosing a plan: whether it holds, how little would do, what is hard or not possible, and what was kept."""

import json
import re

from playwright.sync_api import Page, Request, Route, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.made_up import SLOW
from tests.web.support.visiting import (
    CREDIT,
    DEBT,
    SPOKEN,
    answer_to,
    await_the_end,
    cards,
    come,
    example,
    example_of,
    expect_plans,
    hold,
    keep,
    lock,
    open_model,
    open_options,
    paste,
    region,
    rules,
    visit,
)

HCV = ("hcv", "several-ways")


def test_each_plan_says_whether_it_holds_and_how_much_room_it_has(page: Page, server: LiveServer):
    visit(page, "hcv")
    answer = answer_to(server, "hcv", example_of(server, *HCV))
    for card, plan in zip(cards(page).all(), answer["counterfactuals"], strict=True):
        told = plan["stability"]
        expect(card).to_contain_text(f"holds in {round(100 * told['share'])} of 100 repeated measurements")
        expect(card).to_contain_text("undone if alkaline phosphatase improves too")
        expect(card).to_contain_text(f"{plan['prediction']['score'] - 0.5:.3f} above 0.5")
    page.get_by_label("Sort").select_option(label="Most stable first")
    steady = sorted(answer["counterfactuals"], key=lambda plan: -plan["stability"]["share"])
    expect_plans(page, answer, [plan["rank"] for plan in steady])


def test_a_change_says_how_little_would_do(page: Page, server: LiveServer):
    visit(page, "hcv")
    plan = answer_to(server, "hcv", example_of(server, *HCV))["counterfactuals"][0]
    line = cards(page).first.get_by_role("listitem").filter(has_text="Aspartate")
    expect(line).to_contain_text("is enough")
    said = float(line.inner_text().rpartition("U/L")[0].split()[-1])
    assert 22.5 < said < 75
    with server.client() as client:
        body = {"instance": {**plan["instance"], "AST": said}}
        assert client.post("/v1/models/hcv/predictions", json=body).json()["prediction"]["favourable"]


def test_only_plans_that_hold_are_listed_if_that_is_wanted(page: Page, server: LiveServer):
    visit(page, "hcv")
    open_options(page)
    page.get_by_label("Plans to list", exact=True).select_option("noise")
    request = {**example_of(server, *HCV), "robustness": {"require": 0.95}}
    expect_plans(page, answer_to(server, "hcv", request))
    page.get_by_label("Plans to list", exact=True).select_option("all")
    page.get_by_label("Also check with").select_option("hcv@2")
    plans = answer_to(server, "hcv", {**example_of(server, *HCV), "robustness": {"models": ["hcv@2"]}})
    expect_plans(page, plans)
    # The plans are those of the answer before; what is told of them is new.
    expect(cards(page).first).to_contain_text("hcv@2")
    for card, plan in zip(cards(page).all(), plans["counterfactuals"], strict=True):
        (judged,) = plan["stability"]["models"]
        said = "hcv@2 also says healthy" if judged["favourable"] else "not for hcv@2, which says hepatitis"
        expect(card).to_contain_text(said)


def test_what_is_not_possible_becomes_a_rule(page: Page, server: LiveServer):
    visit(page)
    request = example_of(server, "mortgage", "several-ways")
    page.get_by_role("button", name="Not possible plan 4").click()
    page.get_by_role("dialog", name="What is not possible?").get_by_role("button", name="Credit history").click()
    expect_plans(page, answer_to(server, "mortgage", {**request, "constraints": {"immutable": ["chist"]}}))
    expect(lock(page, CREDIT)).to_have_attribute("aria-pressed", "true")


def test_what_is_hard_comes_last(page: Page, server: LiveServer):
    visit(page)
    request = example_of(server, "mortgage", "several-ways")
    page.get_by_role("button", name="Hard plan 1").click()
    page.get_by_role("dialog", name="What is hard to change?").get_by_role("button", name="Debt-to-income").click()
    answer = answer_to(server, "mortgage", {**request, "weights": {"pirat": 3}})
    cheapest = sorted(answer["counterfactuals"], key=lambda plan: plan["cost"])
    expect_plans(page, answer, [plan["rank"] for plan in cheapest])
    expect(rules(page)).to_contain_text(f"{SPOKEN[DEBT]} is hard to change (weight 3)")


def test_a_plan_keeps_its_name_when_rules_change(page: Page):
    visit(page)
    before = cards(page).last.inner_text()
    keep(page, 1).click()
    lock(page, DEBT).click()
    expect(cards(page)).to_have_count(1)
    assert cards(page).first.inner_text().splitlines()[0] == before.splitlines()[0] == "Plan 4"
    expect(region(page, "Kept plans")).to_contain_text("Plan 1")
    lock(page, DEBT).click()
    expect(cards(page)).to_have_count(4)
    expect(keep(page, 1)).to_have_attribute("aria-pressed", "true")


def test_a_search_that_ran_out_of_something_gets_more_of_it(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "slow")
    limits = {"max_model_rows": 1, "deadline_ms": 60_000}
    paste(
        page, json.dumps({"instance": dict.fromkeys(SLOW, 0), "constraints": {"immutable": SLOW[3:]}, "limits": limits})
    )
    await_the_end(page)
    expect(region(page, "Plans")).to_contain_text("limit of combinations")
    longer = page.get_by_role("button", name="Search longer")
    longer.click()
    longer.click()
    expect(region(page, "Plans")).to_contain_text("Complete")


def test_a_score_is_told_from_the_threshold_where_there_is_one(page: Page, server: LiveServer):
    visit(page)
    answer = answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways"))
    room = answer["counterfactuals"][0]["prediction"]["score"] - answer["start"]["target"]["compared_as"]["threshold"]
    expect(cards(page).first).to_contain_text(f"{room:.3f} above the threshold")


def test_other_versions_are_asked_for_few_plans_and_about_who_is_there_now(page: Page, server: LiveServer):
    """What comes late of the person before is not shown as if it were said of the next."""
    visit(page, "hcv")
    about = page.get_by_role("button", name="About the model")
    dialog = page.get_by_role("dialog", name="Hepatitis C from a blood panel")
    held = hold(page, "**/counterfactuals")
    dropped: list[Request] = []
    # Playwright writes on the function that it is given, and a built-in one takes no mark.
    page.on("requestfailed", lambda request: dropped.append(request))  # noqa: PLW0108
    about.click()
    come(page, held)
    assert json.loads(held[0].request.post_data or "")["limits"]["max_counterfactuals"] == 100
    expect(dialog).to_contain_text("Asking other versions and ranges about the same values…")
    dialog.get_by_role("button", name="Close").click()
    assert come(page, dropped)
    page.unroute("**/counterfactuals")
    example(page, "exactly one way").click()
    await_the_end(page)
    about.click()
    other = answer_to(server, "hcv@2", {**example_of(server, "hcv", "exactly-one-way"), "registry": "hcv"})
    line = dialog.get_by_role("row").filter(has_text="hcv@2, ranges hcv")
    expect(line).to_contain_text(f"{other['start']['prediction']['score']:.3f}")


def test_plans_beyond_those_asked_for_are_not_left_out_of_the_count(page: Page):
    visit(page, "hcv")

    def ask_for_one(route: Route) -> None:
        body = json.loads(route.request.post_data or "")
        route.continue_(post_data={**body, "limits": {**body["limits"], "max_counterfactuals": 1}})

    page.route("**/counterfactuals", ask_for_one)
    page.get_by_role("button", name="About the model").click()
    own = page.get_by_role("row").filter(has_text=re.compile("^hcv, ranges hcv(?!-)"))
    expect(own).to_contain_text("at least 1 plan")
