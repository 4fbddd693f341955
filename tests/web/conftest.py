"""What the tests in a real browser stand on."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.live_server import ROOT, LiveServer, live_server
from tests.web.support.browser import LIMIT_MS, NO_BROWSER, Watch, find_browser, launched, new_page
from tests.web.support.made_up import write_made_up

# Where `make screenshots` wants them.
PICTURES = "TEST_SCREENSHOTS"
COLOURS = 96

OpenPage = Callable[..., Page]

# What is not there is waited for no longer than this once a test has failed: whatever comes, the run is red.
RED_LIMIT_MS = 60_000


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for all tests here; gone before any other test, for none could call `asyncio.run` beside it."""
    program = find_browser()
    if program is None:
        pytest.skip(NO_BROWSER)
    with launched(program) as running:
        yield running


@pytest.fixture
def watch() -> Watch:
    """What went wrong in the pages of this test so far; `watch.expect(text)` for what is meant to."""
    return Watch()


@pytest.fixture(autouse=True)
def limit_ms(request: pytest.FixtureRequest) -> int:
    """How fast a page is, is measured elsewhere: a busy machine alone is no reason to fail."""
    limit = RED_LIMIT_MS if request.session.testsfailed else LIMIT_MS
    expect.set_options(timeout=limit)
    return limit


@pytest.fixture
def open_page(browser: Browser, watch: Watch, limit_ms: int) -> Iterator[OpenPage]:
    """Open an empty page for a server, seen as the options say: `open_page(server, **PHONE, **DARK)`.

    At the end of the test nothing may have gone wrong in any of them.
    """
    pages: list[Page] = []

    def open_for(server: LiveServer, **look: Any) -> Page:
        pages.append(new_page(browser, watch, server.url, **look))
        pages[-1].context.set_default_timeout(limit_ms)
        return pages[-1]

    yield open_for
    for page in pages:
        page.context.close()
    assert watch.unexpected() == []


@pytest.fixture
def page(open_page: OpenPage, server: LiveServer) -> Page:
    """An empty page for the shipped models: `page.goto("/")`."""
    return open_page(server)


@pytest.fixture(scope="package")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """The models of tests/web/support/made_up.py, served with time to watch a search that lasts."""
    folder = tmp_path_factory.mktemp("made-up")
    write_made_up(folder)
    with live_server(
        folder / "models", folder / "ranges", default_deadline_ms="600000", max_deadline_ms="600000"
    ) as running:
        yield running


@pytest.fixture(scope="package")
def prefixed() -> Iterator[LiveServer]:
    """The shipped models behind a proxy that leaves a prefix in front of every path."""
    with live_server(root_path="/care/flipset") as running:
        yield running


@pytest.fixture
def take_picture(tmp_path: Path) -> Callable[..., Path]:
    """Take a picture of a page, or `of` a part: into a folder of the test's own, unless the environment names one."""
    folder = ROOT / os.environ.get(PICTURES, tmp_path)

    def take(page: Page, name: str, of: Locator | None = None) -> Path:
        file = folder / f"{name}.png"
        (of or page).screenshot(path=file, animations="disabled", caret="hide")
        # The page has few colours: a palette makes a third of the file, and nobody sees it.
        with Image.open(file) as taken:
            few = taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(file, optimize=True)
        return file

    return take
