"""What the sections are built of: headed sections, tables, figures beside their tables, notes."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from app.cohorts.report.markup import Content, Markup, element, lines

STYLE = Path(__file__).parent / "style.css"
# Nothing is loaded and nothing runs, even if something got past the escaping.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
Row = Sequence[Content]


def document(
    title: str,
    main: Iterable[Content],
    *,
    top: Content = None,
    claim: str | None = None,
    closing: str = "",
    own_style: Markup | None = None,
) -> str:
    """A whole page. What it claims stands below its title, and again at the end with the closing words."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", _style(), own_style),
    )
    tagline, foot = None, None
    if claim is not None:
        tagline = element("p", claim, class_="tagline")
        foot = element("footer", element("p", claim, closing))
    header = element("header", lines(element("h1", title), tagline, top))
    body = element("body", lines(header, element("main", lines(*main)), foot))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


@cache
def _style() -> Markup:
    return Markup(STYLE.read_text(encoding="utf-8"))


def section(name: str, title: str, *content: Content) -> Markup:
    heading = element("h2", title, id=f"{name}-heading")
    return element("section", lines(heading, *content), id=name, aria_labelledby=f"{name}-heading")


def heading(title: str) -> Markup:
    return element("h3", title)


def paragraph(*content: Content, class_: str | None = None) -> Markup:
    return element("p", *content, class_=class_)


def note(*content: Content) -> Markup:
    return element("p", *content, class_="note")


def warning(*content: Content) -> Markup:
    return element("p", element("strong", "Note: "), *content, class_="warning")


def bullets(entries: Iterable[Content]) -> Markup:
    return element("ul", lines(*(element("li", entry) for entry in entries)))


def facts(pairs: Iterable[tuple[str, Content]]) -> Markup:
    """Terms with what they are."""
    return element(
        "dl", lines(*(element("div", element("dt", term), element("dd", what)) for term, what in pairs if what))
    )


def table(name: str, caption: str, head: Sequence[str], rows: Iterable[Row]) -> Markup:
    """The first cell of a row names it; the others are numbers, or words about them."""
    heads = element("tr", *(element("th", cell, scope="col") for cell in head))
    body = [_row(*row) for row in rows]
    whole = element(
        "table",
        element("caption", caption, id=f"{name}-caption"),
        element("thead", heads),
        element("tbody", lines(*body)),
    )
    # A narrow screen scrolls the table and not the page, by keyboard too.
    return element("div", whole, class_="scrolled", role="region", aria_labelledby=f"{name}-caption", tabindex=0)


def _row(name: Content, *cells: Content) -> Markup:
    return element("tr", element("th", name, scope="row"), *(element("td", cell) for cell in cells))


def beside(figure: Content, numbers: Content) -> Markup:
    """A figure, and the same in numbers."""
    return element("div", element("div", figure, class_="drawn"), numbers, class_="pair")
