"""Rules that always hold: the page shows whose they are, and offers nobody to drop them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.live.answers.test_policies import write_ruled as write_policed
from tests.live.answers.test_rules import write_ruled
from tests.support.live_server import LiveServer, live_server
from tests.support.loans import PERSON
from tests.web.conftest import OpenPage
from tests.web.support.browser import Watch
from tests.web.support.visiting import open_options, paste, region

HOME = "Where they live"
# In a sentence.
SAID = "home"


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("ruled")
    write_ruled(folder)
    with live_server(folder / "models", folder / "ranges") as running:
        yield running


@pytest.fixture
def page(open_page: OpenPage, ruled: LiveServer) -> Page:
    page = open_page(ruled)
    page.goto("/#model=ruled")
    expect(page.get_by_text("Model ruled 1.0")).to_be_visible()
    return page


def test_rules_of_the_model_are_shown_and_cannot_be_dropped(page: Page):
    paste(page, json.dumps({"instance": PERSON, "constraints": {"immutable": ["years"]}}))
    held = page.get_by_role("list", name="Fixed rules").get_by_role("listitem")
    expect(held).to_have_text(
        [
            f"{SAID} cannot change (always, set by the model)",
            "Debt to income may move by at most 20 (always, set by the model)",
            "formula: debt -> not late (always, set by the model)",
        ]
    )
    lock = page.get_by_role("button", name=f"Locked {HOME}, always, by the model")
    expect(lock).to_be_disabled()
    expect(lock).to_have_attribute("aria-pressed", "true")
    plans = region(page, "Plans")
    expect(plans).to_contain_text(f"The model would have to drop: {SAID} cannot change. You cannot change that here.")
    expect(plans.get_by_role("button", name="Unlock years")).to_be_visible()
    expect(plans.get_by_role("button", name=f"Unlock {SAID}")).to_be_hidden()


def test_what_the_policy_forbids_is_not_offered(open_page: OpenPage, tmp_path: Path):
    write_policed(tmp_path)
    file = tmp_path / "models/ruled/model.toml"
    file.write_text(file.read_text() + 'target = "fixed"\n')
    with live_server(tmp_path / "models", tmp_path / "ranges") as server:
        page = open_page(server)
        for model, registries, threshold in (
            ("ruled", ["loans", "strict"], False),
            ("loans", ["loans", "strict", "third", "none"], True),
        ):
            page.goto("about:blank")
            page.goto(f"/#model={model}")
            expect(page.get_by_text(f"Model {model} 1.0")).to_be_visible()
            open_options(page)
            offered = page.get_by_label("Normal ranges", exact=True).get_by_role("option")
            expect(offered).to_have_text(registries)
            expect(page.get_by_label("Threshold", exact=True)).to_be_visible(visible=threshold)


def test_a_rule_that_contradicts_the_model_s_is_the_one_to_give_up(page: Page, watch: Watch):
    watch.expect("the server responded with a status of 422")
    paste(page, json.dumps({"instance": PERSON, "constraints": {"required": ["home"]}}))
    plans = region(page, "Plans")
    expect(plans).to_contain_text(f"{SAID} cannot change (always, set by the model)")
    plans.get_by_role("button", name=f"Drop “{SAID} must end up in its range”").click()
    expect(plans).not_to_contain_text("contradict")
