"""The pictures of the documents: `make screenshots` takes them again."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.browser import DARK, PHONE, STILL
from tests.web.support.visiting import cards, keep, region, tab, visit

TakePicture = Callable[..., Path]

LARGE = {"viewport": {"width": 1400, "height": 1000}, "device_scale_factor": 1, **STILL}
SMALL = {**PHONE, **STILL, "device_scale_factor": 1}


def is_picture(file: Path) -> bool:
    return file.read_bytes().startswith(b"\x89PNG")


def test_several_ways(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **LARGE)
    visit(page)
    expect(cards(page).first).to_contain_text("is enough")
    expect(tab(page, "Picture")).to_be_visible()
    assert is_picture(take_picture(page, "page-plans"))


def test_no_way_out_in_the_dark(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **LARGE, **DARK)
    visit(page, "mortgage", "no way out")
    expect(tab(page, "Picture")).to_be_visible()
    assert is_picture(take_picture(page, "page-no-recourse"))


def test_on_a_phone(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **SMALL)
    visit(page, "hcv")
    region(page, "Values").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('decision').scrollIntoView()")
    assert is_picture(take_picture(page, "page-phone"))


def test_on_paper(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    """As wide as what the margins leave of a sheet."""
    page = open_page(server, viewport={"width": 720, "height": 990}, **STILL)
    visit(page, "hcv")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert is_picture(take_picture(page, "page-print"))


def test_all_combinations(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **LARGE)
    visit(page)
    tab(page, "Picture").click()
    section = region(page, "All combinations")
    page.get_by_role("button", name="2 changes: Debt payments to income, Housing expense to income").hover()
    expect(section.get_by_role("paragraph")).to_contain_text("a plan")
    assert is_picture(take_picture(page, "page-combinations", of=section))


def test_what_the_plans_share(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **LARGE)
    visit(page, "hcv")
    tab(page, "Overview").click()
    section = region(page, "What the plans share")
    expect(section.get_by_role("button").first).to_contain_text("AST and one of ")
    assert is_picture(take_picture(page, "page-overview", of=section))


def test_a_plan_tried_out(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **LARGE)
    visit(page, "hcv")
    page.get_by_role("button", name="What if… plan 1").click()
    dialog = page.get_by_role("dialog", name="What if")
    expect(dialog.locator("[data-score]")).to_be_visible()
    assert is_picture(take_picture(page, "page-what-if", of=dialog))


def test_about_the_model(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **LARGE)
    visit(page, "hcv")
    page.get_by_role("button", name="About the model").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("row").last).to_be_visible()
    assert is_picture(take_picture(page, "page-about", of=dialog))


def test_a_sheet_for_the_person(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, viewport={"width": 720, "height": 500}, **STILL)
    visit(page, "mortgage")
    keep(page, 1).click()
    keep(page, 4).click()
    page.evaluate("print = () => {}")
    page.get_by_role("button", name="Print for the applicant").click()
    page.emulate_media(media="print")
    assert is_picture(take_picture(page, "page-sheet"))


def test_two_plans_compared(open_page: OpenPage, server: LiveServer, take_picture: TakePicture):
    page = open_page(server, **LARGE)
    visit(page, "hcv")
    keep(page, 1).click()
    keep(page, 5).click()
    expect(region(page, "Kept plans")).to_be_visible()
    expect(cards(page)).to_have_count(5)
    page.evaluate("document.getElementById('plans').scrollIntoView()")
    region(page, "Plans").evaluate("(section) => (section.scrollTop = 0)")
    assert is_picture(take_picture(page, "page-compare", of=region(page, "Plans")))
