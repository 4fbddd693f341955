"""The presses of a mouse that three people's tasks take are those of the table in docs/page.md."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import ROOT, LiveServer
from tests.web.support.visiting import (
    DEBT,
    SPOKEN,
    answer_to,
    example_of,
    expect_plans,
    keep,
    lock,
    open_model,
    region,
    rules,
    verdict,
    visit,
)
from tests.web.test_trying import REPORT

# Only a mouse presses with a detail: what a key presses has none.
COUNT = """
window.presses = 0;
addEventListener("click", (event) => (window.presses += event.isTrusted && event.detail > 0 ? 1 : 0), true);
"""

Task = Callable[[Page, LiveServer], None]


def enter_a_panel(page: Page, server: LiveServer) -> None:
    page.get_by_role("button", name="Paste values…").click()
    # The place for them has the focus.
    page.keyboard.insert_text(REPORT)
    page.get_by_role("button", name="Use these values").click()
    expect_plans(page, answer_to(server, "hcv", example_of(server, "hcv", "several-ways")))


def read_what_drives_it(page: Page, _: LiveServer) -> None:
    expect(verdict(page)).to_contain_text("No single value is enough: it takes AST and one of")


def lock_a_value(page: Page, _: LiveServer) -> None:
    lock(page, DEBT).click()
    expect(rules(page)).to_contain_text(SPOKEN[DEBT])


def refuse_a_change(page: Page, _: LiveServer) -> None:
    page.get_by_role("button", name="Not possible plan 1").click()
    page.get_by_role("button", name=re.compile("cannot change$")).first.click()
    expect(rules(page)).to_have_count(1)


def see_a_table(page: Page, _: LiveServer) -> None:
    page.get_by_role("button", name="Table", exact=True).click()
    expect(region(page, "Plans").get_by_role("table")).to_be_visible()


def keep_two(page: Page, _: LiveServer) -> None:
    keep(page, 1).click()
    keep(page, 2).click()
    expect(region(page, "Kept plans")).to_contain_text("Plan 2")


def print_the_sheet(page: Page, _: LiveServer) -> None:
    page.evaluate("print = () => {}")
    page.get_by_role("button", name="Print for the applicant").click()


def ask_another_version(page: Page, _: LiveServer) -> None:
    page.get_by_role("button", name="About the model").click()
    expect(page.get_by_role("row").filter(has_text="mortgage@2")).to_be_visible()


# By the beginning of a line of the table: the model, and the ways to do it, in the order in which the line counts them.
TASKS: dict[str, tuple[str, list[Task]]] = {
    "a hepatologist enters": ("hcv", [enter_a_panel]),
    "and reads": ("hcv", [read_what_drives_it]),
    "a loan officer rules out": ("mortgage", [lock_a_value, refuse_a_change]),
    "compares plans": ("mortgage", [see_a_table, keep_two]),
    "hands over": ("mortgage", [print_the_sheet]),
    "a data scientist asks": ("mortgage", [ask_another_version]),
}


def counted() -> dict[str, tuple[list[int], list[int]]]:
    """The numbers of the table: before, and now."""
    section = (ROOT / "docs/page.md").read_text().partition("## Clicks")[2].partition("Before:")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| a") or " | " in line]
    told = [cells for cells in lines if len(cells) == 3 and any(letter.isdigit() for letter in cells[1])]
    return {task.strip(): (numbers(before), numbers(now)) for task, before, now in told}


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\b\d+", text)]


def test_every_line_of_the_table_is_counted_and_at_most_half_of_what_it_was():
    table = counted()
    assert len(table) == len(TASKS)
    for task, (before, now) in table.items():
        assert max(before) <= 2 or max(now) <= max(before) / 2, task


@pytest.mark.parametrize("task", TASKS)
def test_tasks_take_as_many_presses_as_the_page_says(page: Page, server: LiveServer, task: str):
    model, ways = TASKS[task]
    told = next(now for line, (_, now) in counted().items() if line.startswith(task))
    assert len(told) == len(ways)
    page.add_init_script(COUNT)
    for way, most in zip(ways, told, strict=True):
        if way is enter_a_panel:
            open_model(page, model)
        else:
            visit(page, model)
        page.evaluate("window.presses = 0")
        way(page, server)
        assert page.evaluate("window.presses") == most
