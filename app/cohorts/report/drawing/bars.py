"""Bars that lie, one below the other, each with its name above it and its number behind it."""

from collections.abc import Sequence
from typing import NamedTuple

from app.cohorts.report.drawing.canvas import WIDTH, box, fitting, sheet, text
from app.cohorts.report.markup import Markup

ROW, BAR = 38.0, 14.0
# The rest of the width is for the numbers.
LONGEST = WIDTH - 92


class Bar(NamedTuple):
    """A share from 0 to 1, in words; `within` is a larger share that holds it, drawn as a frame around it."""

    label: str
    share: float
    words: str
    class_: str = "ink"
    within: float | None = None


def bars(name: str, title: str, seen: str, rows: Sequence[Bar], full: float = 1.0) -> Markup:
    """A figure of bars; one of the share `full` is as long as there is room."""
    drawn = [part for place, row in enumerate(rows) for part in _bar(row, place * ROW, full)]
    return sheet(name, title, seen, len(rows) * ROW, *drawn)


def _bar(row: Bar, top: float, full: float) -> list[Markup]:
    length = LONGEST * row.share / full
    whole = length if row.within is None else LONGEST * row.within / full
    at = top + 17
    frame = [] if row.within is None else [box(0.5, at + 0.5, whole - 1, BAR - 1, "frame")]
    return [
        text(0, top + 12, fitting(row.label), "label"),
        *frame,
        # Nobody at all is a line at the edge, so that it is seen that it was counted.
        box(0, at, max(length, 1.0), BAR, row.class_),
        text(max(whole, length, 1.0) + 6, at + BAR - 3, row.words, "figure"),
    ]
