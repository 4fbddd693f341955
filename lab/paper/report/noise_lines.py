"""The figure of the noise: how far the answers move when the person's values do, a line for each method."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from lab.paper.report.canvas import INK, PALE, clear_frame, head, sheet, width_of
from lab.paper.report.titles import INCONSISTENCY, METHODS, methods_of, sigmas_of
from lab.paper.results import DataSetResults, Mean

HEIGHT = 3.9
# In inches: the scale at the left, the names at the right of each panel.
SCALE, NAMES, TOP, BOTTOM = 0.58, 0.82, 0.48, 0.95
LETTER = 0.135
# Below the smallest power of ten that is needed the scale goes evenly down to 0, which is a good answer too.
SMALLEST = 1e-4
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def noise(results: Sequence[DataSetResults], folder: Path, name: str = "noise") -> None:
    """Like the paper's figure 6: inconsistency against sigma, a panel for each data set."""
    methods, sigmas = methods_of(results), sigmas_of(results)
    bottom, top = _reach(results)
    with sheet(folder, name, HEIGHT, width_of(len(results))) as figure:
        panels = figure.subplots(1, len(results), squeeze=False)[0]
        _arrange(figure, len(results))
        for axes, one in zip(panels, results, strict=True):
            _scale(axes, sigmas, bottom, top)
            head(axes, one)
            _draw(axes, one, methods, sigmas)
        for axes in panels[1:]:
            axes.set_yticklabels([])
        panels[0].set_ylabel(INCONSISTENCY.heading)
        figure.legend(handles=[_sample(method) for method in methods], loc="lower center", ncols=4, frameon=False)


def _reach(results: Sequence[DataSetResults]) -> tuple[float, float]:
    """The powers of ten between which all means and intervals lie, or stand below."""
    found = [noisy for one in results for method in one.methods.values() for noisy in method.changes.noise.values()]
    values = [value for noisy in found for value in (noisy.inconsistency.value, noisy.inconsistency.high) if value]
    if not values:
        return SMALLEST, 1.0
    return min(SMALLEST, 10.0 ** ceil(log10(min(values)))), max(1.0, 2 * max(values))


def _scale(axes: Axes, sigmas: Sequence[float], bottom: float, top: float) -> None:
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=bottom, linscale=0.5)
    axes.set_ylim(-bottom / 10, top)
    powers = [10.0**power for power in range(round(log10(bottom)), floor(log10(top)) + 1)]
    axes.yaxis.set_major_locator(FixedLocator([0.0, *powers]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(_power))
    if sigmas:
        axes.set_xlim(sigmas[0] / 1.6, sigmas[-1] * 1.6)
    axes.xaxis.set_major_locator(FixedLocator(list(sigmas)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_power))
    axes.set_xlabel("\N{GREEK SMALL LETTER SIGMA} of the noise")
    axes.grid(color=PALE, linewidth=0.4)
    clear_frame(axes, "top", "right")


def _power(value: float, _: int | None) -> str:
    """Short enough for a narrow panel."""
    power = round(log10(value)) if value > 0 else 0
    if power >= 0 or abs(value - 10.0**power) > value / 100:
        return f"{value:g}"
    return "10" + str(power).translate(RAISED)


def _draw(axes: Axes, results: DataSetResults, methods: Sequence[str], sigmas: Sequence[float]) -> None:
    ends: dict[str, tuple[float, float]] = {}
    for place, method in enumerate(methods):
        means = {} if method not in results.methods else results.methods[method].changes.noise
        known = [(sigma, means[sigma].inconsistency) for sigma in sigmas if sigma in means]
        points = [(sigma, mean, mean.value) for sigma, mean in known if mean.value is not None]
        if not points:
            continue
        # Side by side by a few hundredths, so that the intervals of two methods do not cover each other.
        across = [sigma * 1.05 ** (place - (len(methods) - 1) / 2) for sigma, _, _ in points]
        values = [value for _, _, value in points]
        _line(axes, method, across, values, [mean for _, mean, _ in points])
        ends[method] = (across[-1], values[-1])
    if ends:
        _name(axes, ends)
    else:
        middle: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "backgroundcolor": "white"}
        axes.text(0.5, 0.5, INCONSISTENCY.missing, style="italic", **middle)


def _line(axes: Axes, method: str, across: Sequence[float], values: Sequence[float], means: Sequence[Mean]) -> None:
    look = METHODS[method]
    lows = [value if mean.low is None else mean.low for value, mean in zip(values, means, strict=True)]
    highs = [value if mean.high is None else mean.high for value, mean in zip(values, means, strict=True)]
    bars = np.maximum(np.array([np.subtract(values, lows), np.subtract(highs, values)]), 0.0)
    axes.errorbar(across, values, yerr=bars, fmt="none", ecolor=look.colour, elinewidth=0.8, capsize=1.5)
    axes.plot(across, values, **_marks(method))


def _marks(method: str) -> dict[str, Any]:
    look = METHODS[method]
    return {
        "linestyle": look.dashes,
        "color": look.colour,
        "linewidth": 1.2,
        "marker": look.marker,
        "markersize": 5,
        "markeredgecolor": INK,
        "markeredgewidth": 0.4,
    }


def _sample(method: str) -> Line2D:
    return Line2D([], [], label=METHODS[method].title, **_marks(method))


def _name(axes: Axes, ends: Mapping[str, tuple[float, float]]) -> None:
    """Write each method's name beside the end of its line, moved up or down where names would cover each other."""
    panel = HEIGHT - TOP - BOTTOM
    heights = {
        method: float(axes.transAxes.inverted().transform(axes.transData.transform(end))[1])
        for method, end in ends.items()
    }
    for method, height in apart(heights, LETTER / panel).items():
        axes.annotate(
            METHODS[method].short,
            xy=ends[method],
            xytext=(1.1, height),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": INK,
                "linewidth": 0.3,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


def apart(heights: Mapping[str, float], step: float, top: float = 1.0) -> dict[str, float]:
    """The heights in their order, at least a step apart: those that are too close are spread about their middle."""
    order = sorted(heights, key=lambda name: heights[name])
    groups: list[list[str]] = []
    for name in order:
        groups.append([name])
        while len(groups) > 1 and _span(groups[-2], heights, step)[1] + step > _span(groups[-1], heights, step)[0]:
            last = groups.pop()
            groups[-1] += last
    placed = {
        name: _span(group, heights, step)[0] + step * place for group in groups for place, name in enumerate(group)
    }
    limit = top
    for name in reversed(order):
        placed[name] = min(placed[name], limit)
        limit = placed[name] - step
    return placed


def _span(group: Sequence[str], heights: Mapping[str, float], step: float) -> tuple[float, float]:
    """Where a group of names begins and ends that is spread about its middle."""
    middle, half = sum(heights[name] for name in group) / len(group), step * (len(group) - 1) / 2
    return middle - half, middle + half


def _arrange(figure: Figure, columns: int) -> None:
    """Place the panels by inches, with room for the names at the right of each."""
    width = width_of(columns)
    panel = (width - SCALE - columns * NAMES) / columns
    figure.subplots_adjust(
        left=SCALE / width,
        right=1 - NAMES / width,
        top=1 - TOP / HEIGHT,
        bottom=BOTTOM / HEIGHT,
        wspace=NAMES / panel,
    )
