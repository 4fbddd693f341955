"""As it looks: on a phone, in the dark, with large text; and nothing serious that axe-core would find."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.accessibility import findings
from tests.web.support.browser import DARK, PHONE, STILL
from tests.web.support.visiting import (
    DEBT,
    await_the_end,
    cards,
    come,
    example,
    field,
    hold,
    keep,
    lock,
    open_model,
    region,
    tab,
    verdict,
    visit,
)

LOOKS = [STILL, {**STILL, **DARK}, {**STILL, **PHONE}]
# WCAG 2.2, 1.4.12: what a reader may set, and nothing may be lost.
SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
p { margin-bottom: 2em !important; }"""
NARROW = {"viewport": {"width": 640, "height": 450}}


def widths(page: Page) -> tuple[int, int]:
    """Of all there is, and of what is seen."""
    return tuple(page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]"))


def assert_no_scrolling_sideways(page: Page) -> None:
    everything, seen = widths(page)
    assert everything <= seen


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "phone"])
def test_axe_core_finds_nothing_in_any_state(open_page: OpenPage, server: LiveServer, look: dict):
    page = open_page(server, **look)
    open_model(page, "mortgage")
    expect(example(page, "several ways")).to_be_visible()
    found = {"empty": findings(page)}
    example(page, "several ways").click()
    await_the_end(page)
    tab(page, "Picture").click()
    expect(region(page, "All combinations")).to_be_visible()
    found["picture"] = findings(page)
    tab(page, "Overview").click()
    found["counts"] = findings(page)
    tab(page, "Plans").click()
    page.get_by_role("button", name="Table", exact=True).click()
    found["table"] = findings(page)
    page.get_by_role("button", name="Table", exact=True).click()
    keep(page, 1).click()
    keep(page, 2).click()
    expect(region(page, "Kept plans")).to_be_visible()
    found["compared"] = findings(page)
    example(page, "no way out").click()
    expect(region(page, "Plans").get_by_role("button", name="Unlock").first).to_be_visible()
    found["no recourse"] = findings(page)
    for name in ("Paste values", "Connect two values", "Cases", "About the model", "What if"):
        page.get_by_role("button", name=name).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        found[name] = findings(page)
        page.keyboard.press("Escape")
    visit(page, "hcv")
    tab(page, "Picture").click()
    expect(region(page, "Plans by size and score").first).to_be_visible()
    found["sizes"] = findings(page)
    assert {state: list_ for state, list_ in found.items() if list_} == {}


def test_axe_core_finds_nothing_among_very_many_plans(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up, **STILL)
    open_model(page, "wide")
    example(page, "all low").click()
    await_the_end(page)
    assert findings(page) == []


@pytest.mark.parametrize("model", ["hcv", "mortgage"])
def test_a_phone_shows_everything_without_scrolling_sideways(open_page: OpenPage, server: LiveServer, model: str):
    page = open_page(server, **PHONE, **STILL)
    open_model(page, model)
    expect(example(page, "several ways")).to_be_visible()
    assert_no_scrolling_sideways(page)
    example(page, "several ways").tap()
    await_the_end(page)
    keep(page, 1).tap()
    keep(page, 2).tap()
    compared = region(page, "Kept plans")
    expect(compared).to_be_visible()
    assert compared.evaluate("(table) => table.scrollWidth <= table.clientWidth")
    assert_no_scrolling_sideways(page)
    example(page, "no way out").tap()
    expect(region(page, "Plans").get_by_text("No plan changes the decision.")).to_be_visible()
    assert_no_scrolling_sideways(page)
    page.get_by_role("button", name="About the model").tap()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("table")).to_be_visible()
    assert dialog.evaluate("(one) => [one.scrollWidth <= one.clientWidth, one.scrollTop]") == [True, 0]


def test_on_a_phone_a_button_leads_to_the_plans(open_page: OpenPage, server: LiveServer):
    page = open_page(server, **PHONE, **STILL)
    visit(page)
    page.evaluate("scrollTo(0, 0)")
    page.get_by_role("button", name="See 4 plans ↓").tap()
    expect(region(page, "Plans").get_by_text("4 plans", exact=True)).to_be_in_viewport()
    expect(region(page, "Plans")).to_be_focused()


