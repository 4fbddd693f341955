"""What became of a plan goes to the records, where the service keeps some, and nowhere where it does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer, live_server
from tests.web.conftest import OpenPage
from tests.web.support.visiting import keep, region, visit


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder: Path = tmp_path_factory.mktemp("records")
    with live_server(records=f"sqlite:///{folder}/records.db", record_all="false") as running:
        yield running


def test_what_became_of_a_plan_is_recorded(open_page: OpenPage, recording: LiveServer):
    page = open_page(recording)
    asked: list[str] = []
    page.on("response", lambda response: asked.append(response.headers.get("flipset-record", "")))
    visit(page)
    keep(page, 1).click()
    keep(page, 3).click()
    # Nothing is recorded of what is only tried out.
    assert not any(asked)
    page.get_by_label("What became of plan 3").select_option(label="declined: too much effort")
    expect(region(page, "Plans")).to_contain_text("Recorded: plan 3 declined: too much effort.")
    page.get_by_label("What became of plan 1").select_option(label="chosen")
    expect(region(page, "Plans")).to_contain_text("Recorded: plan 1 chosen.")
    (record,) = filter(None, asked)
    with recording.client() as client:
        kept = client.get(f"/v1/records/{record}").json()["feedback"]
    said = [(one["plan"], one["outcome"], one["reason"]) for one in kept]
    assert sorted(said) == [(1, "accepted", None), (3, "declined", "too_costly")]
    # What was said stays said, though the table is drawn anew.
    keep(page, 2).click()
    expect(page.get_by_label("What became of plan 3")).to_have_value("declined too_costly")


def test_two_quick_choices_share_one_record(open_page: OpenPage, recording: LiveServer):
    page = open_page(recording)
    asked: list[str] = []
    page.on("response", lambda response: asked.append(response.headers.get("flipset-record", "")))
    visit(page)
    keep(page, 1).click()
    keep(page, 3).click()
    with page.expect_response("**/feedback"), page.expect_response("**/feedback"):
        page.evaluate(
            """() => {
              for (const [plan, outcome] of [[1, "accepted"], [3, "failed"]]) {
                const choice = document.querySelector(`[aria-label="What became of plan ${plan}"]`);
                choice.value = outcome;
                choice.dispatchEvent(new Event("change"));
              }
            }"""
        )
    expect(region(page, "Plans")).to_contain_text("Recorded: plan")
    assert len([record for record in asked if record]) == 1


def test_without_records_nothing_is_asked(page: Page):
    visit(page)
    keep(page, 1).click()
    expect(region(page, "Kept plans")).to_be_visible()
    expect(page.get_by_label("What became of plan 1")).to_have_count(0)
