"""What every figure shares: its frame, the words for those who do not see it, labels that fit, and round scales."""

import unicodedata
from collections.abc import Sequence
from math import ceil, floor, log10

from app.cohorts.report.markup import Content, Markup, element

# Of the drawing, in its own units: on a phone about one pixel each.
WIDTH = 360.0
# A letter of 12 units is so wide, more or less.
LETTER = 6.3
LABEL_LETTERS = int(WIDTH / LETTER)


def sheet(name: str, title: str, seen: str, height: float, *content: Content) -> Markup:
    """A figure: its title, and what is seen in it, are read out in its place."""
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", seen, id=f"{name}-seen"),
        *content,
        role="img",
        aria_labelledby=f"{name}-title {name}-seen",
        viewBox=f"0 0 {WIDTH:g} {ceil(height)}",
    )


def text(x: float, y: float, words: str, class_: str | None = None, anchor: str | None = None) -> Markup:
    return element("text", words, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    return element("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), class_=class_)


def fitting(words: str, letters: int = LABEL_LETTERS) -> str:
    """As much of a label as there is room for; the table beside the figure has all of it."""
    room = float(letters)
    for place, letter in enumerate(words):
        room -= 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if room < 0:
            return f"{words[: max(place - 1, 0)]}…"
    return words


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high, the first not above and the last not below them."""
    rough = (high - low) / (most - 1)
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10, 20) if factor * power >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def scale_of(marks: Sequence[float], left: float, right: float) -> tuple[float, float]:
    """Factor and shift that take the first mark to the left and the last to the right."""
    factor = (right - left) / (marks[-1] - marks[0])
    return factor, left - factor * marks[0]
