"""What somebody pastes: JSON or CSV, as it comes out of other programs; and what is wrong with it, in words."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer, live_server
from tests.support.loans import PERSON, write_loans
from tests.web.conftest import OpenPage
from tests.web.support.browser import Watch
from tests.web.support.visiting import (
    DEBT,
    answer_to,
    example_of,
    expect_plans,
    field,
    keep,
    lock,
    open_model,
    open_options,
    paste,
    region,
    rules,
    verdict,
    visit,
)

NAMES = "pirat,hirat,lvrat,chist,mhist,phist,unemp,selfemp,condomin,hschool"
VALUES = "0.42,0.34,0.93,5,2,0,3.1,0,1,1"
PANEL = {
    "Albumin": "31,3",
    "ALP": "106",
    "alt": "45",
    "AST": "75",
    "BIL": "32,4",
    "CHE": "8,4",
    "Cholesterol, total": "3,2",
    "CREA": "92",
    "GGT": "90",
    "PROT": "81,7",
    "sex": "female",
    "age": "39",
}


ROWS = {
    "with a header": f"{NAMES}\n{VALUES}\n",
    "from Windows": f"{NAMES}\r\n{VALUES}\r\n",
    "without a header": VALUES,
    "with a title": f'"{DEBT}",{NAMES.partition(",")[2]}\n{VALUES}',
    "with tabs": f"{NAMES}\n{VALUES}".replace(",", "\t"),
    "with semicolons": f"{NAMES}\n{VALUES}".replace(",", ";").replace(".", ","),
    "with semicolons, without a header": VALUES.replace(",", ";").replace(".", ","),
}
FLAWS = {
    "": "Paste something first.",
    "{": "This is not valid JSON",
    "[]": "Paste one object: a request, or values by name.",
    '{"instance": 5}': "“instance” must be an object of values by feature.",
    '{"pirat": 0.42, "income": 3}': "This model does not know income. It knows pirat, hirat,",
    "0.42": "The row has 1 value, and 10 were expected: pirat, hirat,",
    "pirat,hirat,pirat\n0.42,0.34,0.5": "pirat is there twice: leave the value that you want.",
    "0.42,0.34": "The row has 2 values, and 10 were expected: pirat, hirat,",
    NAMES: "There is a header, but no row of values below it.",
    f"{NAMES}\n{VALUES.replace('0.93', 'much')}": "lvrat: write a number such as 31.5.",
}


def test_a_row_of_a_csv_file_is_understood(page: Page, server: LiveServer):
    open_model(page, "mortgage")
    answer = answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways"))
    for text in ROWS.values():
        expect(paste(page, text)).to_be_hidden()
        expect(field(page, DEBT)).to_have_value("0.42")
        expect_plans(page, answer)
        page.get_by_role("button", name="Clear").click()
        expect(field(page, DEBT)).to_have_value("")


def test_a_csv_file_may_have_the_context_and_more_than_is_needed(page: Page, server: LiveServer):
    open_model(page, "hcv")
    header = ";".join(["Patient", *PANEL])
    row = ";".join(["17", *PANEL.values()])
    expect(paste(page, f"{header}\n{row}\n{row}\n")).to_be_hidden()
    expect(page.get_by_role("alert").first).to_have_text(
        "There are 2 rows; the page took the first. Not used: Patient."
    )
    expect(page.get_by_label("sex", exact=True).locator("option:checked")).to_have_text("female")
    expect(page.get_by_label("age", exact=True)).to_have_value("39")
    expect_plans(page, answer_to(server, "hcv", example_of(server, "hcv", "several-ways")))


@pytest.mark.parametrize("said", ["x", "woman"])
def test_a_context_that_no_range_knows_is_told_and_not_asked_about(page: Page, server: LiveServer, said: str):
    """The ranges without a sex would hold then, and nobody would notice."""
    open_model(page, "hcv")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    paste(page, f"{';'.join(PANEL)}\n{';'.join({**PANEL, 'sex': said}.values())}")
    sex = page.get_by_label("sex", exact=True)
    expect(sex).to_have_attribute("aria-invalid", "true")
    expect(sex).to_have_accessible_description(f"“{said}” is not a value that a range knows: female, male")
    expect(region(page, "Plans")).to_contain_text("Some values are missing or need correcting.")
    assert not [url for url in asked if url.endswith("/counterfactuals")]
    sex.select_option(label="female")
    expect(sex).to_have_attribute("aria-invalid", "false")
    expect_plans(page, answer_to(server, "hcv", example_of(server, "hcv", "several-ways")))
    expect(sex.locator("option")).to_have_text(["not given", "female", "male"])


def test_ranges_that_ask_for_no_sex_take_any(page: Page, server: LiveServer):
    request = {**example_of(server, "hcv", "several-ways"), "context": {"sex": "f"}, "registry": "hcv-paper-tight"}
    open_model(page, "hcv")
    paste(page, json.dumps(request))
    expect_plans(page, answer_to(server, "hcv", request))
    expect(page.get_by_text("No range here depends on sex.")).to_be_visible()
    open_options(page)
    page.get_by_label("Reference ranges").select_option(label="hcv")
    expect(page.get_by_label("sex", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(verdict(page)).to_contain_text("Previous answer, for other values or rules:")


def test_a_request_in_json_brings_its_rules(page: Page, server: LiveServer):
    open_model(page, "mortgage")
    request = example_of(server, "mortgage", "several-ways")
    request = {**request, "constraints": {"immutable": ["pirat"]}, "target": {"threshold": 0.7}}
    expect(paste(page, json.dumps(request, indent=2))).to_be_hidden()
    expect_plans(page, answer_to(server, "mortgage", request))
    expect(lock(page, DEBT)).to_have_attribute("aria-pressed", "true")


def test_an_instance_in_json_leaves_the_rules_that_were_set(page: Page, server: LiveServer):
    visit(page, "mortgage", "exactly one way")
    lock(page, "Housing expense to income").click()
    instance = example_of(server, "mortgage", "several-ways")["instance"]
    expect(paste(page, json.dumps(instance))).to_be_hidden()
    answer = answer_to(server, "mortgage", {"instance": instance, "constraints": {"immutable": ["hirat"]}})
    expect_plans(page, answer)
    expect(rules(page)).to_have_count(1)


def test_what_is_wrong_with_a_paste_is_told(page: Page):
    open_model(page, "mortgage")
    for text, said in FLAWS.items():
        dialog = paste(page, text)
        expect(dialog.get_by_role("alert")).to_contain_text(said)
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_be_hidden()
    expect(field(page, DEBT)).to_have_value("")


def test_of_several_people_the_first_is_taken_and_that_is_told(page: Page):
    open_model(page, "mortgage")
    told = page.get_by_role("alert").first
    for text, said in {
        "\n".join([NAMES, VALUES, VALUES, VALUES]): "There are 3 rows; the page took the first.",
        f"{VALUES}\n{VALUES}": "There are 2 rows; the page took the first.",
        '[{"pirat": 0.42}, {"pirat": 0.5}]': "The list has 2 entries; the page took the first.",
    }.items():
        paste(page, text)
        expect(told).to_have_text(said)
        expect(field(page, DEBT)).to_have_value("0.42")
    paste(page, VALUES)
    expect(told).to_be_hidden()


def test_values_that_are_not_pasted_are_named(page: Page):
    open_model(page, "mortgage")
    paste(page, '{"pirat": 0.42}')
    expect(field(page, DEBT)).to_have_value("0.42")
    expect(page.get_by_text("is still missing")).to_have_count(9)


def test_categories_and_missing_values_are_read_from_a_row(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "loans")
    expect(paste(page, "debt,late,home,years\n48,,rents,1")).to_be_hidden()
    expect_plans(page, answer_to(made_up, "loans", example_of(made_up, "loans", "not-known")))
    dialog = paste(page, "debt,late,home,years\n48,,lives,1")
    expect(dialog.get_by_role("alert")).to_have_text("home: must be one of rents, owns, other.")


def test_what_the_service_refuses_of_a_paste_is_told_at_the_field(page: Page, watch: Watch, server: LiveServer):
    watch.expect("the server responded with a status of 422")
    open_model(page, "mortgage")
    instance = example_of(server, "mortgage", "several-ways")["instance"]
    paste(page, json.dumps({**instance, "pirat": "half"}))
    expect(field(page, DEBT)).to_have_attribute("aria-invalid", "true")
    expect(field(page, DEBT)).to_have_accessible_description(re.compile("must be a number, not text"))
    expect(region(page, "Plans")).to_contain_text("See the marked fields.")


def test_a_fact_that_the_ranges_cannot_do_without_is_marked_at_its_field(
    open_page: OpenPage, watch: Watch, tmp_path: Path
):
    watch.expect("the server responded with a status of 422")
    write_loans(tmp_path)
    registry = tmp_path / "ranges/loans.toml"
    by_sex = '{ when = { sex = "female" }, high = 36.5 }, { when = { sex = "male" }, high = 40 }'
    registry.write_text(
        registry.read_text().replace('{ when = { home = "owns" }, high = 40 }, { high = 36.5 }', by_sex)
    )
    with live_server(tmp_path / "models", tmp_path / "ranges") as running:
        page = open_page(running)
        open_model(page, "loans")
        paste(page, json.dumps({"instance": PERSON}))
        sex = page.get_by_label("sex", exact=True)
        expect(sex).to_have_attribute("aria-invalid", "true")
        expect(sex).to_have_accessible_description("is needed to choose the normal range of debt")
        sex.select_option(label="male")
        expect(sex).to_have_attribute("aria-invalid", "false")


def test_values_that_were_cleared_or_pasted_over_come_back(page: Page, server: LiveServer):
    visit(page)
    field(page, DEBT).fill("0.43")
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "pirat": 0.43}
    answer = answer_to(server, "mortgage", {"instance": instance})
    expect_plans(page, answer)
    back = page.get_by_role("button", name="Bring back the values")
    expect(back).to_be_hidden()
    keep(page, 2).click()
    # Twice, as a double click would.
    page.get_by_role("button", name="Clear").dblclick()
    expect(field(page, DEBT)).to_have_value("")
    back.click()
    expect(field(page, DEBT)).to_have_value("0.43")
    expect_plans(page, answer)
    expect(region(page, "Kept plans")).to_contain_text("Plan 2")
    expect(page.get_by_role("button", name="Clear")).to_be_focused()
    paste(page, VALUES)
    expect(field(page, DEBT)).to_have_value("0.42")
    back.click()
    expect_plans(page, answer)


def test_nobody_comes_back_once_another_person_is_entered(page: Page):
    visit(page)
    page.get_by_role("button", name="Clear").click()
    field(page, DEBT).fill("0.4")
    expect(page.get_by_role("button", name="Bring back the values")).to_be_hidden()
