"""On a slow network the page says what it waits for; in a browser of three years ago it works."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.live_server import ROOT, LiveServer
from tests.web.support.visiting import (
    answer_to,
    await_the_end,
    choose_model,
    come,
    example,
    example_of,
    expect_plans,
    hold,
    open_model,
    tab,
    verdict,
    visit,
)

# What came into all browsers later than three years before the page was last looked through, or is not in all yet.
FORGET = """
for (const [owner, names] of [
  [Map, ["groupBy"]], [Object, ["groupBy"]], [Promise, ["withResolvers", "try"]], [Array, ["fromAsync"]],
  [AbortSignal, ["any"]], [URL, ["parse", "canParse"]], [RegExp, ["escape"]],
  [ReadableStream.prototype, ["values", Symbol.asyncIterator]],
  [Set.prototype, ["union", "intersection", "difference", "symmetricDifference"]],
  [Set.prototype, ["isSubsetOf", "isSupersetOf", "isDisjointFrom"]],
  [Object.getPrototypeOf(Object.getPrototypeOf([].values())),
   ["map", "filter", "take", "drop", "flatMap", "reduce", "toArray", "forEach", "some", "every", "find"]],
]) for (const name of names) delete owner[name];
"""
NEWER_STYLES = re.compile(r"light-dark\(|@scope|@starting-style|interpolate-size|field-sizing|anchor\(|\bif\(")


def test_the_page_works_in_a_browser_of_three_years_ago(page: Page, server: LiveServer):
    page.add_init_script(FORGET)
    visit(page)
    assert page.evaluate("Map.groupBy") is None
    expect_plans(page, answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways")))
    for name in ("Overview", "Picture", "Plans"):
        tab(page, name).click()
    page.get_by_role("button", name="About the model").click()
    expect(page.get_by_role("dialog")).to_contain_text("The same values, other versions and ranges")


def test_styles_use_nothing_that_a_browser_of_three_years_ago_ignores():
    sheets: list[Path] = [*(ROOT / "app").rglob("*.css")]
    assert len(sheets) > 8
    assert [sheet.name for sheet in sheets if NEWER_STYLES.search(re.sub(r"/\*.*?\*/", "", sheet.read_text()))] == []


def test_a_page_whose_scripts_are_on_their_way_says_so(page: Page):
    held = hold(page, "**/main.js")
    page.goto("/", wait_until="commit")
    expect(page.get_by_text("Loading…", exact=True)).to_be_visible()
    come(page, held)[0].continue_()
    expect(page.get_by_text("Loading…", exact=True)).to_be_hidden()


def test_a_page_that_waits_for_its_first_model_says_so(page: Page):
    for path in ("**/v1/models", "**/v1/models/*"):
        held = hold(page, path)
        page.goto("about:blank")
        page.goto("/#model=mortgage", wait_until="commit")
        come(page, held)
        expect(verdict(page)).to_contain_text("Loading the model…")
        # First: what is held when a page has no routes any more goes on by itself, and cannot be told to.
        held[0].continue_()
        page.unroute(path)
        expect(verdict(page)).to_contain_text("Enter the applicant's values")


def test_a_page_that_waits_for_another_model_or_for_an_answer_says_so(page: Page):
    visit(page)
    held = hold(page, "**/v1/models/thyroid")
    choose_model(page, "Hypothyroidism from four hormone values")
    come(page, held)
    expect(verdict(page)).to_contain_text("Loading the model…")
    held[0].continue_()
    expect(verdict(page)).to_contain_text("Enter the patient's values")
    open_model(page, "mortgage")
    held = hold(page, "**/counterfactuals")
    example(page, "several ways").click()
    come(page, held)
    expect(verdict(page)).to_contain_text("Asking the model…")
    held[0].continue_()
    await_the_end(page)
