"""What if: sliders on a copy; values as reports write them; cases that are kept only if asked."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.live_server import LiveServer
from tests.web.support.accessibility import findings
from tests.web.support.visiting import (
    CREDIT,
    DEBT,
    answer_to,
    await_the_end,
    cards,
    choose_model,
    example,
    example_of,
    expect_plans,
    field,
    keep,
    lock,
    open_model,
    paste,
    region,
    row,
    visit,
)

REPORT = """Albumin 31.3 g/L
ALP: 106
ALT\t45 U/L
AST=75
total bilirubin 32.4
CHE 8.4
CHOL 3.2
CREA 92
gamma-GT 90 U/L
PROT 81.7
sex F
age 39
Laboratory Nord"""

DROPPED = """([text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], "receipt.json"));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
}"""


def test_a_slider_tries_a_copy_and_leaves_the_person_alone(page: Page, server: LiveServer):
    visit(page, "hcv", "exactly one way")
    before = example_of(server, "hcv", "exactly-one-way")["instance"]
    page.get_by_role("region", name="Values", exact=True).get_by_role("button", name="What if…").click()
    dialog = page.get_by_role("dialog", name="What if")
    expect(dialog.locator("[data-score]")).to_have_text("0.033")
    slider = dialog.get_by_role("slider", name="Aspartate aminotransferase")
    slider.fill("20")
    with server.client() as client:
        body = {"instance": {**before, "AST": float(slider.input_value())}}
        judged = client.post("/v1/models/hcv/predictions", json=body).json()["prediction"]
    expect(dialog.locator("[data-score]")).to_have_text(f"{judged['score']:.3f}")
    expect(dialog.get_by_role("status")).to_contain_text("healthy")
    assert findings(page) == []
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.locator("[data-score]")).to_have_text("0.033")
    slider.press("ArrowLeft")
    dialog.get_by_role("button", name="Back to the values").click()
    expect(dialog.locator("[data-score]")).to_have_text("0.033")
    dialog.get_by_role("button", name="Close").click()
    expect(field(page, "Aspartate aminotransferase")).to_have_value(str(before["AST"]))


def test_a_copied_plan_starts_where_the_plan_leads(page: Page, server: LiveServer):
    visit(page)
    page.get_by_role("button", name="What if… plan 3").click()
    score = answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways"))["counterfactuals"][2]
    dialog = page.get_by_role("dialog", name="What if: a copy of plan 3")
    expect(dialog.locator("[data-score]")).to_have_text(f"{score['prediction']['score']:.3f}")


def test_a_pasted_report_is_read_line_by_line(page: Page, server: LiveServer):
    open_model(page, "hcv")
    expect(paste(page, REPORT)).to_be_hidden()
    expect_plans(page, answer_to(server, "hcv", example_of(server, "hcv", "several-ways")))
    expect(page.get_by_role("alert").first).to_have_text("Not used: Laboratory Nord.")


def test_ranges_and_marks_of_a_report_are_left_out(page: Page, server: LiveServer):
    report = REPORT.replace("31.3 g/L", "31.3 g/L (35-53) L").replace("45 U/L", "45 U/L\t10 - 35\tH")
    report = report.replace("AST=75", "AST 75 < 33 H").replace("90 U/L", "90 U/L HH").replace("39", "39 years")
    open_model(page, "hcv")
    expect(paste(page, report)).to_be_hidden()
    expect_plans(page, answer_to(server, "hcv", example_of(server, "hcv", "several-ways")))
    told = page.get_by_role("alert").first
    expect(told).to_have_text("Not used: Laboratory Nord. Ranges and marks of the report were not used.")


@pytest.mark.parametrize(
    ("line", "flaw"),
    [
        ("ALT 88 U/L", "ALT is there twice: leave the value that you want."),
        ("ALP 3 L", "ALP: must be in U/L, not L."),
        ("ALP 10 - 35", "ALP: write a number such as 31.5."),
        ("ALP 45 88", "ALP: write a number such as 31.5."),
        ("ALP <5 10-35", "ALP: “<5” is a limit, not a value: write the number to use, such as 5."),
    ],
)
def test_what_could_be_another_value_is_not_taken_for_a_range(page: Page, line: str, flaw: str):
    open_model(page, "hcv")
    dialog = paste(page, f"{line}\n{REPORT.replace('ALP: 106', '') if line[:3] == 'ALP' else REPORT}")
    expect(dialog.get_by_role("alert")).to_have_text(flaw)


def test_what_a_comma_means_is_asked(page: Page):
    visit(page, "hcv")
    alanine = field(page, "Alanine aminotransferase")
    alanine.fill("1,234")
    expect(row(page, "Alanine aminotransferase")).to_contain_text("can mean two things: write 1234 or 1.234")
    for written in ("1,234", "1,234 U/L"):
        dialog = paste(page, REPORT.replace("45 U/L", written))
        asked = f"ALT: “{written}” can mean two things: write 1234 or 1.234."
        expect(dialog.get_by_role("alert")).to_have_text(asked)
        page.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("written", "meant"), [("1,234,567", 1234567), ("1,234.5", 1234.5), ("0,420", 0.42), ("12,5 U/L", 12.5)]
)
def test_a_comma_that_can_mean_one_thing_is_understood(page: Page, written: str, meant: float):
    open_model(page, "hcv")
    paste(page, REPORT.replace("45 U/L", written))
    expect(field(page, "Alanine aminotransferase")).to_have_value(f"{meant:g}" if meant < 10_000 else str(meant))


def test_values_that_cannot_be_asked_about_are_not_tried(page: Page, server: LiveServer):
    """A plan of the earlier answer still is."""
    visit(page)
    field(page, DEBT).fill("much")
    expect(region(page, "Values").get_by_role("button", name="What if…")).to_be_hidden()
    page.get_by_role("button", name="What if… plan 3").click()
    score = answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways"))["counterfactuals"][2]
    dialog = page.get_by_role("dialog", name="What if: a copy of plan 3")
    expect(dialog.locator("[data-score]")).to_have_text(f"{score['prediction']['score']:.3f}")


def test_a_slider_without_a_stretch_of_green_gets_one_once_it_is_tried(page: Page, server: LiveServer):
    """Nothing green would say that nothing is favourable."""
    visit(page)
    page.get_by_role("button", name="What if… plan 3").click()
    dialog = page.get_by_role("dialog", name="What if")
    history = dialog.locator("label").filter(has_text="Mortgage payment history")
    expect(history.locator(".track")).to_be_hidden()
    history.get_by_role("slider").focus()
    expect(history.locator(".track")).to_be_visible()
    plan = answer_to(server, "mortgage", example_of(server, "mortgage", "several-ways"))["counterfactuals"][2]
    with server.client() as client:
        lowest = int(float(history.get_by_role("slider").get_attribute("min") or 0) + 0.5)
        body = {"instance": {**plan["instance"], "mhist": lowest}}
        assert client.post("/v1/models/mortgage/predictions", json=body).json()["prediction"]["favourable"]
    green = history.locator(".track").evaluate("(track) => track.style.background")
    assert green.startswith("linear-gradient(90deg, var(--good) 0")


def test_an_implausible_value_is_asked_about_and_sent(page: Page):
    visit(page, "hcv")
    field(page, "Albumin").fill("313")
    expect(row(page, "Albumin")).to_contain_text("is outside of what is plausible, 10 to 90 g/L. Check it.")
    await_the_end(page)


def test_enter_leads_to_the_next_value_and_ranges_follow_the_person(page: Page):
    open_model(page, "hcv")
    field(page, "Albumin").focus()
    page.keyboard.type("31.3")
    page.keyboard.press("Enter")
    expect(field(page, "Alkaline phosphatase")).to_be_focused()
    expect(row(page, "Creatinine")).not_to_contain_text("sex")
    page.get_by_label("sex", exact=True).select_option(label="female")
    expect(row(page, "Creatinine")).to_contain_text("reference range 41 to 88 umol/L (sex female)")


def test_a_value_of_two_is_yes_or_no(page: Page, server: LiveServer):
    visit(page)
    field(page, "Self-employed").select_option(label="yes")
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "selfemp": 1}
    expect_plans(page, answer_to(server, "mortgage", {"instance": instance}))


def test_a_case_is_saved_if_asked_and_opened_again(page: Page, server: LiveServer):
    visit(page)
    field(page, DEBT).fill("0.43")
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "pirat": 0.43}
    answer = answer_to(server, "mortgage", {"instance": instance})
    expect_plans(page, answer)
    assert page.evaluate("localStorage.length") == 0
    keep(page, 2).click()
    page.get_by_role("button", name="Cases…").click()
    dialog = page.get_by_role("dialog", name="Cases")
    dialog.get_by_label("Reference").fill("A-17")
    dialog.get_by_role("button", name="Save this case here").click()
    expect(dialog.get_by_role("button", name="Open A-17")).to_be_visible()
    assert findings(page) == []
    page.goto("about:blank")
    open_model(page, "hcv")
    page.get_by_role("button", name="Cases…").click()
    dialog.get_by_role("button", name="Open A-17").click()
    expect_plans(page, answer)
    expect(region(page, "Kept plans")).to_contain_text("Plan 2")
    page.get_by_role("button", name="Cases…").click()
    dialog.get_by_role("button", name="Delete A-17").click()
    assert page.evaluate("localStorage.length") == 0


def test_a_case_that_is_opened_again_calls_its_plans_by_their_names(page: Page):
    """Rules left one plan, the fourth of the first answer: it is no other plan's name now."""
    visit(page)
    lock(page, DEBT).click()
    expect(cards(page)).to_have_count(1)
    keep(page, 4).click()
    save_case(page)
    page.goto("about:blank")
    open_model(page, "mortgage")
    page.get_by_role("button", name="Cases…").click()
    page.get_by_role("button", name="Open A-17").click()
    expect(cards(page)).to_have_count(1)
    expect(cards(page).get_by_role("heading")).to_have_text("Plan 4")
    lock(page, DEBT).click()
    expect(cards(page)).to_have_count(4)
    names = cards(page).get_by_role("heading").all_inner_texts()
    assert sorted(names) == ["Plan 4", "Plan 5", "Plan 6", "Plan 7"]


