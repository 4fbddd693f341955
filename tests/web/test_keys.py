"""A service with keys: the page asks for one, keeps it in memory, and forgets it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.adapters.keys.key_file import editing
from tests.live.clients.test_access import WRONG, add_key
from tests.support.live_server import LiveServer, live_server
from tests.web.conftest import OpenPage
from tests.web.support.browser import Watch
from tests.web.support.visiting import cards, example, visit

REFUSED = "the server responded with a status of 401"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys") / "keys.toml"


@pytest.fixture(scope="module")
def key(file: Path) -> str:
    return add_key(file, "ward", ("mortgage", "thyroid"))["Authorization"].removeprefix("Bearer ")


@pytest.fixture(scope="module")
def over(file: Path) -> str:
    """A key that has expired."""
    text = add_key(file, "over")["Authorization"].removeprefix("Bearer ")
    with editing(file) as keys:
        keys["over"] = replace(keys["over"], expires=datetime(2020, 1, 1, tzinfo=UTC))
    return text


@pytest.fixture(scope="module")
def guarded(file: Path, key: str, over: str) -> Iterator[LiveServer]:
    with live_server(keys_file=str(file)) as running:
        yield running


@pytest.fixture
def asked(open_page: OpenPage, guarded: LiveServer, watch: Watch) -> Page:
    """The page, which asks for a key."""
    watch.expect(REFUSED)
    page = open_page(guarded)
    page.goto("/")
    expect(page.get_by_role("dialog", name="This service asks for a key")).to_be_visible()
    return page


def give(page: Page, key: str) -> None:
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Key")).to_be_focused()
    dialog.get_by_label("Key").fill(key)
    dialog.get_by_role("button", name="Use this key").click()


def test_a_key_that_has_expired_is_called_that(asked: Page, over: str):
    give(asked, over)
    expect(asked.get_by_role("dialog").get_by_role("alert")).to_have_text("This key has expired.")


def test_who_has_a_key_is_let_in(asked: Page, key: str):
    expect(asked.get_by_label("Key", exact=True)).to_have_attribute("type", "password")
    give(asked, f" {key}\n")
    expect(asked.get_by_role("dialog")).to_be_hidden()
    example(asked, "several ways").click()
    expect(cards(asked)).to_have_count(4)
    # Those that this key may use.
    expect(asked.get_by_label("Model", exact=True).get_by_role("option")).to_have_text(
        [re.compile("^Mortgage"), re.compile("^Hypothyroidism")]
    )


def test_a_wrong_key_is_told_and_the_right_one_taken_after_it(asked: Page, key: str):
    give(asked, WRONG)
    expect(asked.get_by_role("dialog").get_by_role("alert")).to_have_text("This key was not accepted.")
    give(asked, key)
    expect(asked.get_by_role("dialog")).to_be_hidden()
    expect(example(asked, "several ways")).to_be_visible()


def test_the_key_is_kept_nowhere(asked: Page, key: str):
    give(asked, key)
    example(asked, "several ways").click()
    expect(cards(asked)).to_have_count(4)
    kept = asked.evaluate(
        "async () => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href,"
        " history.state, await indexedDB.databases(), await caches.keys(), document.documentElement.outerHTML])"
    )
    assert key not in kept
    secret = key.rpartition("_")[2]
    assert secret not in kept
    assert asked.evaluate("[...document.querySelectorAll('input')].every(({value}) => !value.includes('flipset_'))")
    asked.context.grant_permissions(["clipboard-read", "clipboard-write"])
    asked.get_by_role("button", name="Copy curl").click()
    expect(asked.get_by_text("Copied. The command contains")).to_be_visible()
    assert secret not in asked.evaluate("navigator.clipboard.readText()")
    asked.reload()
    expect(asked.get_by_role("dialog", name="This service asks for a key")).to_be_visible()


def test_a_key_can_be_changed_for_another(asked: Page, key: str, file: Path):
    give(asked, key)
    asked.get_by_role("button", name="Key", exact=True).click()
    give(asked, WRONG)
    expect(asked.get_by_role("dialog").get_by_role("alert")).to_have_text("This key was not accepted.")
    give(asked, key)
    expect(asked.get_by_role("dialog")).to_be_hidden()
    example(asked, "several ways").click()
    expect(cards(asked)).to_have_count(4)
    expect(asked.get_by_role("dialog")).to_be_hidden()


def test_a_service_without_keys_does_not_ask(page: Page):
    visit(page)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Key", exact=True)).to_be_hidden()


def test_who_has_sent_the_question_away_can_still_give_a_key(asked: Page, key: str):
    asked.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    asked.get_by_role("button", name="Key", exact=True).click()
    give(asked, key)
    expect(example(asked, "several ways")).to_be_visible()


def test_a_key_that_no_header_can_hold_is_a_wrong_one(asked: Page):
    give(asked, "flipset_w\u0430rd_\u20ac")
    expect(asked.get_by_role("dialog").get_by_role("alert")).to_contain_text("A key consists of letters")
