"""The pictures of the documents: `make screenshots` takes them again."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect


def test_the_front_of_the_service(page: Page, take_picture: Callable[[Page, str], Path]):
    page.goto("/")
    expect(page.get_by_role("heading", name="Flipset")).to_be_visible()
    assert take_picture(page, "front").read_bytes().startswith(b"\x89PNG")