def test_a_case_that_could_not_be_saved_is_not_called_saved(page: Page):
    visit(page)
    page.evaluate("void (Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') })")
    save_case(page)
    dialog = page.get_by_role("dialog", name="Cases")
    expect(dialog.get_by_role("alert")).to_contain_text("Not saved")
    expect(dialog.get_by_role("button", name="Open A-17")).to_have_count(0)


def save_case(page: Page) -> None:
    page.get_by_role("button", name="Cases…").click()
    dialog = page.get_by_role("dialog", name="Cases")
    dialog.get_by_label("Reference").fill("A-17")
    dialog.get_by_role("button", name="Save this case here").click()


def test_entered_values_are_not_lost_without_a_question(page: Page):
    visit(page)
    field(page, CREDIT).fill("6")
    await_the_end(page)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    choose_model(page, "Hypothyroidism from four hormone values")
    expect(field(page, CREDIT)).to_have_value("6")
    assert asked == ["confirm"]
    example(page, "no way out").click()
    expect(field(page, CREDIT)).to_have_value("6")
    assert asked == ["confirm", "confirm"]
    page.evaluate("location.reload()")
    expect(field(page, CREDIT)).to_have_value("6")
    assert asked == ["confirm", "confirm", "beforeunload"]


def test_a_receipt_opens_its_case(page: Page, server: LiveServer, tmp_path: Path):
    visit(page, "hcv")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download receipt").click()
    file = tmp_path / "receipt.json"
    saved.value.save_as(file)
    open_model(page, "mortgage")
    page.get_by_role("button", name="Cases…").click()
    page.get_by_role("dialog", name="Cases").get_by_label("Open a receipt").set_input_files(file)
    expect_plans(page, answer_to(server, "hcv", json.loads(file.read_text())["request"]))
    page.evaluate(DROPPED, ["{}"])
    expect(page.get_by_role("alert").first).to_have_text("This file is not a receipt of Flipset.")
    page.evaluate(DROPPED, [file.read_text()])
    expect(cards(page)).to_have_count(5)


