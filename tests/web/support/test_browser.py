"""The ground under the tests of the page: the browser is real, and nothing that goes wrong in it is missed."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.support.waiting import eventually
from tests.web.conftest import OpenPage
from tests.web.support.accessibility import findings, serious_findings
from tests.web.support.browser import DARK, PHONE, STILL, BrowserNotThere, Watch, find_browser

POLICY = "default-src 'self'; connect-src *; require-trusted-types-for 'script'; trusted-types 'none'"


@pytest.fixture
def strict(page: Page) -> Page:
    """A page with faults for axe-core to find, and a policy that lets nothing in."""
    body = (
        "<!doctype html><html lang='en'><title>Strict</title>"
        # Without it the browser asks for /favicon.ico, sooner or later.
        "<link rel='icon' href='/docs/files/favicon-32x32.png'>"
        "<main><h1>Strict</h1><img src='/docs/files/favicon-32x32.png'></main>"
    )
    headers = {"Content-Security-Policy": POLICY, "Content-Type": "text/html"}
    page.route("**/strict", lambda route: route.fulfill(body=body, headers=headers))
    page.goto("/strict")
    return page


def wait_for(page: Page, watch: Watch, text: str) -> None:
    """Events are only delivered while Playwright is at work."""

    def is_noted() -> bool:
        page.wait_for_timeout(20)
        return any(text in trouble for trouble in watch.troubles)

    eventually(is_noted, lambda: f"{text} is not among {watch.troubles}")


def test_the_documentation_needs_no_other_host(page: Page):
    page.goto("/docs")
    expect(page.get_by_role("heading", name="Flipset")).to_be_visible()


def test_the_documentation_works_under_a_policy_that_lets_nothing_else_in(page: Page):
    """A violation of the policy is a trouble, and fails the test."""
    answer = page.goto("/docs")
    assert answer is not None
    assert "default-src 'none'; script-src 'self' 'sha256-" in answer.headers["content-security-policy"]
    page.get_by_text("The process is alive").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table").get_by_text('"alive"')).to_be_visible()


@pytest.mark.parametrize(
    ("wrong", "noted"),
    [
        ("fetch('http://flipset.example/').catch(() => 0)", "request to another host: http://flipset.example/"),
        ("new WebSocket('ws://flipset.example/')", "request to another host: ws://flipset.example/"),
        ("fetch('/nowhere')", "console: Failed to load resource: the server responded with a status of 404"),
        ("console.error('told')", "console: told"),
        ("throw new Error('thrown')", "exception: thrown"),
        ("Promise.reject(new Error('rejected'))", "exception: rejected"),
        ("document.body.innerHTML = 'x'", "the policy was violated: require-trusted-types-for"),
        ("document.body.setAttribute('style', 'color: red')", "the policy was violated: style-src-attr by inline"),
    ],
)
def test_what_goes_wrong_in_a_page_is_noted(strict: Page, watch: Watch, wrong: str, noted: str):
    assert watch.troubles == []
    strict.evaluate(f"() => void setTimeout(() => {{ {wrong} }})")
    wait_for(strict, watch, noted)
    assert watch.unexpected() == watch.troubles
    watch.expect("")
    assert watch.unexpected() == []


def test_no_other_host_can_be_reached_even_if_it_is_there(strict: Page, watch: Watch, server: LiveServer):
    watch.expect("")
    other = server.url.replace("127.0.0.1", "localhost")
    said = strict.evaluate("(url) => fetch(url, {mode: 'no-cors'}).catch((error) => String(error))", f"{other}/livez")
    assert said == "TypeError: Failed to fetch"
    assert any("net::ERR_NAME_NOT_RESOLVED" in trouble for trouble in watch.troubles)


def test_axe_core_looks_at_a_page_whose_policy_lets_nothing_in(strict: Page):
    (finding,) = serious_findings(strict)
    assert finding.startswith("critical: image-alt at ['img']")
    assert finding in findings(strict)


@pytest.mark.parametrize(
    ("look", "query"),
    [
        ({}, "(prefers-color-scheme: light) and (prefers-reduced-motion: no-preference) and (min-width: 1280px)"),
        (PHONE, "(device-width: 390px) and (pointer: coarse) and (hover: none)"),
        (DARK, "(prefers-color-scheme: dark)"),
        (STILL, "(prefers-reduced-motion: reduce)"),
    ],
)
def test_a_page_may_be_looked_at_in_other_ways(open_page: OpenPage, server: LiveServer, look: dict, query: str):
    assert open_page(server, **look).evaluate("(query) => matchMedia(query).matches", query)


def test_a_browser_that_is_named_must_be_there(tmp_path: Path):
    nowhere = {"PATH": str(tmp_path)}
    assert find_browser(nowhere) is None
    with pytest.raises(BrowserNotThere, match="TEST_BROWSER names chromium, which is no program here"):
        find_browser({**nowhere, "TEST_BROWSER": "chromium"})
    for name in ("chromium", "mine"):
        (tmp_path / name).touch(mode=0o755)
    assert find_browser(nowhere) == str(tmp_path / "chromium")
    assert find_browser({**nowhere, "TEST_BROWSER": str(tmp_path / "mine")}) == str(tmp_path / "mine")
