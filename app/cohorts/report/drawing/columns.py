"""Where scores lie: upright columns on one scale, one panel below the other to be compared."""

from collections.abc import Sequence
from typing import NamedTuple

from app.cohorts.report.counting.survey import Scale
from app.cohorts.report.drawing.canvas import WIDTH, box, line, sheet, text, ticks
from app.cohorts.report.markup import Markup

HEAD, HIGH, GAP, FOOT = 20.0, 110.0, 14.0, 24.0
LEFT, RIGHT = 14.0, WIDTH - 18.0


class Panel(NamedTuple):
    """A distribution: its name, and the share of the people in each column."""

    label: str
    shares: Sequence[float]
    class_: str


def columns(
    name: str, title: str, seen: str, panels: Sequence[Panel], scale: Scale, mark: tuple[float, str] | None
) -> Markup:
    """A figure of panels; `mark` is a place on the scale with its name, such as the threshold."""
    tallest = max((share for panel in panels for share in panel.shares), default=0) or 1.0
    step = HEAD + HIGH + GAP
    bottom = len(panels) * step - GAP
    drawn = [part for place, panel in enumerate(panels) for part in _panel(panel, place * step, tallest)]
    places = [tick for tick in ticks(*scale) if scale.low <= tick <= scale.high]
    axis = [text(_x(tick, scale), bottom + 16, f"{tick:g}", "tick", "middle") for tick in places]
    marked = [] if mark is None else _marked(mark, scale, [place * step for place in range(len(panels))])
    return sheet(name, title, seen, bottom + FOOT, *drawn, *axis, *marked)


def _panel(panel: Panel, top: float, tallest: float) -> list[Markup]:
    width = (RIGHT - LEFT) / len(panel.shares)
    floor = top + HEAD + HIGH
    standing = [
        box(LEFT + place * width + 0.5, floor - HIGH * share / tallest, width - 1, HIGH * share / tallest, panel.class_)
        for place, share in enumerate(panel.shares)
        if share
    ]
    return [text(0, top + 12, panel.label, "label"), *standing, line(LEFT, floor, RIGHT, floor, "axis")]


def _marked(mark: tuple[float, str], scale: Scale, tops: Sequence[float]) -> list[Markup]:
    x = _x(mark[0], scale)
    near_the_end = x > WIDTH / 2
    named = text(x - 5 if near_the_end else x + 5, HEAD + 10, mark[1], "figure over", "end" if near_the_end else None)
    return [*(line(x, top + HEAD, x, top + HEAD + HIGH, "reference") for top in tops), named]


def _x(value: float, scale: Scale) -> float:
    return LEFT + (RIGHT - LEFT) * (value - scale.low) / (scale.high - scale.low)
