"""All subsets of one person's movable features as a diagram: like the paper's figure 2, for a real person."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch

from lab.paper.report.canvas import INK, WIDTH, sheet
from lab.paper.report.subsets import Subset, check, maximal, minimal

GREEN, RED = "#009E73", "#D55E00"
PALE_GREEN, PALE_RED, WHITE = "#8FD6BF", "#F5B48A", "#FFFFFF"
PLAIN: dict[str, Any] = {"color": "#BBBBBB", "linewidth": 0.4}
UNDONE: dict[str, Any] = {"color": "#882255", "linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 1.5}
# In inches: a line of text, a letter (of the widest kind), the gaps between boxes, the words at the left.
LINE, LETTER, GAP, RISE, LEFT, LEGEND = 0.135, 0.085, 0.07, 0.5, 0.85, 0.85


TITLE = "In each box: the features that are changed, and the score that this gives"
WORDS = (
    "favourable",
    "unfavourable",
    "one more change undoes it",
    "favourable and minimal: no proper subset is favourable",
    "unfavourable and maximal: no proper superset is unfavourable",
)
CORNERS = "round,pad=0,rounding_size=0.04"
PLACE: dict[str, Any] = {"loc": "lower center", "ncols": 2, "frameon": False, "handlelength": 3.0, "title_fontsize": 8}


@dataclass(frozen=True)
class Box:
    """Where a subset stands, in inches, and the lines of text in it."""

    subset: Subset
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


def hasse(folder: Path, name: str, features: Sequence[str], subsets: Sequence[Subset]) -> None:
    """Every subset a box in rows by size, with a line to each subset that holds one feature more."""
    check(features, subsets)
    width = max(WIDTH, LEFT + comb(len(features), len(features) // 2) * (_widest(features) + GAP) + GAP)
    boxes = _placed(features, subsets, width)
    height = max(box.y + box.height for box in boxes.values()) + 0.1
    with sheet(folder, name, height, width) as figure:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, width)
        axes.set_ylim(0, height)
        axes.axis("off")
        undoing = _draw_edges(axes, boxes)
        _draw_boxes(axes, boxes, minimal(subsets), maximal(subsets))
        _draw_rows(axes, boxes)
        handles = _legend()
        if not undoing:
            handles.pop(WORDS[2])
        figure.legend(list(handles.values()), list(handles), title=TITLE, **PLACE)


def _widest(features: Sequence[str]) -> float:
    """The width that a box needs for the longest name, or for a score."""
    return max(LETTER * max((len(feature) for feature in features), default=0), 0.38) + 0.04


def _placed(features: Sequence[str], subsets: Sequence[Subset], width: float) -> dict[frozenset[int], Box]:
    """The boxes, from the empty set at the bottom to the full one at the top."""
    boxes: dict[frozenset[int], Box] = {}
    bottom = LEGEND
    for size in range(len(features) + 1):
        row = sorted((one for one in subsets if len(one.positions) == size), key=lambda one: sorted(one.positions))
        slot = min((width - LEFT - GAP) / len(row), 1.6)
        start = LEFT + (width - LEFT - GAP - slot * len(row)) / 2
        texts = [_lines([features[place] for place in sorted(one.positions)], slot - GAP) for one in row]
        height = LINE * (max(map(len, texts)) + 1) + 0.08
        for place, (one, text) in enumerate(zip(row, texts, strict=True)):
            needed = max(LETTER * max(map(len, text), default=0), 0.38) + 0.1
            box = min(slot - GAP, max(needed, _widest(features)))
            left = start + slot * (place + 0.5) - box / 2
            boxes[one.positions] = Box(one, left, bottom, box, height, (*text, score(one.score)))
        bottom += height + RISE
    return boxes


def _lines(names: Sequence[str], width: float) -> tuple[str, ...]:
    """The names, as many to a line as have room."""
    lines: list[str] = []
    for name in names:
        if lines and LETTER * (len(lines[-1]) + 1 + len(name)) <= width - 0.1:
            lines[-1] += f" {name}"
        else:
            lines.append(name)
    return tuple(lines) or ("none",)


def score(value: float) -> str:
    """Two digits after the point, and never a 0 or 1 that is none."""
    if 0 < value < 0.005:
        return "<.01"
    if 0.995 <= value < 1:
        return ">.99"
    return f"{value:.2f}".removeprefix("0") if 0 < value < 1 else f"{value:.3g}"


def _draw_edges(axes: Axes, boxes: Mapping[frozenset[int], Box]) -> bool:
    """A line up to each subset with one feature more; those that undo a favourable one stand out. Are there any?"""
    found = False
    for positions, box in boxes.items():
        for above in (one for held, one in boxes.items() if positions < held and len(held) == len(positions) + 1):
            undoing = box.subset.favourable and not above.subset.favourable
            found = found or undoing
            xs, ys = [box.x + box.width / 2, above.x + above.width / 2], [box.y + box.height, above.y]
            axes.plot(xs, ys, **(UNDONE if undoing else PLAIN))
    return found


def _draw_boxes(
    axes: Axes,
    boxes: Mapping[frozenset[int], Box],
    lowest: Collection[frozenset[int]],
    highest: Collection[frozenset[int]],
) -> None:
    for positions, box in boxes.items():
        special = positions in lowest or positions in highest
        look = _look(box.subset.favourable, special)
        axes.add_patch(FancyBboxPatch((box.x, box.y), box.width, box.height, CORNERS, **look))
        centre, middle = box.x + box.width / 2, box.y + box.height / 2
        axes.text(centre, middle, "\n".join(box.lines), ha="center", va="center", linespacing=1.15, color="black")
        if special:
            mark = "*" if box.subset.favourable else "X"
            axes.plot([box.x + box.width], [box.y + box.height], **_mark(mark))


def _look(favourable: bool, special: bool) -> dict[str, Any]:
    """Green and solid or red and dashed; filled, with a thick frame, if minimal or maximal."""
    fill = (PALE_GREEN if favourable else PALE_RED) if special else WHITE
    return {
        "facecolor": fill,
        "edgecolor": GREEN if favourable else RED,
        "linewidth": 1.8 if special else 1.0,
        "linestyle": "-" if favourable else "--",
    }


def _mark(marker: str) -> dict[str, Any]:
    size = 9.0 if marker == "*" else 6.5
    look = {"marker": marker, "color": GREEN if marker == "*" else RED, "linestyle": "none"}
    return {**look, "markersize": size, "markeredgecolor": INK, "markeredgewidth": 0.5, "zorder": 5}


def _draw_rows(axes: Axes, boxes: Mapping[frozenset[int], Box]) -> None:
    """How many features are changed, beside each row."""
    rows = {len(positions): box for positions, box in boxes.items()}
    for size, box in rows.items():
        axes.text(0.08, box.y + box.height / 2, f"{size} changed", va="center")


def _legend() -> dict[str, Any]:
    """The words, and what they stand beside."""
    samples: tuple[Any, ...] = (
        (Patch(**_look(True, False)),),
        (Patch(**_look(False, False)),),
        (Line2D([], [], **UNDONE),),
        (Patch(**_look(True, True)), Line2D([], [], **_mark("*"))),
        (Patch(**_look(False, True)), Line2D([], [], **_mark("X"))),
    )
    return dict(zip(WORDS, samples, strict=True))
