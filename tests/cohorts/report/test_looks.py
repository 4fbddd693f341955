"""The page in a real browser: nothing that axe-core would find, nothing cut off, no other host asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.cohorts.report.made_up import favourable, unknown, write_run
from tests.cohorts.report.reading import report_on
from tests.cohorts.report.test_page import HOSTILE, mixed
from tests.web.support.accessibility import findings
from tests.web.support.browser import DARK, NO_BROWSER, Watch, find_browser, launched, new_page

NARROW = {"viewport": {"width": 375, "height": 800}}
LOOKS = {"light": {}, "dark": DARK, "phone": NARROW}
RUNS = {
    "mixed": mixed(),
    "hostile": [unknown(sex=name) for name in HOSTILE[:-1]] + mixed(),
    "nobody refused": [favourable(sex="f")],
    "empty": [],
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip(NO_BROWSER)
    with launched(program) as running:
        yield running


@pytest.fixture
def watch() -> Iterator[Watch]:
    """At the end of the test nothing may have gone wrong."""
    watching = Watch()
    yield watching
    assert watching.unexpected() == []


def opened(browser: Browser, watch: Watch, folder: Path, run: str = "mixed", **look) -> Page:
    file = folder / "run" / "report.html"
    report_on(write_run(file.parent, RUNS[run]))
    page = new_page(browser, watch, "file://", **look)
    page.goto(file.as_uri())
    return page


@pytest.mark.parametrize(
    ("run", "look"),
    [("mixed", "light"), ("mixed", "dark"), ("hostile", "phone"), ("nobody refused", "dark"), ("empty", "light")],
)
def test_axe_core_finds_nothing(browser: Browser, watch: Watch, tmp_path: Path, run: str, look: str):
    with opened(browser, watch, tmp_path, run, **LOOKS[look]).context as context:
        assert findings(context.pages[0]) == []


@pytest.mark.parametrize("run", ["mixed", "hostile"])
def test_a_phone_scrolls_tables_and_not_the_page(browser: Browser, watch: Watch, tmp_path: Path, run: str):
    with opened(browser, watch, tmp_path, run, **NARROW).context as context:
        page = context.pages[0]
        assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_screen_shows_every_table_whole(browser: Browser, watch: Watch, tmp_path: Path):
    with opened(browser, watch, tmp_path).context as context:
        page = context.pages[0]
        cut = page.evaluate(
            "[...document.querySelectorAll('.scrolled')].filter(one => one.scrollWidth > one.clientWidth).length"
        )
        assert cut == 0


def test_no_words_of_a_figure_are_cut_or_lie_on_each_other(browser: Browser, watch: Watch, tmp_path: Path):
    """Each inside of its figure, but for a hair; no two in the same place."""
    with opened(browser, watch, tmp_path).context as context:
        found = context.pages[0].evaluate("""
            [...document.querySelectorAll("svg")].flatMap((figure) => {
              const frame = figure.getBoundingClientRect();
              const texts = [...figure.querySelectorAll("text")];
              const words = texts.map((one) => [one.textContent, one.getBoundingClientRect()]);
              const out = words.filter(([, box]) => box.left < frame.left - 2 || box.right > frame.right + 2
                || box.top < frame.top - 2 || box.bottom > frame.bottom + 2);
              const over = words.filter(([, a], place) => words.slice(place + 1).some(([, b]) =>
                a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4));
              return [...out, ...over].map(([text]) => text);
            })
        """)
        assert found == []


def test_on_paper_it_is_light_and_nothing_is_cut(browser: Browser, watch: Watch, tmp_path: Path):
    """The width is that of A4 without its margins."""
    look = {**DARK, "viewport": {"width": 688, "height": 1000}}
    with opened(browser, watch, tmp_path, **look).context as context:
        page = context.pages[0]
        page.emulate_media(media="print")
        ground = "getComputedStyle(document.body).color"
        assert page.evaluate(ground) == "rgb(27, 32, 38)"
        assert page.evaluate("document.documentElement.scrollWidth") <= 688
