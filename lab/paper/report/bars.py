"""A panel of bars, one for each method, with its 95 % interval and its number."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lab.paper.report.canvas import INK, clear_frame
from lab.paper.report.titles import METHODS, number
from lab.paper.results import Mean

THICKNESS = 0.72
# How far the bars reach into the panel; the rest is for the numbers at their ends.
FILLED = 0.72


@dataclass(frozen=True)
class Bar:
    """What is known of one method, or the words for why nothing is."""

    mean: Mean | None
    missing: str


def draw_bars(axes: Axes, methods: Sequence[str], bars: Mapping[str, Bar], longest: float) -> None:
    """One bar for each method, from the top down; a panel without any says why once."""
    axes.set_ylim(len(methods) - 0.4, -0.6)
    axes.set_xlim(0, longest / FILLED if longest else 1.0)
    axes.set_yticks(range(len(methods)), [METHODS[method].title for method in methods])
    axes.tick_params(axis="y", length=0)
    clear_frame(axes, "top", "right")
    if all(_value(bar) is None for bar in bars.values()):
        axes.set_xticks([])
    else:
        ticks = MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(0, longest)
        axes.set_xticks([tick for tick in ticks if tick <= longest * 1.05])
    reasons = {bar.missing for bar in bars.values()}
    if all(_value(bar) is None for bar in bars.values()) and len(reasons) == 1:
        axes.text(0.5, 0.5, reasons.pop(), transform=axes.transAxes, ha="center", va="center", style="italic")
        return
    for place, method in enumerate(methods):
        _draw(axes, place, method, bars[method])


def far_end(bars: Iterable[Bar]) -> float:
    """How far the longest bar reaches, with its interval."""
    return max((high for bar in bars if (high := _high(bar)) is not None), default=0.0)


def _draw(axes: Axes, place: int, method: str, bar: Bar) -> None:
    shift = 0.02 * axes.get_xlim()[1]
    value, high = _value(bar), _high(bar)
    if bar.mean is None or value is None or high is None:
        axes.text(shift, place, bar.missing, va="center", style="italic")
        return
    look = METHODS[method]
    axes.barh(place, value, THICKNESS, color=look.colour, hatch=look.hatch, edgecolor=INK, linewidth=0.6)
    low = value if bar.mean.low is None else bar.mean.low
    interval = [[max(value - low, 0.0)], [max(high - value, 0.0)]]
    # Inside a dark or hatched bar only a white seam keeps the interval in sight.
    for colour, thickness, cap in (("white", 2.6, 2.8), (INK, 1.0, 2.0)):
        lines: dict[str, Any] = {"ecolor": colour, "elinewidth": thickness, "capthick": thickness, "capsize": cap}
        axes.errorbar(value, place, xerr=interval, fmt="none", **lines)
    axes.text(high + shift, place, number(value), va="center")


def _value(bar: Bar) -> float | None:
    return None if bar.mean is None else bar.mean.value


def _high(bar: Bar) -> float | None:
    """The far end of the bar with its interval."""
    if bar.mean is None or bar.mean.value is None:
        return None
    return bar.mean.value if bar.mean.high is None else max(bar.mean.high, bar.mean.value)
