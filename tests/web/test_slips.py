"""What was once wrong on the page, each slip with its test."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.browser import PHONE, STILL
from tests.web.support.made_up import WIDE_PLANS
from tests.web.support.visiting import (
    DEBT,
    answer_to,
    await_the_end,
    cards,
    example_of,
    expect_plans,
    field,
    lock,
    open_options,
    region,
    row,
    tab,
    verdict,
    visit,
)

# What a list takes beside its text.
ARROW = 20


@pytest.mark.parametrize("media", ["screen", "print"])
def test_a_locked_value_has_no_target(page: Page, media: Any):
    visit(page)
    expect(row(page, DEBT)).to_contain_text("would move to 0.36")
    lock(page, DEBT).click()
    page.emulate_media(media=media)
    expect(row(page, DEBT)).not_to_contain_text("would move to")
    expect(row(page, DEBT).locator("svg.bar")).to_have_accessible_name("0.42, high; limit up to 0.36")


def test_the_source_is_that_of_the_registry_that_was_chosen(page: Page, server: LiveServer):
    visit(page, "hcv")
    sources = {}
    with server.client() as client:
        for name in ("hcv", "hcv-paper"):
            ranges = client.get(f"/v1/normal-ranges/{name}").json()["features"]["AST"]["ranges"]
            sources[name] = next(one["source"] for one in ranges if one["when"].get("sex", "female") == "female")
    told = row(page, "Aspartate aminotransferase").locator(".help")
    expect(told).to_have_attribute("title", sources["hcv"])
    open_options(page)
    page.get_by_label("Reference ranges").select_option("hcv-paper")
    expect(told).to_have_attribute("title", sources["hcv-paper"] or "")
    cited = page.get_by_text("Sources of these ranges")
    if sources["hcv-paper"]:
        cited.click()
        expect(region(page, "Values")).to_contain_text(sources["hcv-paper"])


def test_a_value_that_is_off_the_scale_says_so(page: Page):
    visit(page, "hcv")
    bar = row(page, "Aspartate aminotransferase").locator("svg.bar")
    expect(bar).not_to_have_accessible_name(re.compile("off the scale"))
    field(page, "Aspartate aminotransferase").fill("5000")
    expect(bar).to_have_accessible_name(re.compile("^5000 U/L, off the scale, high"))
    expect(bar.locator("text")).to_have_text("≫")


def test_many_plans_do_not_make_a_page_of_many_screens(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up, **PHONE)
    visit(page, "wide", "all low")
    expect(region(page, "Plans")).to_contain_text(f"{WIDE_PLANS:,} plans")
    assert region(page, "Plans").evaluate("(section) => section.offsetHeight") < 2 * 844


def test_a_filtered_printout_says_what_it_leaves_out(page: Page):
    visit(page)
    tab(page, "Overview").click()
    page.get_by_role("button", name=f"{DEBT}: in 3 of 4 plans").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    note = "1 plan of 4 not printed (printed: only plans with debt-to-income); the receipt has all."
    expect(page.get_by_text(note)).to_be_visible()
    expect(cards(page)).to_have_count(3)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([7, 8], "No plan has 6 changes or fewer."),
        ([2, 7], "Every plan with up to 6 changes is listed."),
        ([], "No plan has 6 changes or fewer."),
    ],
)
def test_how_far_an_answer_is_complete_fits_the_plans(page: Page, sizes: list[int], said: str):
    page.goto("/")
    answer = {
        "phase": "stopped",
        "plans": [{"changes": [{}] * size} for size in sizes],
        "progress": {"complete_up_to": 6},
    }
    words = page.evaluate(
        "(answer) => import('/web/scripts/words.js').then((module) => module.completenessWords(answer))", answer
    )
    assert words == f"You stopped the search. {said}"


def test_the_ends_of_the_axis_are_where_their_scores_stand(page: Page):
    visit(page, "hcv")
    tab(page, "Picture").click()
    drawing = page.locator("svg.sizes")
    heights = drawing.evaluate(
        "(one) => ({ axis: [...one.querySelectorAll('line')].filter((line) => line.getAttribute('x1') =="
        " line.getAttribute('x2')).flatMap((line) => [+line.getAttribute('y1'), +line.getAttribute('y2')]),"
        " ticks: [...one.querySelectorAll('text')].filter((text) => text.textContent.includes('.'))"
        ".map((text) => +text.getAttribute('y') - 4) })"
    )
    assert sorted(heights["ticks"]) == sorted(heights["axis"])


@pytest.mark.parametrize("model", ["hcv", "mortgage"])
@pytest.mark.parametrize("width", [320, 2560])
def test_no_width_scrolls_sideways(open_page: OpenPage, server: LiveServer, model: str, width: int):
    page = open_page(server, viewport={"width": width, "height": 800}, **STILL)
    visit(page, model)
    for name in ("Plans", "Overview", "Picture"):
        tab(page, name).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    tab(page, "Plans").click()
    page.get_by_role("button", name="Table", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_back_online_the_page_asks_again_by_itself(page: Page, server: LiveServer, watch: Any):
    visit(page)
    watch.expect("ERR_INTERNET_DISCONNECTED")
    page.context.set_offline(True)
    field(page, DEBT).fill("0.5")
    expect(region(page, "Plans")).to_contain_text("The service cannot be reached.")
    page.context.set_offline(False)
    await_the_end(page)
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "pirat": 0.5}
    expect_plans(page, answer_to(server, "mortgage", {"instance": instance}))


def test_the_documentation_of_the_api_has_groups_and_examples_with_names(server: LiveServer):
    with server.client() as client:
        document = client.get("/openapi.json").json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    assert {tag for one in operations for tag in one["tags"]} >= {"answers", "models and ranges", "health"}
    asked = document["paths"]["/v1/models/{model}/counterfactuals"]["post"]["requestBody"]
    examples = asked["content"]["application/json"]["examples"]
    assert next(iter(examples)) == "hcv: several ways"


def test_what_is_favourable_is_told_once_among_the_plans(page: Page):
    visit(page, "mortgage", "already favourable")
    expect(region(page, "Plans").get_by_text("Nothing has to change.")).to_have_count(1)


@pytest.mark.parametrize("model", ["hcv", "mortgage"])
@pytest.mark.parametrize("width", [1280, 1920])
def test_the_title_of_the_model_can_be_read_beside_the_buttons(
    open_page: OpenPage, server: LiveServer, width: int, model: str
):
    page = open_page(server, viewport={"width": width, "height": 800})
    visit(page, model)
    room, wanted = page.get_by_label("Model", exact=True).evaluate(
        """(select) => {
          const text = document.body.appendChild(document.createElement("span"));
          text.textContent = select.selectedOptions[0].text;
          text.style.font = getComputedStyle(select).font;
          return [select.clientWidth, text.offsetWidth];
        }"""
    )
    assert wanted + ARROW < room


def test_a_lock_that_is_pressed_pushes_nothing_into_another_line(page: Page):
    visit(page)
    before = row(page, DEBT).bounding_box()
    lock(page, DEBT).click()
    expect(lock(page, DEBT)).to_have_attribute("aria-pressed", "true")
    after = row(page, DEBT).bounding_box()
    assert before
    assert after
    assert after["height"] == before["height"]


def test_a_slider_for_a_whole_number_reaches_every_one(page: Page, server: LiveServer):
    """Ends between whole numbers once left some out, and held a yes where it was."""
    visit(page, "mortgage", "several ways")
    page.get_by_role("button", name="What if…", exact=True).click()
    dialog = page.get_by_role("dialog", name="What if")
    history = dialog.get_by_role("slider", name="Mortgage payment history")
    for key, value in (("Home", "1"), ("End", "4"), ("ArrowLeft", "3")):
        history.press(key)
        expect(history).to_have_attribute("aria-valuetext", value)
    dialog.get_by_role("button", name="Back to the values").click()
    flat = dialog.get_by_role("slider", name="Condominium", exact=True)
    expect(flat).to_have_attribute("aria-valuetext", "yes")
    flat.press("ArrowLeft")
    expect(flat).to_have_attribute("aria-valuetext", "no")
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "condomin": 0}
    with server.client() as client:
        judged = client.post("/v1/models/mortgage/predictions", json={"instance": instance}).json()["prediction"]
    expect(dialog.locator("[data-score]")).to_have_text(f"{judged['score']:.3f}")


def test_a_range_of_yes_or_no_is_told_so(page: Page):
    visit(page, "mortgage", "no way out")
    expect(row(page, "Public record of bad credit")).to_contain_text("limit: no")
    expect(row(page, "Public record of bad credit")).not_to_contain_text("limit up to 0")


def test_a_category_stands_in_a_sentence_as_it_is_called(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    visit(page, "loans", "rents")
    expect(verdict(page)).to_contain_text("Home alone is enough: with “owns” the model says approved.")
