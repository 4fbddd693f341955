"""What is taken away: a receipt, a command, a link, a sheet of paper; and what the address of the page never holds."""

import hashlib
import json
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from app import __version__
from tests.support.live_server import ROOT, LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.visiting import (
    DEBT,
    answer_to,
    await_the_end,
    cards,
    example,
    example_of,
    expect_plans,
    field,
    lock,
    open_model,
    open_options,
    paste,
    region,
    row,
    rules,
    visit,
)

# What differs between two answers to the same request.
OWN = {"elapsed_ms", "model_calls"}


def without_times(summary: dict) -> dict:
    return {name: value for name, value in summary.items() if name not in OWN}


def copied(page: Page, button: str) -> str:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=button).click()
    expect(region(page, "Share and print").get_by_role("status")).to_contain_text("Copied.")
    return page.evaluate("navigator.clipboard.readText()")


def test_the_receipt_holds_request_answer_and_versions(page: Page, server: LiveServer, tmp_path: Path):
    visit(page, "hcv")
    lock(page, "Albumin").click()
    await_the_end(page)
    expect(cards(page)).to_have_count(3)
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Download receipt").click()
    assert re.fullmatch(r"flipset-hcv-\d{4}-\d\d-\d\dT\d{6}\.json", downloaded.value.suggested_filename)
    downloaded.value.save_as(tmp_path / "receipt.json")
    receipt = json.loads((tmp_path / "receipt.json").read_text())
    request = {**example_of(server, "hcv", "several-ways"), "constraints": {"immutable": ["ALB"]}}
    assert {name: value for name, value in receipt["request"].items() if name != "limits"} == request
    assert receipt["path"] == "/v1/models/hcv/counterfactuals"
    answer = answer_to(server, "hcv", receipt["request"])
    assert receipt["start"] == answer["start"]
    assert receipt["counterfactuals"] == answer["counterfactuals"]
    assert without_times(receipt["summary"]) == without_times(answer["summary"])
    assert receipt["flipset_version"] == __version__
    assert receipt["start"]["model"]["version"] == "1.0.0"
    assert receipt["start"]["normal_ranges"]["version"] == "2026-11"
    assert server.logs(receipt["request_id"])


def test_the_command_that_is_copied_gives_the_same_answer(page: Page, server: LiveServer):
    visit(page)
    page.get_by_label("Formula 1").fill("pirat -> not (hirat or lvrat)")
    expect(cards(page)).to_have_count(2)
    await_the_end(page)
    command = copied(page, "Copy curl")
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    request = example_of(server, "mortgage", "several-ways")
    request = {**request, "constraints": {"formulas": ["pirat -> not (hirat or lvrat)"]}}
    answer = answer_to(server, "mortgage", request)
    assert [line for line in lines if line["type"] == "counterfactual"] == answer["counterfactuals"]
    expect_plans(page, answer)


def test_a_quote_in_a_command_stays_a_quote(page: Page, server: LiveServer):
    """What is in a request may hold any letter; a shell takes the command as it was meant."""
    visit(page)
    instance = example_of(server, "mortgage", "several-ways")["instance"]
    paste(page, json.dumps({"instance": instance, "context": {"note": 'it\'s "so" $HOME `x` \\'}}))
    await_the_end(page)
    told = subprocess.run(["bash", "-c", copied(page, "Copy curl")], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout.splitlines()[0])["unused_context"] == ["note"]


def test_a_link_with_values_opens_the_same_plans_elsewhere(page: Page, server: LiveServer, open_page: OpenPage):
    visit(page, "hcv")
    field(page, "Albumin").fill("30")
    lock(page, "Cholesterol, total").click()
    request = example_of(server, "hcv", "several-ways")
    request["instance"]["ALB"] = 30
    request["constraints"] = {"immutable": ["CHOL"]}
    answer = answer_to(server, "hcv", request)
    expect_plans(page, answer)
    await_the_end(page)
    link = copied(page, "Copy link")
    other = open_page(server)
    other.goto(link)
    expect_plans(other, answer)
    expect(field(other, "Albumin")).to_have_value("30")
    expect(other.get_by_label("sex", exact=True).locator("option:checked")).to_have_text("female")
    # Once opened, the address forgets them again.
    assert parse_qs(urlsplit(other.url).fragment).keys() == {"model", "question"}


