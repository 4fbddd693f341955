"""What is easily lost: the focus, a filter, a kept plan, a picture, when something else on the page has changed."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.accessibility import findings
from tests.web.support.browser import STILL, Watch
from tests.web.support.made_up import PATIENT, SLOW
from tests.web.support.visiting import (
    CREDIT,
    DEBT,
    HOUSING,
    LOAN,
    SPOKEN,
    add_rule,
    answer_to,
    await_the_end,
    cards,
    choose_model,
    come,
    example,
    example_of,
    expect_plans,
    field,
    focused_name,
    hold,
    keep,
    lock,
    open_model,
    open_options,
    paste,
    region,
    rules,
    tab,
    verdict,
    visit,
)

PLANS = "Plans"
REFUSED = "the server responded with a status of 422"


def press(button: Locator) -> None:
    """By keyboard."""
    button.focus()
    button.press("Enter")


def test_an_example_keeps_the_focus(page: Page):
    open_model(page, "mortgage")
    press(example(page, "several ways"))
    await_the_end(page)
    expect(example(page, "several ways")).to_be_focused()


def test_stop_and_ask_again_leave_the_focus_beside_them(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "slow")
    example(page, "all low").click()
    expect(region(page, PLANS)).to_contain_text("1 plan so far")
    press(page.get_by_role("button", name="Stop"))
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    assert focused_name(page) != "body"
    press(page.get_by_role("button", name="Ask again"))
    expect(page.get_by_role("button", name="Ask again")).to_be_hidden()
    assert focused_name(page) != "body"
    page.get_by_role("button", name="Stop").click()


def test_a_relaxation_leaves_the_focus_at_the_plans(page: Page):
    visit(page, "mortgage", "no way out")
    press(page.get_by_role("button", name=f"Unlock {SPOKEN[CREDIT]}"))
    expect(cards(page)).not_to_have_count(0)
    assert focused_name(page) != "body"


def test_other_ranges_leave_the_focus_at_the_plans(page: Page):
    visit(page, "hcv", "no way out")
    press(page.get_by_role("button", name="Try the ranges “hcv-paper-tight”"))
    expect(cards(page)).to_have_count(4)
    assert focused_name(page) != "body"


def test_a_contradiction_that_is_solved_leaves_the_focus_at_the_plans(page: Page, watch: Watch):
    watch.expect(REFUSED)
    visit(page)
    lock(page, DEBT).click()
    add_rule(page, DEBT, "must end up in its range")
    press(region(page, PLANS).get_by_role("button", name=f"Unlock {SPOKEN[DEBT]}"))
    expect(page.get_by_text("These rules contradict each other")).to_be_hidden()
    await_the_end(page)
    assert focused_name(page) != "body"


def test_dropping_all_rules_leaves_the_focus_beside_it(page: Page):
    visit(page)
    lock(page, DEBT).click()
    lock(page, HOUSING).click()
    press(page.get_by_role("button", name="Drop all rules"))
    expect(rules(page)).to_have_count(0)
    assert focused_name(page) != "body"


def test_keeping_none_leaves_the_focus_at_the_plans(page: Page):
    visit(page)
    keep(page, 1).click()
    keep(page, 2).click()
    press(page.get_by_role("button", name="Keep none"))
    expect(region(page, "Kept plans")).to_have_count(0)
    assert focused_name(page) != "body"


def test_a_formula_of_two_lines_may_become_one_of_one(page: Page, server: LiveServer, watch: Watch):
    """The mistake in its second line is gone with it."""
    watch.expect(REFUSED)
    visit(page)
    text = page.get_by_label("Formula 1")
    text.fill("pirat or\nlvrat and ) chist")
    expect(text).to_have_attribute("aria-invalid", "true")
    expect(text).to_have_accessible_description(re.compile("Line 2, column 11"))
    expect(region(page, "Rules").locator("mark")).to_have_text(")")
    text.fill("pirat xor hirat")
    request = example_of(server, "mortgage", "several-ways")
    expect_plans(page, answer_to(server, "mortgage", {**request, "constraints": {"formulas": ["pirat xor hirat"]}}))


def test_a_filter_by_a_feature_that_is_then_locked_hides_no_plan_for_good(page: Page, server: LiveServer):
    visit(page)
    tab(page, "Overview").click()
    page.get_by_role("button", name=f"{DEBT}: in 3 of 4 plans").click()
    tab(page, "Plans").click()
    lock(page, DEBT).click()
    request = {**example_of(server, "mortgage", "several-ways"), "constraints": {"immutable": ["pirat"]}}
    expect_plans(page, answer_to(server, "mortgage", request))


def test_kept_plans_are_compared_in_the_next_answer_too(page: Page):
    """What the buttons say and what is compared are the same."""
    visit(page)
    keep(page, 1).click()
    keep(page, 3).click()
    # Normal already: the answer is the same once more.
    lock(page, "Mortgage payment history, 1 (best) to 4").click()
    await_the_end(page)
    expect(rules(page)).to_have_count(1)
    expect(cards(page)).to_have_count(4)
    pressed = page.get_by_role("button", name="Kept plan", pressed=True)
    expect(pressed).to_have_count(2)
    expect(region(page, "Kept plans").get_by_role("row").first).to_have_text(re.compile("^ValueNowPlan 1 .*Plan 3 "))


def test_a_kept_plan_stays_and_is_no_other_plan(page: Page):
    visit(page)
    keep(page, 1).click()
    expect(cards(page).first).to_contain_text(HOUSING)
    lock(page, DEBT).click()
    expect(cards(page)).to_have_count(1)
    expect(cards(page).first).not_to_contain_text(HOUSING)
    expect(keep(page, 4)).to_have_attribute("aria-pressed", "false")
    expect(region(page, "Kept plans")).to_contain_text(HOUSING)
    expect(region(page, "Plans")).to_contain_text("Not among the current plans: Plan 1.")


def test_a_picture_of_another_question_does_not_stay(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "slow")
    request = {"instance": dict.fromkeys(SLOW, 0), "constraints": {"immutable": SLOW[3:]}}
    paste(page, json.dumps(request))
    tab(page, "Picture").click()
    expect(region(page, "All combinations")).to_be_visible()
    page.get_by_role("button", name="Drop all rules").click()
    tab(page, "Plans").click()
    expect(region(page, PLANS)).to_contain_text("1 plan so far")
    page.get_by_role("button", name="Stop").click()
    expect(region(page, PLANS)).to_contain_text("You stopped the search.")
    expect(region(page, "All combinations")).to_be_hidden()


def test_the_model_that_was_chosen_last_is_shown(page: Page, server: LiveServer):
    """However late the answer about the one before it comes."""
    open_model(page, "mortgage")
    expect(field(page, DEBT)).to_be_visible()
    held = hold(page, "**/v1/models/hcv")
    choose_model(page, "Hepatitis C from a blood panel")
    choose_model(page, "Hypothyroidism from four hormone values")
    expect(region(page, "Values").get_by_role("textbox")).to_have_count(4)
    with page.expect_response("**/v1/models/hcv"):
        come(page, held)[0].continue_()
    # Time for it to do harm.
    page.wait_for_timeout(300)
    expect(region(page, "Values").get_by_role("textbox")).to_have_count(4)
    expect(page.get_by_label("Model", exact=True).locator("option:checked")).to_contain_text("Hypothyroidism")


def test_no_example_of_the_model_before_can_be_pressed_while_another_one_is_loaded(page: Page):
    open_model(page, "mortgage")
    group = page.locator(".examples")
    held = hold(page, "**/v1/models/hcv")
    choose_model(page, "Hepatitis C from a blood panel")
    expect(group).to_have_js_property("inert", True)
    come(page, held)[0].continue_()
    expect(group).to_have_js_property("inert", False)
    example(page, "several ways").click()
    expect(cards(page)).to_have_count(5)


def test_a_model_that_cannot_be_loaded_leaves_the_one_before_to_be_used(page: Page, watch: Watch):
    watch.expect("net::ERR_FAILED")
    open_model(page, "mortgage")
    held = hold(page, "**/v1/models/hcv")
    choose_model(page, "Hepatitis C from a blood panel")
    expect(page.locator(".examples")).to_have_js_property("inert", True)
    come(page, held)[0].abort()
    expect(page.get_by_text("The service cannot be reached.")).to_be_visible()
    example(page, "several ways").click()
    expect(cards(page)).to_have_count(4)


def test_four_values_with_decimal_commas_are_four(page: Page, server: LiveServer):
    """More commas than semicolons, and still the semicolons separate."""
    open_model(page, "synthetic")
    expect(paste(page, "-0,8;-0,3;-1,1;0,2")).to_be_hidden()
    expect_plans(page, answer_to(server, "synthetic", example_of(server, "synthetic", "several-ways")))


def test_an_empty_cell_at_the_end_of_a_row_is_a_cell(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "loans")
    expect(paste(page, "debt\thome\tyears\tlate\n48\trents\t1\t\n")).to_be_hidden()
    expect_plans(page, answer_to(made_up, "loans", example_of(made_up, "loans", "not-known")))


def test_what_is_pressed_before_the_model_is_there_breaks_nothing(page: Page):
    held = hold(page, "**/v1/models")
    page.goto("/#model=mortgage")
    expect(page.get_by_role("heading", name="Person")).to_be_visible()
    for button in page.get_by_role("button", disabled=False).filter(visible=True).all():
        button.click()
        page.keyboard.press("Escape")
    come(page, held)[-1].continue_()
    expect(example(page, "several ways")).to_be_visible()


def test_a_row_of_nothing_is_told(page: Page):
    open_model(page, "mortgage")
    dialog = paste(page, ";;;")
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    expect(dialog).to_be_visible()


@pytest.mark.parametrize("constraints", [{"immutable": "chist"}, {"causal": [5]}])
def test_a_pasted_request_with_rules_of_another_shape_is_told(
    page: Page, server: LiveServer, watch: Watch, constraints: dict
):
    watch.expect(REFUSED)
    open_model(page, "mortgage")
    request = {**example_of(server, "mortgage", "several-ways"), "constraints": constraints}
    paste(page, json.dumps(request))
    expect(page.get_by_role("alert").filter(has_text=next(iter(constraints))).first).to_be_visible()


def test_what_was_said_of_a_paste_is_gone_with_it(page: Page):
    open_model(page, "synthetic")
    paste(page, "A,B,C,D\n-0.8,-0.3,-1.1,0.2\n1,1,1,1")
    expect(page.get_by_text("There are 2 rows; the page took the first.")).to_be_visible()
    # What was pasted is not replaced without a question.
    page.once("dialog", lambda asked: asked.accept())
    example(page, "exactly one way").click()
    await_the_end(page)
    expect(page.get_by_text("There are 2 rows; the page took the first.")).to_be_hidden()


def test_no_ranges_at_all_are_not_shown_as_the_usual_ones(page: Page, server: LiveServer):
    open_model(page, "mortgage")
    paste(page, json.dumps({**example_of(server, "mortgage", "several-ways"), "registry": None}))
    expect(page.get_by_text("no normal ranges")).to_be_visible()
    open_options(page)
    expect(page.get_by_label("Limits").locator("option:checked")).not_to_have_text("mortgage")


@pytest.mark.parametrize(
    "fragment",
    [
        "person=%7B%22instance%22%3Anull%7D",
        "question=%7B%22constraints%22%3A%7B%22immutable%22%3A5%7D%7D",
    ],
)
def test_an_address_of_another_shape_breaks_nothing(page: Page, server: LiveServer, fragment: str):
    page.goto(f"/#model=mortgage&{fragment}")
    example(page, "several ways").click()
    expect_plans(page, answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways")))
    expect(page.get_by_role("alert").filter(visible=True)).to_have_count(0)


def test_a_predicted_number_never_looks_as_if_it_were_low_enough(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    visit(page, "pressure", "too high")
    # 130.0003, where 130 is the most.
    field(page, "Salt eaten").fill("0.2669")
    score = answer_to(made_up, "pressure", {"instance": {**PATIENT, "salt": 0.2669}})["start"]["prediction"]["score"]
    assert 130 < score < 130.0005
    expect(verdict(page)).to_contain_text("not favourable")
    expect(verdict(page)).to_contain_text(re.compile(r"Result 130\.000\d*[1-9]"))


def test_a_large_score_never_looks_as_if_it_stood_at_its_threshold(page: Page):
    page.goto("/")
    text = page.evaluate(
        "import('/web/scripts/numbers.js').then(({scoreText}) => scoreText(1234567.5, {low: 1234568}))",
    )
    assert float(text) < 1234568


@pytest.mark.parametrize("person", ["several ways", "no way out"])
@pytest.mark.parametrize("model", ["mortgage", "hcv"])
def test_one_sheet_of_paper_is_enough(page: Page, model: str, person: str):
    visit(page, model, person)
    page.emulate_media(media="print")
    expect(page.get_by_role("button")).to_have_count(0)
    pdf = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1


def test_a_comparison_on_paper_has_nothing_to_press(page: Page):
    visit(page)
    keep(page, 1).click()
    keep(page, 2).click()
    page.emulate_media(media="print")
    expect(region(page, "Kept plans")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)


def test_faded_plans_can_still_be_read(open_page: OpenPage, server: LiveServer, watch: Watch):
    """They stay so for as long as a formula is not mended, or a contradiction not solved."""
    watch.expect(REFUSED)
    page = open_page(server, **STILL)
    visit(page)
    page.get_by_label("Formula 1").fill("pirat xor hirta")
    expect(page.get_by_label("Formula 1")).to_have_attribute("aria-invalid", "true")
    assert findings(page) == []
    page.get_by_label("Formula 1").fill("")
    await_the_end(page)
    lock(page, LOAN).click()
    add_rule(page, LOAN, "must end up in its range")
    expect(page.get_by_text("These rules contradict each other")).to_be_visible()
    assert findings(page) == []
