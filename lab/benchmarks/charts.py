"""The charts, as SVG written by hand: bars and lines are all they need. Words and dashes tell them apart."""

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

from lab.benchmarks.figures import Figure

WIDTH = 860
INK, BLUE, PALE = "#222222", "#0072B2", "#BBBBBB"
DASHES = ("", "8 4", "2 4")
Points = Sequence[tuple[float, float]]


def drawn(figures: Sequence[Figure]) -> dict[str, tuple[str, str]]:
    """For each file its title and its content; only what this run has measured."""
    found = {figure.name: figure for figure in figures}
    charts = {"reached.svg": ("How many times better than asked for", bars(figures))}
    if "forty.auto" in found:
        courses = found["forty.cemsp"].details["course"] | found["forty.auto"].details["course"]
        title = "Answers among 40 movable features"
        charts["answers.svg"] = (title, lines(title, "seconds", "answers", courses))
    if "growth.search" in found:
        measured = {part: found[f"growth.{part}"].details["microseconds_an_answer"] for part in ("search", "total")}
        series = {part: [(float(count), cost) for count, cost in costs.items()] for part, costs in measured.items()}
        title = "Time for an answer"
        charts["growth.svg"] = (title, lines(title, "answers", "microseconds", series))
    return charts


def bars(figures: Sequence[Figure]) -> str:
    """A bar for each figure, from the line of what is asked for: to the right where it is better."""
    left, right, step = 520, WIDTH - 70, 26
    low, high = _decades([figure.margin for figure in figures] + [1.0])
    height = 60 + step * len(figures)

    def across(value: float) -> float:
        return left + (right - left) * (log10(value) - low) / (high - low)

    parts = [_text(WIDTH / 2, 20, "How many times better than asked for", "middle", 15)]
    for power in range(low, high + 1):
        parts.append(_line(across(10.0**power), 34, across(10.0**power), height - 20, PALE))
        parts.append(_text(across(10.0**power), height - 6, _power(power), "middle"))
    for place, figure in enumerate(figures):
        top = 40 + step * place
        ends = sorted((across(1.0), across(figure.margin)))
        # One that is not reached is an empty box, and to the left of the line.
        fill = BLUE if figure.reached else "none"
        shape = f'x="{ends[0]:.1f}" y="{top}" width="{ends[1] - ends[0]:.1f}" height="15"'
        parts.append(f'<rect {shape} fill="{fill}" stroke="{BLUE}"/>')
        parts.append(_text(left - 10, top + 12, figure.title, "end", 10))
        parts.append(_text(ends[1] + 5, top + 12, f"{figure.margin:.2g}", "start"))
    parts.append(_line(across(1.0), 30, across(1.0), height - 20, INK))
    return _svg(height, parts)


def lines(title: str, x_name: str, y_name: str, series: Mapping[str, Points]) -> str:
    """A line for each series, named at its end; both scales go by powers of ten."""
    left, right, top, bottom = 80, WIDTH - 120, 40, 360
    x_low, x_high = _decades([x for points in series.values() for x, _ in points])
    y_low, y_high = _decades([y for points in series.values() for _, y in points])

    def across(x: float) -> float:
        return left + (right - left) * (log10(x) - x_low) / (x_high - x_low)

    def down(y: float) -> float:
        return bottom - (bottom - top) * (log10(y) - y_low) / (y_high - y_low)

    parts = [_text(WIDTH / 2, 20, title, "middle", 15), _text((left + right) / 2, bottom + 40, x_name, "middle")]
    parts.append(_text(10, top - 12, y_name, "start"))
    for power in range(x_low, x_high + 1):
        parts.append(_line(across(10.0**power), top, across(10.0**power), bottom, PALE))
        parts.append(_text(across(10.0**power), bottom + 18, _power(power), "middle"))
    for power in range(y_low, y_high + 1):
        parts.append(_line(left, down(10.0**power), right, down(10.0**power), PALE))
        parts.append(_text(left - 8, down(10.0**power) + 4, _power(power), "end"))
    for points, dash in zip(series.values(), DASHES, strict=False):
        path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{BLUE}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
    ends = {name: points[-1] for name, points in series.items()}
    heights = _apart({name: down(y) + 4 for name, (_, y) in ends.items()})
    parts += [_text(across(x) + 8, heights[name], name, "start") for name, (x, _) in ends.items()]
    return _svg(bottom + 55, parts)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around the values."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _power(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"


def _apart(heights: Mapping[str, float], step: float = 14) -> dict[str, float]:
    """The same heights, moved down where one word would lie on another."""
    placed: dict[str, float] = {}
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        placed[name] = max(height, max(placed.values(), default=-step) + step)
    return placed


def _text(x: float, y: float, words: str, anchor: str, size: int = 12) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} fill="{INK}">{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _svg(height: float, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *parts, "</svg>"]) + "\n"