def sheet_of(page: Page) -> Locator:
    page.evaluate("print = () => {}")
    page.get_by_role("button", name="Print for the applicant").click()
    page.emulate_media(media="print")
    return page.get_by_role("region", name="Sheet for the person")


def test_a_kept_plan_starts_from_the_values_as_they_are_now(page: Page, server: LiveServer):
    visit(page)
    keep(page, 1).click()
    field(page, DEBT).fill("0.43")
    instance = {**example_of(server, "mortgage", "several-ways")["instance"], "pirat": 0.43}
    answer = answer_to(server, "mortgage", {"instance": instance})
    expect_plans(page, answer)
    expect_plans(page, answer)
    expect(sheet_of(page)).to_contain_text(f"Plan 1. {answer['counterfactuals'][0]['sentence']}")


def test_a_sheet_says_which_plan_is_from_an_earlier_answer(page: Page):
    visit(page)
    keep(page, 1).click()
    lock(page, DEBT).click()
    expect(cards(page)).to_have_count(1)
    said = "0.28. From an earlier answer; the present one does not list it."
    expect(sheet_of(page)).to_contain_text(said)


def test_nothing_that_was_kept_of_one_person_is_handed_to_the_next(page: Page, server: LiveServer):
    visit(page)
    keep(page, 1).click()
    page.get_by_role("button", name="Clear").click()
    for name, value in example_of(server, "mortgage", "exactly-one-way")["instance"].items():
        place = page.locator(f'[data-feature="{name}"] .entry > *')
        if place.evaluate("(element) => element.tagName") == "SELECT":
            place.select_option(str(value))
        else:
            place.fill(str(value))
    await_the_end(page)
    expect(page.get_by_role("heading", name="Kept plan")).to_be_hidden()
    expect(sheet_of(page)).not_to_contain_text("The plans we chose")