def test_without_a_clipboard_the_text_is_there_to_be_copied(page: Page):
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))")
    visit(page)
    page.get_by_role("button", name="Copy curl").click()
    text = page.get_by_label("To copy")
    expect(text).to_have_value(re.compile(r"^curl -s 'http://127\.0\.0\.1:\d+/v1/models/mortgage/counterfactuals'"))
    assert text.evaluate("(field) => field.selectionEnd - field.selectionStart === field.value.length")


def test_the_address_holds_the_question_and_nothing_of_the_person(page: Page, server: LiveServer):
    visit(page, "hcv")
    lock(page, "Albumin").click()
    page.get_by_label("sex", exact=True).select_option(label="male")
    page.get_by_label("age", exact=True).fill("71")
    field(page, "Creatinine").fill("93.75")
    open_options(page)
    page.get_by_label("Threshold").fill("0.62")
    expect(page.get_by_text("healthy needs a score of at least 0.62")).to_be_visible()
    await_the_end(page)
    fragment = parse_qs(urlsplit(page.url).fragment)
    assert fragment.keys() == {"model", "question"}
    assert json.loads(fragment["question"][0]) == {"constraints": {"immutable": ["ALB"]}, "target": {"threshold": 0.62}}
    stored = page.evaluate(
        "async () => [localStorage.length, sessionStorage.length, document.cookie, "
        "(await indexedDB.databases()).length, JSON.stringify(history.state)]"
    )
    assert stored == [0, 0, "", 0, "null"]


def test_a_reload_finds_model_example_rules_and_order_again(page: Page, server: LiveServer):
    visit(page)
    lock(page, "Loan to property value").click()
    page.get_by_label("Formula 1").fill("pirat")
    page.get_by_label("Sort").select_option(label="Best score first")
    request = example_of(server, "mortgage", "several-ways")
    answer = answer_to(server, "mortgage", {**request, "constraints": {"immutable": ["lvrat"], "formulas": ["pirat"]}})
    best = sorted(answer["counterfactuals"], key=lambda plan: -plan["prediction"]["score"])
    expect_plans(page, answer, [plan["rank"] for plan in best])
    page.reload()
    expect_plans(page, answer, [plan["rank"] for plan in best])
    expect(example(page, "several ways")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Model", exact=True).locator("option:checked")).to_contain_text("Mortgage")
    expect(page.get_by_label("Formula 1")).to_have_value("pirat")
    expect(rules(page)).to_have_count(2)
    expect(field(page, DEBT)).to_have_value("0.42")


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("model=nothing&example=nobody", "The link asks for the model “nothing”, which this service does not have."),
        ("model=mortgage&example=nobody", "The link asks for the example “nobody”, which this model does not have."),
        ("model=mortgage&question=%7B", "Part of the link cannot be read and was left out: the question."),
        (
            "model=mortgage&question=%5B5%5D&person=%5B%5D",
            "Part of the link cannot be read and was left out: the question and the person.",
        ),
        ("model=mortgage&person=%7B%22instance%22%3A", "Part of the link cannot be read and was left out: the person."),
        (
            "model=mortgage&person=%7B%22instance%22%3Anull%7D",
            "The link has a mistake and was not used. “instance” must be an object of values by feature.",
        ),
    ],
)
def test_an_address_that_makes_no_sense_opens_an_empty_page_and_says_so(page: Page, fragment: str, said: str):
    page.goto(f"/#{fragment}")
    expect(page.get_by_role("alert").filter(visible=True)).to_have_text(said)
    expect(example(page, "several ways")).to_be_visible()
    expect(page.get_by_text("paste them, or choose an example.")).to_be_visible()


@pytest.mark.parametrize("fragment", ["", "model=mortgage", "model=mortgage&example=several-ways", "%"])
def test_of_an_address_that_makes_sense_nothing_is_said(page: Page, fragment: str):
    page.goto(f"/#{fragment}")
    expect(example(page, "several ways")).to_be_visible()
    expect(page.get_by_role("alert").filter(visible=True)).to_have_count(0)


