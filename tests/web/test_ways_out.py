"""Where no plan turns the decision, or the rules contradict each other: why, and buttons that lead out."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.support.waiting import eventually
from tests.web.conftest import OpenPage
from tests.web.support.browser import Watch
from tests.web.support.made_up import SLOW
from tests.web.support.visiting import (
    CREDIT,
    DEBT,
    SPOKEN,
    add_rule,
    answer_to,
    cards,
    example,
    example_of,
    expect_plans,
    lock,
    open_model,
    paste,
    region,
    rules,
    subsets_of,
    visit,
)

PLANS = "Plans"


def test_a_rule_that_leaves_no_plan_is_given_up_with_a_button(page: Page, server: LiveServer):
    visit(page, "mortgage", "no way out")
    plans = region(page, PLANS)
    expect(plans).to_contain_text("No plan changes the decision.")
    expect(plans).to_contain_text("There are plans, but every one of them breaks a rule.")
    request = example_of(server, "mortgage", "no-way-out")
    reasons = answer_to(server, "mortgage", request)["summary"]["no_recourse"]
    ways = plans.get_by_role("list").get_by_role("button")
    expect(ways).to_have_count(len(reasons["relax"]))
    opened = reasons["relax"][0]["counterfactual"]
    assert "credit history (1 is best)" in opened["sentence"]
    expect(plans).to_contain_text(f"{opened['sentence'][:-1]}; score {opened['prediction']['score']:.3f}.")
    plans.get_by_role("button", name=f"Unlock {SPOKEN[CREDIT]}").click()
    expect_plans(page, answer_to(server, "mortgage", {**request, "constraints": {"immutable": ["phist"]}}))
    expect(cards(page)).not_to_have_count(0)
    expect(lock(page, CREDIT)).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(
    ("model", "person", "constraints"),
    [("mortgage", "no-way-out", {"immutable": ["chist", "phist"]}), ("hcv", "several-ways", {"max_changes": 1})],
)
def test_what_comes_closest_within_the_rules_is_told(
    page: Page, server: LiveServer, model: str, person: str, constraints: dict
):
    """Also of nine movable features, which are too many for a picture of all combinations."""
    request = {**example_of(server, model, person), "constraints": constraints}
    open_model(page, model)
    paste(page, json.dumps(request))
    best = max((one for one in subsets_of(server, model, request) if one["allowed"]), key=lambda one: one["score"])
    found = {feature["name"]: feature for feature in answer_to(server, model, request)["start"]["features"]}
    with server.client() as client:
        listed = client.get(f"/v1/models/{model}").json()["features"]
    spoken = {feature["name"]: feature["short"] or feature["title"] for feature in listed}
    changes = [re.escape(f"{spoken[name]} from {found[name]['value']:g} to") for name in best["features"]]
    told = region(page, PLANS).get_by_role("heading", name="The closest result within the rules").locator("+ p")
    expect(told).to_have_text(re.compile(f"{'.*'.join(changes)}.*; score {best['score']:.3f}. But "))
    # What was pasted is not replaced without a question.
    page.once("dialog", lambda asked: asked.accept())
    example(page, "several ways").click()
    expect(cards(page)).not_to_have_count(0)
    expect(told).to_be_hidden()


def test_a_budget_that_was_spent_before_it_was_known_why_is_told(page: Page, server: LiveServer):
    """It was not the time that was over; and what comes closest keeps to the rules."""
    request = {**example_of(server, "mortgage", "no-way-out"), "limits": {"engine": "lattice", "max_model_rows": 8}}
    open_model(page, "mortgage")
    paste(page, json.dumps(request))
    told = region(page, PLANS)
    expect(told).to_contain_text("The search reached its limit of 8 combinations before it could tell why.")
    expect(told).not_to_contain_text("not time enough")
    expect(told.get_by_role("heading", name="The closest result within the rules", exact=True)).to_be_visible()


def test_a_search_that_ends_on_its_assumption_does_not_say_that_there_is_no_plan(page: Page, server: LiveServer):
    """Two rows: the person, and everything changed at once. More would prove that there is none."""
    request = {**example_of(server, "hcv", "no-way-out"), "limits": {"engine": "cemsp", "max_model_rows": 2}}
    assert answer_to(server, "hcv", request)["summary"]["outcome"] == "unknown"
    open_model(page, "hcv")
    paste(page, json.dumps(request))
    told = region(page, PLANS)
    expect(told).to_contain_text("No plan was found.")
    expect(told).to_contain_text("it assumed that one more change never hurts. Plans may exist.")
    expect(told).to_contain_text("There may still be a plan: not every combination of changes could be tried.")
    expect(told).not_to_contain_text("No plan changes the decision")
    expect(told).not_to_contain_text("Complete")


def test_what_comes_closest_with_the_rules_aside_stands_beside_what_keeps_to_them(page: Page, server: LiveServer):
    request = {**example_of(server, "hcv", "no-way-out"), "constraints": {"immutable": ["BIL"]}}
    why = answer_to(server, "hcv", request)["summary"]["no_recourse"]
    open_model(page, "hcv")
    paste(page, json.dumps(request))
    plans = region(page, PLANS)
    for title, best in ((" within the rules", why["best"]), (" without the rules", why["best_without_rules"])):
        told = plans.get_by_role("heading", name=f"The closest result{title}").locator("+ p")
        expect(told).to_contain_text(f"score {best['prediction']['score']:.3f}. But ")
        assert ("BIL" in {change["feature"] for change in best["changes"]}) == (title != " within the rules")


def test_without_rules_there_are_none_to_leave_aside(page: Page):
    visit(page, "hcv", "no way out")
    closest = region(page, PLANS).get_by_role("heading", name=re.compile("^The closest result"))
    expect(closest).to_have_text("The closest result")
    page.get_by_label("At most this many changes").select_option(label="1")
    expect(closest).to_have_text(["The closest result within the rules", "The closest result without the rules"])


def test_each_relaxation_leads_to_its_own_plan(page: Page, server: LiveServer):
    """The example of the made-up features has two ways out."""
    request = example_of(server, "synthetic", "no-way-out")
    for name, left in (
        ("Unlock Feature A", {"max_changes": 1}),
        ("Allow any number of changes", {"immutable": ["A"]}),
    ):
        visit(page, "synthetic", "no way out")
        region(page, PLANS).get_by_role("button", name=name).click()
        expect_plans(page, answer_to(server, "synthetic", {**request, "constraints": left}))
        example(page, "several ways").click()


def test_several_rules_are_given_up_with_one_button(page: Page, server: LiveServer):
    request = example_of(server, "hcv", "several-ways")
    open_model(page, "hcv")
    paste(page, json.dumps({**request, "constraints": {"immutable": ["ALB", "BIL", "CHOL", "GGT", "AST"]}}))
    page.get_by_role("button", name="Unlock albumin and unlock AST").click()
    left = {"immutable": ["BIL", "CHOL", "GGT"]}
    expect_plans(page, answer_to(server, "hcv", {**request, "constraints": left}))


def test_too_few_changes_are_told_and_made_more(page: Page, server: LiveServer):
    visit(page)
    page.get_by_label("At most this many changes").select_option(label="1")
    region(page, PLANS).get_by_role("button", name="Allow any number of changes").click()
    expect_plans(page, answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways")))
    expect(page.get_by_label("At most this many changes").locator("option:checked")).to_have_text("any number")


def test_ranges_that_suffice_for_nothing_lead_to_other_ranges(page: Page, server: LiveServer):
    visit(page, "hcv", "no way out")
    plans = region(page, PLANS)
    expect(plans).to_contain_text("The decision stays the same for every combination of abnormal values")
    request = example_of(server, "hcv", "no-way-out")
    best = answer_to(server, "hcv", request)["summary"]["no_recourse"]["best"]
    assert "from 29.5 to 11.5 umol/L" in best["sentence"]
    expect(plans).to_contain_text(
        f"{best['sentence'][:-1]}; score {best['prediction']['score']:.3f}. "
        "But healthy must be more likely than hepatitis."
    )
    plans.get_by_role("button", name="Try the ranges “hcv-paper”").click()
    expect(page.get_by_text("normal ranges hcv-paper ")).to_be_visible()
    plans.get_by_role("button", name="Try the ranges “hcv-paper-tight”").click()
    expect_plans(page, answer_to(server, "hcv", {**request, "registry": "hcv-paper-tight"}))
    expect(cards(page)).not_to_have_count(0)


def test_the_only_movable_feature_that_is_locked_is_unlocked_with_a_button(page: Page):
    visit(page, "mortgage", "exactly one way")
    lock(page, DEBT).click()
    expect(region(page, PLANS)).to_contain_text("There are plans, but every one of them breaks a rule.")
    page.get_by_role("button", name=f"Unlock {SPOKEN[DEBT]}").click()
    expect(cards(page)).to_have_count(1)


@pytest.mark.parametrize(
    ("given_up", "left"),
    [(f"Unlock {SPOKEN[DEBT]}", {"required": ["pirat"]}), ("must end up in its range", {"immutable": ["pirat"]})],
)
def test_rules_that_contradict_each_other_are_told_with_a_button_for_each(
    page: Page, watch: Watch, server: LiveServer, given_up: str, left: dict[str, list[str]]
):
    watch.expect("the server responded with a status of 422")
    visit(page)
    lock(page, DEBT).click()
    add_rule(page, DEBT, "must end up in its range")
    told = region(page, PLANS).locator(".notice")
    expect(told).to_contain_text("These rules contradict each other")
    expect(told.get_by_role("button")).to_have_text(
        [f"Unlock {SPOKEN[DEBT]}", f"Drop “{SPOKEN[DEBT]} must end up in its range”"],
    )
    told.get_by_role("button", name=given_up).click()
    request = {**example_of(server, "mortgage", "several-ways"), "constraints": left}
    expect_plans(page, answer_to(server, "mortgage", request))
    expect(rules(page)).to_have_count(1)
    expect(told).to_be_hidden()


def test_a_single_rule_that_nothing_can_meet_says_why(page: Page, watch: Watch):
    watch.expect("the server responded with a status of 422")
    visit(page)
    page.get_by_label("Formula 1").fill("unemp")
    told = region(page, PLANS).locator(".notice")
    expect(told).to_contain_text(
        "This rule cannot be met: unemp (unemp has neither a range nor a guide, so it cannot change). Drop it:"
    )
    expect(told).not_to_contain_text("contradict")
    expect(told.get_by_role("button")).to_have_count(1)


def test_a_search_that_lasts_is_stopped_and_what_was_found_stays(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "slow")
    with page.expect_event("requestfailed") as ended:
        example(page, "all low").click()
        expect(cards(page)).to_have_count(1)
        expect(region(page, PLANS)).to_contain_text("1 plan so far")
        page.get_by_role("button", name="Stop").click()
    assert ended.value.url.endswith("/v1/models/slow/counterfactuals")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(region(page, PLANS)).to_contain_text(
        re.compile(r"You stopped the search\. Every plan with up to \d+ changes? is listed")
    )
    expect(cards(page)).to_have_text([re.compile("^Plan 1.*s1")])
    expect_no_searches(made_up)


def test_a_new_question_ends_the_search_for_the_one_before(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "slow")
    example(page, "all low").click()
    expect(region(page, PLANS)).to_contain_text("1 plan so far")
    for name in SLOW[:3]:
        lock(page, name).click()
    # The plan of before stays, faded, for there is none in its place.
    expect(page.get_by_role("list", name="Plans")).to_have_css("opacity", "0.93")
    expect(region(page, PLANS)).to_contain_text("Searching…")
    page.get_by_role("button", name="Stop").click()
    expect(region(page, PLANS)).to_contain_text("No plan was found.")
    expect(cards(page)).to_have_count(0)
    expect_no_searches(made_up)


def test_a_stopped_search_can_be_asked_again(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "slow")
    example(page, "all low").click()
    expect(region(page, PLANS)).to_contain_text("1 plan so far")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Ask again").click()
    expect(region(page, PLANS)).to_contain_text("1 plan so far")
    expect(page.get_by_role("button", name="Ask again")).to_be_hidden()
    page.get_by_role("button", name="Stop").click()


def expect_no_searches(server: LiveServer) -> None:
    """The server has noticed that nobody listens any more."""
    with server.client() as client:
        eventually(lambda: "\nflipset_searches_in_flight 0.0" in client.get("/metrics").text)