@pytest.mark.parametrize("sheet", ["person", None])
def test_a_sheet_is_one_page(page: Page, sheet: str | None):
    visit(page, "hcv")
    keep(page, 4).click()
    page.evaluate("print = () => {}")
    if sheet:
        page.get_by_role("button", name="Print for the patient").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    if sheet:
        told = page.get_by_role("region", name="Sheet for the person")
        expect(told).to_contain_text("Plan 4. Lower AST from 75 to 22.5 U/L and lower gamma-GT from 90 to 23 U/L.")
        expect(told).to_contain_text("4 other plans are not on this sheet")
        expect(told).to_contain_text("Model hcv 1.0.0")
        expect(region(page, "Values")).to_be_hidden()
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1


def test_the_model_tells_about_itself_and_its_versions(page: Page, server: LiveServer):
    visit(page, "hcv")
    page.get_by_role("button", name="About the model").click()
    dialog = page.get_by_role("dialog", name="Hepatitis C from a blood panel")
    expect(dialog).to_contain_text("Test accuracy96.8%")
    expect(dialog).to_contain_text("Typeneural network")
    expect(dialog).to_contain_text("Of these, with a plan, ranges hcv-paper75.3%")
    other = answer_to(server, "hcv@2", {**example_of(server, "hcv", "several-ways"), "registry": "hcv"})
    line = dialog.get_by_role("row").filter(has_text="hcv@2, ranges hcv")
    expect(line).to_contain_text(f"{other['start']['prediction']['score']:.3f}")
    expect(line).to_contain_text(f"{len(other['counterfactuals'])} plan")
    assert findings(page) == []