@pytest.mark.parametrize(
    ("model", "person", "kept"),
    [("thyroid", "several ways", "Plan 3"), ("thyroid", "no way out", "No plan")],
)
def test_on_paper_there_is_one_clean_page(page: Page, model: str, person: str, kept: str):
    visit(page, model, person)
    page.emulate_media(media="print")
    for name in ("Values", "Finding", "Plans"):
        expect(region(page, name)).to_be_visible()
    expect(page.get_by_text("What the model would say, not what will happen.")).to_be_visible()
    expect(page.get_by_text(f"Model {model} 1.0.0")).to_be_visible()
    expect(region(page, "Plans")).to_contain_text(kept)
    pdf = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1


@pytest.mark.parametrize("model", ["hcv", "mortgage", "synthetic", "thyroid"])
def test_every_shipped_example_fits_one_sheet(page: Page, server: LiveServer, model: str):
    with server.client() as client:
        names = client.get(f"/v1/models/{model}").json()["examples"]
    for name in names:
        visit(page, model, name.replace("-", " "))
        page.emulate_media(media="print")
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 1, name
        page.emulate_media(media="screen")


def test_paper_names_what_chose_the_ranges_and_which_answer_it_is(page: Page, server: LiveServer):
    with page.expect_response("**/counterfactuals") as answered:
        visit(page, "hcv")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    note = page.get_by_text("Context: sex female, age 39.")
    expect(note).to_have_text(
        re.compile(
            r"^Context: sex female, age 39\. Asked \d+ [A-Z][a-z]+ 20\d\d at \d\d:\d\d:\d\d UTC\. "
            rf"Request {answered.value.headers['x-request-id']}\.$"
        )
    )
    expect(note).to_be_visible()
    ranges = hashlib.sha256((ROOT / "normal_ranges/hcv.toml").read_bytes()).hexdigest()[:12]
    said = f"Model hcv 1.0.0 (sha256 d0492cc2b969), normal ranges hcv 2026-11 (sha256 {ranges})."
    expect(page.get_by_text(said)).to_be_visible()


def test_paper_has_the_range_and_the_target_of_each_value_in_words(page: Page):
    visit(page, "hcv")
    page.emulate_media(media="print")
    for title, said in {
        "Aspartate aminotransferase": "reference range 10 to 35 U/L (sex female); would move to 22.5 U/L",
        "Protein, total": "reference range 66 to 83 g/L",
    }.items():
        expect(row(page, title).get_by_text(said, exact=True)).to_be_visible()


def test_paper_has_the_context_also_of_who_could_not_be_asked_about(page: Page):
    visit(page, "hcv")
    field(page, "Albumin").fill("")
    expect(page.get_by_text("Albumin: is still missing")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.get_by_text("Context: sex female, age 39.")).to_be_visible()


def test_paper_does_not_show_where_the_focus_was(page: Page):
    visit(page, "hcv")
    field(page, "Albumin").focus()
    expect(field(page, "Albumin")).not_to_have_css("outline-style", "none")
    page.emulate_media(media="print")
    expect(field(page, "Albumin")).to_have_css("outline-style", "none")


def test_paper_names_what_to_give_up(page: Page):
    """On the screen that stands on a button."""
    visit(page, "mortgage", "no way out")
    said = page.get_by_role("paragraph").filter(has_text=re.compile("^Unlock public record of bad credit.$"))
    expect(said).to_have_count(0)
    page.emulate_media(media="print")
    expect(said).to_be_visible()


def test_paper_has_nothing_to_press(page: Page):
    visit(page)
    page.emulate_media(media="print")
    expect(page.get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("link")).to_have_count(0)


def test_of_very_many_plans_paper_has_a_hundred_and_says_so(open_page: OpenPage, made_up: LiveServer):
    page = open_page(made_up)
    open_model(page, "wide")
    example(page, "all low").click()
    await_the_end(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(cards(page)).to_have_count(100)
    expect(page.get_by_text("6,088 plans of 6,188 not printed; the receipt has all.")).to_be_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.get_by_text("left out on paper")).to_be_hidden()
