"""The pictures of an answer: all combinations as a Hasse diagram, or plans by size and score."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.browser import PHONE
from tests.web.support.visiting import (
    answer_to,
    await_the_end,
    cards,
    example_of,
    expect_plans,
    field,
    focused_name,
    keep,
    lock,
    open_model,
    region,
    subsets_of,
    tab,
    verdict,
    visit,
)

DIAGRAM = "All combinations of changes by size, from none at the bottom to all at the top"


def nodes(page: Page) -> Locator:
    return page.get_by_role("group", name=DIAGRAM).locator("[aria-label]")


def titles(page: Page, server: LiveServer, model: str) -> dict[str, str]:
    with server.client() as client:
        features = client.get(f"/v1/models/{model}").json()["features"]
    return {feature["name"]: feature["title"] for feature in features}


@pytest.mark.parametrize(("model", "person"), [("mortgage", "several-ways"), ("hcv", "exactly-one-way")])
def test_all_combinations_are_drawn_as_the_api_judges_them(page: Page, server: LiveServer, model: str, person: str):
    visit(page, model, person.replace("-", " "))
    tab(page, "Picture").click()
    request = example_of(server, model, person)
    subsets = subsets_of(server, model, request)
    expect(nodes(page)).to_have_count(len(subsets))
    titled = titles(page, server, model)
    for subset in subsets:
        changes = ", ".join(titled[name] for name in subset["features"])
        size = len(subset["features"])
        what = f"{size} change{'s' if size > 1 else ''}: {changes}" if size else "nothing changed"
        turns = "changes the decision" if subset["favourable"] else "does not change it"
        node = nodes(page).and_(page.get_by_label(re.compile(f"^{re.escape(what)}\\. Score ")))
        expect(node).to_have_accessible_name(re.compile(re.escape(f"{subset['score']:.3f}: {turns}")))
    minimal = [set(subset["features"]) for subset in subsets if subset["role"] == "minimal"]
    plans = answer_to(server, model, request)["counterfactuals"]
    assert minimal == [{change["feature"] for change in plan["changes"]} for plan in plans]
    green = page.get_by_role("group", name=DIAGRAM).get_by_role("button")
    expect(green).to_have_count(len(plans))
    expect(nodes(page).and_(page.get_by_label(re.compile("everything allowed above it does")))).to_have_count(
        sum(subset["role"] == "maximal_failing" for subset in subsets)
    )


def test_pointing_at_a_combination_tells_what_it_is(page: Page):
    visit(page)
    tab(page, "Picture").click()
    picture = region(page, "All combinations")
    node = page.get_by_role("button", name=re.compile("^2 changes: Debt payments to income, Housing expense"))
    node.hover()
    expect(picture.get_by_role("paragraph")).to_have_text(
        "2 changes: Debt payments to income, Housing expense to income. Score 0.830: changes the decision, "
        "and no allowed part of it does: a plan."
    )


def test_arrow_keys_lead_from_combination_to_combination_and_enter_to_the_plan(page: Page, server: LiveServer):
    visit(page)
    tab(page, "Picture").click()
    told = region(page, "All combinations").get_by_role("paragraph")
    nodes(page).first.focus()
    expect(told).to_have_text("nothing changed. Score 0.381: does not change it.")
    page.keyboard.press("ArrowUp")
    expect(told).to_have_text(re.compile("^1 change: "))
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(told).to_have_text(re.compile("^1 change: Debt payments to income"))
    page.keyboard.press("ArrowUp")
    expect(told).to_have_text(re.compile("^2 changes: "))
    # The last of the six pairs.
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert focused_name(page) == (
        "2 changes: Loan to property value, Consumer credit history, 1 (best) to 6. "
        "Score 0.766: changes the decision, and no allowed part of it does: a plan."
    )
    page.keyboard.press("Enter")
    expect(keep(page, 4)).to_be_focused()
    expect(keep(page, 4)).to_be_in_viewport()


def test_what_the_rules_forbid_is_marked(page: Page, server: LiveServer):
    visit(page)
    tab(page, "Picture").click()
    page.get_by_label("At most this many changes").select_option(label="2")
    request = {**example_of(server, "mortgage", "several-ways"), "constraints": {"max_changes": 2}}
    forbidden = [subset for subset in subsets_of(server, "mortgage", request) if not subset["allowed"]]
    expect(nodes(page).and_(page.get_by_label(re.compile("not allowed by the rules")))).to_have_count(len(forbidden))


def test_a_lock_halves_the_combinations(page: Page):
    visit(page)
    tab(page, "Picture").click()
    expect(nodes(page)).to_have_count(16)
    lock(page, "Debt payments to income").click()
    expect(nodes(page)).to_have_count(8)


def test_beyond_six_movable_features_the_plans_are_drawn_by_size_and_score(page: Page, server: LiveServer):
    visit(page, "hcv")
    tab(page, "Picture").click()
    plans = answer_to(server, "hcv", example_of(server, "hcv", "several-ways"))["counterfactuals"]
    scores = sorted(plan["prediction"]["score"] for plan in plans)
    expect(region(page, "Plans by size and score").first).to_be_visible()
    expect(page.get_by_role("group", name=DIAGRAM)).to_have_count(0)
    picture = page.get_by_role("group", name="4 plans of 2 changes, 1 plan of 4 changes")
    expect(picture).to_have_accessible_name(
        f"4 plans of 2 changes, 1 plan of 4 changes; scores from {scores[0]:.3f} to {scores[-1]:.3f}"
    )
    ends = [f"{scores[0]:.3f}", f"{scores[-1]:.3f}"]
    assert [text for text in picture.locator("text").all_text_contents() if "." in text] == ends
    circles = picture.locator("title").all_text_contents()
    assert sum(int(text.split()[0]) for text in circles) == len(plans)


def test_one_plan_has_no_picture_of_sizes(open_page: OpenPage, made_up: LiveServer):
    """A stopped search of 24 movable features, with a single plan."""
    page = open_page(made_up)
    open_model(page, "slow")
    page.get_by_role("button", name="all low").click()
    expect(cards(page)).to_have_count(1)
    page.get_by_role("button", name="Stop").click()
    expect(region(page, "Share and print")).to_be_visible()
    expect(tab(page, "Picture")).to_be_hidden()


def test_a_number_that_is_predicted_has_its_combinations_too(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    visit(page, "pressure", "too high")
    request = example_of(made_up, "pressure", "too-high")
    expect_plans(page, answer_to(made_up, "pressure", request))
    tab(page, "Picture").click()
    expect(nodes(page)).to_have_count(len(subsets_of(made_up, "pressure", request)))


@pytest.mark.parametrize("model", ["mortgage", "hcv"])
def test_the_picture_fits_a_screen(open_page: OpenPage, server: LiveServer, model: str):
    """Four movable features with their names, and six without."""
    page = open_page(server, viewport={"width": 1280, "height": 900})
    visit(page, model)
    tab(page, "Picture").click()
    if model == "hcv":
        for title in ("Albumin", "Alkaline phosphatase"):
            lock(page, title).click()
        expect(nodes(page)).to_have_count(64)
    expect(nodes(page).first).to_be_visible()
    assert overflow(page) == 0
    expect(page.get_by_text("scroll the picture sideways")).to_be_hidden()


def test_a_picture_wider_than_a_phone_says_that_it_is_scrolled(open_page: OpenPage, server: LiveServer):
    page = open_page(server, **{**PHONE, "viewport": {"width": 375, "height": 800}})
    visit(page)
    tab(page, "Picture").click()
    expect(page.get_by_text("There is more on both sides: scroll the picture sideways.")).to_be_visible()
    expect(nodes(page)).to_have_count(16)
    # Its middle is seen first.
    scrolled = page.locator(".scrolled").evaluate("(box) => box.scrollLeft")
    assert scrolled == pytest.approx(overflow(page) / 2, abs=2)
    assert scrolled > 0


def overflow(page: Page) -> int:
    """How much wider the picture is than its place."""
    return page.locator(".scrolled").evaluate("(box) => box.scrollWidth - box.clientWidth")


def test_where_nothing_has_to_change_nothing_is_drawn_as_turning_it(page: Page, server: LiveServer):
    """Nor is there a way to plans that are none, or a bill for a search that was none."""
    visit(page, "mortgage", "already favourable")
    field(page, "Debt payments to income").fill("0.37")
    instance = {**example_of(server, "mortgage", "already-favourable")["instance"], "pirat": 0.37}
    start = answer_to(server, "mortgage", {"instance": instance})["start"]
    assert start["prediction"]["favourable"]
    assert any(feature["movable"] for feature in start["features"])
    expect(verdict(page)).to_contain_text(f"{start['prediction']['score']:.3f}")
    await_the_end(page)
    page.wait_for_timeout(500)
    expect(tab(page, "Picture")).to_be_hidden()
    plans = region(page, "Plans")
    expect(plans).to_contain_text("Nothing has to change.")
    expect(plans).not_to_contain_text("scored")
    expect(page.locator(".jump")).to_be_hidden()
