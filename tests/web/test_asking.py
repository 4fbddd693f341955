"""From nobody to plans: an example, values that are typed, a context, another threshold or registry."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.browser import Watch
from tests.web.support.made_up import PATIENT
from tests.web.support.visiting import (
    DEBT,
    answer_to,
    await_the_end,
    cards,
    choose_model,
    example,
    example_of,
    expect_plans,
    field,
    lock,
    open_model,
    open_options,
    paste,
    region,
    row,
    verdict,
    visit,
)


def test_an_example_leads_to_every_plan(page: Page, server: LiveServer):
    page.goto("/")
    expect(verdict(page)).to_contain_text("paste them, or choose an example.")
    choose_model(page, "Mortgage decisions, Boston 1990")
    example(page, "several ways").click()
    expect_plans(page, answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways")))
    expect(example(page, "several ways")).to_have_attribute("aria-pressed", "true")
    expect(verdict(page)).to_contain_text(re.compile("denied . not favourable"))
    expect(verdict(page)).to_contain_text("Score of approved 0.381; approved needs a score of at least 0.76.")
    expect(region(page, "Plans")).to_contain_text("Complete: there are no other minimal plans.")


@pytest.mark.parametrize("model", ["hcv", "mortgage", "synthetic", "thyroid"])
def test_every_shipped_example_is_shown_as_the_api_answers_it(page: Page, server: LiveServer, model: str):
    open_model(page, model)
    for name in ("several-ways", "exactly-one-way", "already-favourable", "no-way-out"):
        request = example_of(server, model, name)
        answer = answer_to(server, model, request)
        example(page, name.replace("-", " ")).click()
        expect_plans(page, answer)
        outcome = {
            "already_favourable": "Nothing has to change.",
            "no_recourse": "No plan changes the decision.",
            "found": "Complete: there are no other minimal plans.",
        }
        expect(region(page, "Plans")).to_contain_text(outcome[answer["summary"]["outcome"]])
        expect(verdict(page)).to_contain_text(answer["start"]["prediction"]["label"])


def test_every_value_stands_on_its_range(page: Page, server: LiveServer):
    """Its status, its range and its target, in words and as a picture with the same words."""
    visit(page)
    expect(row(page, DEBT)).to_contain_text("▲high")
    expect(row(page, DEBT)).to_contain_text("limit up to 0.36; would move to 0.36")
    bar = row(page, DEBT).get_by_role("img", name="high")
    expect(bar).to_have_accessible_name("0.42, high; limit up to 0.36; target 0.36")
    expect(row(page, "Public record of bad credit")).to_contain_text("●normal")
    expect(row(page, "Self-employed")).to_contain_text("○no known range, stays as it is")


def test_an_edited_value_changes_status_score_and_plans(page: Page, server: LiveServer):
    visit(page)
    request = example_of(server, "mortgage", "several-ways")
    field(page, DEBT).fill("0.3")
    answer = answer_to(server, "mortgage", {"instance": {**request["instance"], "pirat": 0.3}})
    expect(row(page, DEBT)).to_contain_text("●normal")
    expect(verdict(page)).to_contain_text(f"Score of approved {answer['start']['prediction']['score']:.3f}")
    expect_plans(page, answer)
    expect(example(page, "several ways")).to_have_attribute("aria-pressed", "false")


def test_text_that_is_no_value_is_told_at_its_field(page: Page):
    """The plans of before stay, faded."""
    visit(page)
    for text, said in {
        "0,36": "write 0.36",
        "a lot": "write a number such as 31.5",
        "1e999": "is too large",
        "": "is still missing",
    }.items():
        field(page, DEBT).fill(text)
        expect(field(page, DEBT)).to_have_accessible_description(f"limit up to 0.36 {DEBT}: {said}")
        expect(field(page, DEBT)).to_have_attribute("aria-invalid", "true")
        expect(region(page, "Plans")).to_contain_text("Some values are missing or need correcting.")
        expect(page.get_by_role("list", name="Plans")).to_have_css("opacity", "0.93")
    field(page, DEBT).fill("0.42")
    expect(field(page, DEBT)).to_have_attribute("aria-invalid", "false")
    expect(page.get_by_role("list", name="Plans")).to_have_css("opacity", "1")


def test_a_form_that_is_filled_in_by_hand_names_what_is_missing_until_nothing_is(page: Page, server: LiveServer):
    open_model(page, "thyroid")
    instance = example_of(server, "thyroid", "several-ways")["instance"]
    titles = ["Free thyroxine index", "Thyroid-stimulating hormone", "Triiodothyronine", "Total thyroxine"]
    for title, value in zip(titles, instance.values(), strict=True):
        field(page, title).press_sequentially(str(value))
        if title != titles[-1]:
            expect(row(page, titles[-1])).to_contain_text("Total thyroxine: is still missing")
    expect_plans(page, answer_to(server, "thyroid", {"instance": instance}))
    expect(page.get_by_text("is still missing")).to_have_count(0)


def test_sex_and_age_choose_the_range(page: Page, server: LiveServer):
    visit(page, "hcv")
    request = example_of(server, "hcv", "several-ways")
    aspartate = row(page, "Aspartate aminotransferase")
    expect(aspartate).to_contain_text("reference range 10 to 35 U/L (sex female)")
    page.get_by_label("sex", exact=True).select_option(label="male")
    expect(aspartate).to_contain_text("reference range 10 to 50 U/L (sex male)")
    page.get_by_label("age", exact=True).fill("70")
    answer = answer_to(server, "hcv", {**request, "context": {"sex": "male", "age": 70}})
    chosen = next(found for found in answer["start"]["features"] if found["name"] == "CHOL")
    expect(row(page, "Cholesterol, total")).to_contain_text(
        f"reference range {chosen['low']:g} to {chosen['high']:g} mmol/L"
    )
    expect_plans(page, answer)
    page.get_by_label("sex", exact=True).select_option(label="not given")
    expect_plans(page, answer_to(server, "hcv", {**request, "context": {"age": 70}}))


def test_another_threshold_and_another_registry_are_asked_for(page: Page, server: LiveServer):
    visit(page)
    request = example_of(server, "mortgage", "several-ways")
    open_options(page)
    page.get_by_label("Threshold").fill("0.85")
    expect_plans(page, answer_to(server, "mortgage", {**request, "target": {"threshold": 0.85}}))
    expect(verdict(page)).to_contain_text("approved needs a score of at least 0.85.")
    choose_model(page, "Hepatitis C from a blood panel")
    example(page, "several ways").click()
    await_the_end(page)
    page.get_by_label("Reference ranges").select_option(label="hcv-paper-tight")
    request = {**example_of(server, "hcv", "several-ways"), "registry": "hcv-paper-tight"}
    expect_plans(page, answer_to(server, "hcv", request))
    expect(page.get_by_text("normal ranges hcv-paper-tight")).to_be_visible()


@pytest.mark.parametrize("text", ["0.76%", "abc"])
def test_a_threshold_that_is_no_number_leaves_no_answer_that_looks_current(page: Page, server: LiveServer, text: str):
    visit(page)
    open_options(page)
    threshold = page.get_by_label("Threshold")
    threshold.fill("0.85")
    expect(verdict(page)).to_contain_text("approved needs a score of at least 0.85.")
    await_the_end(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    threshold.fill(text)
    expect(threshold).to_have_accessible_description(re.compile("write a number such as 0.7"))
    expect(verdict(page)).to_contain_text("Previous answer, for other values or rules:")
    expect(region(page, "Plans")).to_contain_text("Previous answer, for other values or rules:")
    expect(verdict(page).locator(".label")).to_have_css("filter", "grayscale(1)")
    expect(region(page, "Plans")).to_contain_text("Some values are missing or need correcting.")
    expect(page.get_by_role("list", name="Plans")).to_have_css("opacity", "0.93")
    # Nothing to copy, and nothing in the address, of a threshold that is not written there any more.
    expect(region(page, "Share and print")).to_be_hidden()
    assert "threshold" not in page.url
    lock(page, DEBT).click()
    expect(threshold).to_have_value(text)
    assert not [url for url in asked if url.endswith("/counterfactuals")]
    threshold.fill("0.7")
    request = {**example_of(server, "mortgage", "several-ways"), "target": {"threshold": 0.7}}
    expect_plans(page, answer_to(server, "mortgage", {**request, "constraints": {"immutable": ["pirat"]}}))
    expect(threshold).to_have_attribute("aria-invalid", "false")
    threshold.fill(text)
    example(page, "exactly one way").click()
    expect(threshold).to_have_value("")
    expect_plans(page, answer_to(server, "mortgage", example_of(server, "mortgage", "exactly-one-way")))


def test_a_threshold_that_no_probability_can_have_is_refused_where_it_is_written(page: Page, watch: Watch):
    watch.expect("the server responded with a status of 422")
    visit(page, "hcv")
    open_options(page)
    threshold = page.get_by_label("Threshold")
    threshold.fill("1.5")
    expect(threshold).to_have_accessible_description(re.compile("must lie between 0 and 1"))
    expect(threshold).to_have_attribute("aria-invalid", "true")
    threshold.fill("0.9")
    expect(page.get_by_text("needs a score of at least 0.9.")).to_be_visible()
    expect(threshold).to_have_attribute("aria-invalid", "false")


def test_another_model_leaves_nothing_of_the_one_before(page: Page, server: LiveServer):
    visit(page)
    choose_model(page, "Hypothyroidism from four hormone values")
    expect(region(page, "Values").get_by_role("textbox")).to_have_count(4)
    expect(page.get_by_text("Plans appear here once there are values to ask about.")).to_be_visible()
    expect(region(page, "Share and print")).to_be_hidden()


def test_clear_forgets_the_person(page: Page):
    visit(page)
    page.get_by_role("button", name="Clear").click()
    expect(field(page, DEBT)).to_have_value("")
    expect(verdict(page)).to_contain_text("paste them, or choose an example.")


def test_categories_and_missing_values_are_asked_about(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    visit(page, "loans", "not known")
    request = example_of(made_up, "loans", "not-known")
    expect_plans(page, answer_to(made_up, "loans", request))
    expect(row(page, "late")).to_contain_text("missing")
    expect(row(page, "late")).to_contain_text("taken as 1")
    expect(row(page, "Where they live")).to_contain_text("✕not allowed")
    field(page, "Where they live").select_option(label="owns")
    field(page, "late").fill("2.5")
    expect(row(page, "late")).to_contain_text("late: write a whole number")
    field(page, "late").fill("3")
    answer = answer_to(made_up, "loans", {"instance": {**request["instance"], "late": 3, "home": "owns"}})
    expect_plans(page, answer)
    expect(verdict(page)).to_contain_text(answer["start"]["prediction"]["label"])


def test_a_model_that_predicts_a_number_is_asked_in_its_own_words(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    visit(page, "pressure", "too high")
    expect(verdict(page)).to_contain_text("Result 146.100; it must be from 100 to 130.")
    expect_plans(page, answer_to(made_up, "pressure", {"instance": PATIENT}))
    open_options(page)
    expect(page.get_by_label("Threshold")).to_be_hidden()


def test_what_follows_from_changes_is_on_the_plan_and_not_asked_for(
    open_page: OpenPage, made_up: LiveServer, take_picture: Callable[..., Path]
):
    """A derived feature has no field; a plan shows where it goes, and a copy of the plan is scored with it."""
    page = open_page(made_up)
    visit(page, "loan", "refused")
    expect(field(page, "ltv")).to_have_count(0)
    request = example_of(made_up, "loan", "refused")
    answer = answer_to(made_up, "loan", request)
    expect_plans(page, answer)
    expect(cards(page).locator(".changes li")).to_have_text(
        [re.compile("amount.* 160000$"), re.compile("ltv0\\.95 →.* 0\\.8$")]
    )
    page.get_by_role("button", name="What if… plan 1").click()
    score = answer["counterfactuals"][0]["prediction"]["score"]
    dialog = page.get_by_role("dialog", name="What if: a copy of plan 1")
    expect(dialog.locator("[data-score]")).to_have_text(f"{score:.3f}")
    expect(dialog.get_by_role("slider")).to_have_count(4)
    dialog.get_by_role("button", name="Close").click()
    causal = {"causal": [{"cause": "tenure", "effects": [{"feature": "age", "change": 20}]}], "immutable": ["amount"]}
    paste(page, json.dumps({**request, "constraints": causal}))
    expect_plans(page, answer_to(made_up, "loan", {**request, "constraints": causal}))
    expect(cards(page).locator(".changes li")).to_have_text(
        [re.compile("tenure.* 5(3 is enough)?$"), re.compile("age41 →.* 101$")]
    )
    take_picture(page, "what-follows")


def test_below_a_prefix_everything_is_found(open_page: OpenPage, prefixed: LiveServer):
    page = open_page(prefixed)
    # Without its last slash the address leads there too.
    visit(page, path="/care/flipset")
    assert page.url.startswith(f"{prefixed.url}/care/flipset/#")
    expect_plans(page, answer_to(prefixed, "mortgage", example_of(prefixed, "mortgage", "several-ways")))
    link = page.get_by_role("link", name="API documentation")
    assert link.evaluate("(link) => link.href") == f"{prefixed.url}/care/flipset/docs"


def test_a_missing_value_that_may_be_provided_is_shown_as_one(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "loans")
    request = {
        "instance": {"debt": 48, "late": None, "home": "rents", "years": 2},
        "normal_ranges": {"late": {"if_missing": "target"}},
    }
    paste(page, json.dumps(request))
    answer = answer_to(made_up, "loans", request)
    assert [change["from"] for change in answer["counterfactuals"][-1]["changes"]] == [48, None]
    expect_plans(page, answer)
    expect(row(page, "late")).to_contain_text("could be given as 0")
    expect(page.get_by_text("a missing late would become its target, by the request", exact=True)).to_be_visible()
    expect(page.locator(".change").filter(has_text="missing →")).to_contain_text("+late")
    paste(page, json.dumps({**request, "normal_ranges": {}}))
    expect(row(page, "late")).to_contain_text("missing, and stays missing: the ranges do not say what it could become")
