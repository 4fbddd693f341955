"""What a doctor and an applicant read: front-ends made up for the documents, filled with what the service answers."""

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import expect

from tests.support.live_server import ROOT, LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.browser import STILL
from tests.web.test_screenshots import is_picture

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; padding: 28px; color: #1b1f24; background: #fff }
h1 { font-size: 20px; margin: 0 0 4px } h2 { font-size: 16px; margin: 0 0 8px } p { margin: 0 0 10px }
main { display: grid; grid-template-columns: 280px 1fr; gap: 28px; margin-top: 18px }
table { border-collapse: collapse; width: 100% } th { font-weight: 400; text-align: left }
td, th { padding: 3px 0; border-bottom: 1px solid #d8dee4 } td { text-align: right }
section { border: 1px solid #d8dee4; border-left: 5px solid #0b5cad; border-radius: 6px; padding: 16px 20px }
article { max-width: 640px; border: 1px solid #d8dee4; border-radius: 6px; padding: 28px 36px }
small { color: #57606a }
"""
SIZE = {"viewport": {"width": 1000, "height": 700}, **STILL}


def page_of(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def chart(asked: dict[str, Any], card: dict[str, Any]) -> str:
    """A chart, and the card beside it as CDS Hooks wants it shown: summary, detail, source."""
    values = [entry["resource"] for entry in asked["prefetch"]["observations"]["entry"]]
    rows = [
        f"<tr><th scope=row>{escape(each['id'].upper())}</th><td>{each['valueQuantity']['value']} "
        f"{escape(each['valueQuantity']['code'])}</td></tr>"
        for each in values
    ]
    said = f"<h2>{escape(card['summary'])}</h2>{paragraphs(card['detail'].split(chr(10) * 2))}"
    source = f"<small>{escape(card['source']['label'])}</small>"
    side = f"<div><h2>Laboratory, 2 November 2026</h2><table>{''.join(rows)}</table></div>"
    title = "<h1>Anna, female, born 31 March 1987</h1><small>A made-up patient in a made-up front-end</small>"
    return page_of("Chart", f"{title}<main>{side}<section>{said}{source}</section></main>")


def letter(reasons: Sequence[dict[str, Any]], variation: str) -> str:
    """A letter with the reasons, and what would have led to another result."""
    listed = "".join(f"<li>{escape(reason['text'])}</li>" for reason in reasons)
    return page_of(
        "Notice",
        "<article><h1>Statement of credit denial</h1><p><small>A made-up letter of a made-up lender</small></p>"
        "<p>Dear applicant, we could not approve your application for a mortgage. The principal reasons are:</p>"
        f"<ol>{listed}</ol><p>How other data would have changed the result:</p><p><em>{escape(variation)}</em></p>"
        "</article>",
    )


def example(name: str) -> Any:
    return json.loads((ROOT / name).read_text())


def post(server: LiveServer, path: str, body: Any) -> Any:
    return httpx.post(f"{server.url}{path}", json=body, timeout=60).raise_for_status().json()


def test_what_a_doctor_reads(open_page: OpenPage, server: LiveServer, take_picture: Callable[..., Path]):
    asked = example("docs/examples/patient-view.json")
    (card,) = post(server, "/cds-services/hcv", asked)["cards"]
    page = open_page(server, **SIZE)
    page.set_content(chart(asked, card))
    expect(page.get_by_role("heading", name="the model says hepatitis")).to_be_visible()
    assert is_picture(take_picture(page, "clinic-card"))


def test_what_an_applicant_reads(open_page: OpenPage, server: LiveServer, take_picture: Callable[..., Path]):
    asked = example("models/mortgage/examples/several-ways.json")
    reasons = post(server, "/v1/models/mortgage/reasons", asked)["reasons"]
    page = open_page(server, **SIZE)
    page.set_content(letter(reasons, reasons[0]["variation"]["sentence"]))
    expect(page.get_by_role("listitem")).to_have_text([reason["text"] for reason in reasons])
    assert is_picture(take_picture(page, "lender-notice", of=page.get_by_role("article")))