def depth_of_first_card(page: Page) -> float:
    """In one step: a card may be drawn once more between two."""
    top_of = "document.querySelector('{}').getBoundingClientRect().top"
    return page.evaluate(f"{top_of.format('.plan')} - {top_of.format('#plans')}")


@pytest.mark.parametrize("look", [STILL, {**STILL, **PHONE}], ids=["desk", "phone"])
def test_nothing_jumps_while_another_answer_is_on_its_way(open_page: OpenPage, server: LiveServer, look: dict):
    page = open_page(server, **look)
    visit(page)
    # The last thing that is told of an answer: the cards are drawn once more for it.
    expect(cards(page).first).to_contain_text("is enough")
    held = hold(page, "**/counterfactuals")
    plans = region(page, "Plans")
    before = depth_of_first_card(page)
    lock(page, "Mortgage payment history, 1 (best) to 4").click()
    expect(plans).to_contain_text("Searching…")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    assert depth_of_first_card(page) == pytest.approx(before, abs=0.5)
    come(page, held)[0].continue_()
    await_the_end(page)
    assert depth_of_first_card(page) == pytest.approx(before, abs=0.5)


def test_on_a_desk_the_decision_stays_in_sight_while_values_are_edited(page: Page):
    """It covers nothing that has the focus, and the plans stay beside the values: no button has to lead there."""
    visit(page)
    decision = verdict(page)
    last = field(page, "High-school diploma")
    last.focus()
    last.select_option(label="no")
    expect(decision).not_to_contain_text("0.381")
    expect(decision).to_be_in_viewport(ratio=1)
    # Backwards, so that what gets the focus comes into sight from above, where the decision is.
    for _ in range(50):
        page.keyboard.press("Shift+Tab")
        focused = page.locator(":focus")
        if field(page, DEBT).and_(focused).count():
            break
        assert top(focused) >= bottom(decision) - 1
    expect(field(page, DEBT)).to_be_focused()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(decision.get_by_role("button", name="See")).to_be_hidden()
    expect(region(page, "Plans").get_by_text("4 plans", exact=True)).to_be_in_viewport()


def top(place: Locator) -> float:
    return place.evaluate("(element) => element.getBoundingClientRect().top")


def bottom(place: Locator) -> float:
    return place.evaluate("(element) => element.getBoundingClientRect().bottom")


def test_in_the_dark_the_page_is_dark(open_page: OpenPage, server: LiveServer):
    page = open_page(server, **DARK)
    visit(page)
    for place in (page.locator("body"), region(page, "Values"), cards(page).first):
        expect(place).to_be_visible()
        assert brightness(page, place.evaluate("(element) => getComputedStyle(element).color")) > 180
    assert brightness(page, page.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor")) < 60


def brightness(page: Page, colour: str) -> float:
    red, green, blue = (float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")[:3])
    return (red + green + blue) / 3


def test_twice_as_large_and_spaced_out_nothing_is_lost(open_page: OpenPage, server: LiveServer):
    """200 % on a screen of 1280 points leaves 640."""
    page = open_page(server, **NARROW, **STILL)
    visit(page)
    assert_no_scrolling_sideways(page)
    # Adopted, for the policy lets no other style in.
    page.evaluate(
        "(text) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text);"
        " document.adoptedStyleSheets = [sheet]; dispatchEvent(new Event('resize')) }",
        SPACED,
    )
    assert_no_scrolling_sideways(page)
    cut = page.evaluate(
        "() => [...document.querySelectorAll('button, label, .change .values, .headline, .detail, .help')]"
        ".filter((one) => one.offsetParent && one.scrollWidth > one.clientWidth + 1"
        " && getComputedStyle(one).display !== 'inline').map((one) => one.textContent)"
    )
    assert cut == []


def test_nothing_moves_for_who_wants_no_motion(open_page: OpenPage, server: LiveServer):
    page = open_page(server, **STILL)
    visit(page)
    moving = "[...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).transitionDuration !== '0s')"
    assert page.evaluate(f"{moving}.length") == 0
