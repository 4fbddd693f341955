"""All of it without a mouse: Tab, Enter, Space and arrow keys; and the focus is always somewhere."""

import re

from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.web.support.visiting import (
    CREDIT,
    DEBT,
    answer_to,
    await_the_end,
    example_of,
    expect_plans,
    field,
    focused_name,
    keep,
    lock,
    open_model,
    region,
    rules,
    tab,
    visit,
)


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab until something of this name has the focus."""
    for _ in range(150):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if re.search(name, focused_name(page)):
            return
    raise AssertionError(f"Tab does not lead to {name}")


def test_from_an_example_to_a_comparison_by_keyboard(page: Page, server: LiveServer):
    open_model(page, "mortgage")
    expect(page.get_by_role("group", name="Examples").get_by_role("button")).to_have_count(4)
    page.keyboard.press("Tab")
    assert focused_name(page) == "Skip to the plans"
    tab_to(page, "^several ways$")
    page.keyboard.press("Enter")
    await_the_end(page)
    lock(page, CREDIT).focus()
    page.keyboard.press("Space")
    request = {**example_of(server, "mortgage", "several-ways"), "constraints": {"immutable": ["chist"]}}
    answer = answer_to(server, "mortgage", request)
    expect_plans(page, answer)
    expect(lock(page, CREDIT)).to_be_focused()
    tab_to(page, "^Keep plan 1$")
    page.keyboard.press("Enter")
    expect(keep(page, 1)).to_have_attribute("aria-pressed", "true")
    expect(keep(page, 1)).to_be_focused()
    tab_to(page, "^Keep plan 2$")
    page.keyboard.press("Space")
    expect(keep(page, 2)).to_be_focused()
    expect(region(page, "Kept plans")).to_be_visible()


def test_the_skip_link_leads_to_the_plans(page: Page):
    visit(page)
    page.reload()
    await_the_end(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(region(page, "Plans")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Sort")).to_be_focused()


def test_a_value_is_typed_without_losing_the_place(page: Page, server: LiveServer):
    visit(page)
    field(page, DEBT).focus()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("0.40")
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "pirat": 0.4}
    expect_plans(page, answer_to(server, "mortgage", {"instance": instance}))
    expect(field(page, DEBT)).to_be_focused()
    expect(field(page, DEBT)).to_have_value("0.40")
    page.keyboard.press("Tab")
    expect(field(page, DEBT)).not_to_be_focused()


def test_a_rule_is_added_and_dropped_by_keyboard(page: Page):
    visit(page)
    opener = page.get_by_role("button", name=f"Rule… for {DEBT}")
    opener.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Add a rule")
    expect(dialog.get_by_label("Rule", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    tab_to(page, "^Add$")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    lock(page, CREDIT).focus()
    page.keyboard.press("Enter")
    expect(rules(page)).to_have_count(2)
    tab_to(page, "Drop the rule")
    page.keyboard.press("Enter")
    expect(rules(page)).to_have_count(1)
    expect(rules(page).get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rules(page)).to_have_count(0)
    expect(page.get_by_label("At most this many changes")).to_be_focused()


def test_escape_closes_a_dialogue_and_leads_back(page: Page):
    visit(page)
    for name in ("Paste values", "Connect two values"):
        opener = page.get_by_role("button", name=name)
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(opener).to_be_focused()


def test_a_filter_keeps_the_focus(page: Page):
    visit(page)
    tab(page, "Overview").click()
    button = page.get_by_role("button", name=re.compile(f"^{re.escape(CREDIT)}: in "))
    button.focus()
    for left in ("2 of 4 plans shown", "2 of 4 plans shown", ""):
        page.keyboard.press("Enter")
        expect(region(page, "What the plans share").get_by_role("status")).to_contain_text(left)
        expect(button).to_be_focused()


def test_whoever_listens_is_told_how_it_ended(page: Page):
    visit(page)
    told = page.locator("body > [role=status]")
    expect(told).to_have_text("denied 0.381, not favourable. 4 plans. Complete: there are no other minimal plans.")
    lock(page, DEBT).click()
    expect(told).to_contain_text("1 plan. Complete")
    lock(page, CREDIT).click()
    expect(told).to_have_text(re.compile("^denied 0.381, not favourable. No plan changes the decision. Complete"))
