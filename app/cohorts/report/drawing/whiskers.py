"""Estimates with their intervals: a point on a line, one below the other, on one scale."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.cohorts.report.counting.intervals import Interval
from app.cohorts.report.drawing.canvas import WIDTH, fitting, line, scale_of, sheet, text, ticks
from app.cohorts.report.markup import Markup, element

ROW, FOOT = 36.0, 24.0
LEFT, RIGHT = 14.0, WIDTH - 18.0


class Whisker(NamedTuple):
    """A named estimate; a clear one is drawn as a full diamond, any other as a ring; of few people it is dashed."""

    label: str
    words: str
    estimate: Interval
    clear: bool = False
    few: bool = False


def whiskers(
    name: str,
    title: str,
    seen: str,
    rows: Sequence[Whisker],
    reference: float,
    tick: Callable[[float], str],
) -> Markup:
    """A figure of intervals, with an upright line at what they are held against."""
    ends = [end for row in rows for end in row.estimate] + [reference]
    # Not at the very left, where the labels are.
    low, high = min(ends), max(*ends, min(ends) + 0.01)
    marks = ticks(low - (high - low) / 50 if low == reference else low, high)
    factor, shift = scale_of(marks, LEFT, RIGHT)
    bottom = len(rows) * ROW
    grid = [line(factor * mark + shift, 0, factor * mark + shift, bottom, "grid") for mark in marks]
    scale = [text(factor * mark + shift, bottom + 16, tick(mark), "tick", "middle") for mark in marks]
    against = line(factor * reference + shift, 0, factor * reference + shift, bottom, "reference")
    drawn = [part for place, row in enumerate(rows) for part in _whisker(row, place * ROW, factor, shift)]
    return sheet(name, title, seen, bottom + FOOT, *grid, against, *scale, *drawn)


def _whisker(row: Whisker, top: float, factor: float, shift: float) -> list[Markup]:
    value, low, high = (factor * end + shift for end in row.estimate)
    at = top + 25
    class_ = "whisker few" if row.few else "whisker"
    ends = [line(end, at - 4, end, at + 4, "whisker") for end in (low, high)]
    return [
        text(0, top + 13, fitting(row.label, 38), "label over"),
        text(WIDTH, top + 13, row.words, "figure over", "end"),
        line(low, at, high, at, class_),
        *ends,
        _point(value, at, row.clear),
    ]


def _point(x: float, y: float, clear: bool) -> Markup:
    if clear:
        return element("path", d=f"M{x:.2f} {y - 6:.2f}l6 6l-6 6l-6 -6z", class_="diamond")
    return element("circle", cx=x, cy=y, r=4.5, class_="ring")
