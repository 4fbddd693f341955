"""What every figure shares: its fonts, and files that are the same bytes for the same numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lab.paper.report.titles import data_set, people
from lab.paper.results import DataSetResults

# The full width of a journal's page, in inches: at that size no letter is smaller than 8 points.
WIDTH = 7.0
SMALL = 8
INK, PALE = "#222222", "#C8C8C8"
DOTS_PER_INCH = 200
# Any, here and below: what matplotlib takes by keyword it checks itself.
STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    # The first comes with matplotlib, so a PNG is the same everywhere; a reader of the SVG may not have it.
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": SMALL,
    "axes.labelsize": SMALL,
    "axes.titlesize": 9,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "hatch.linewidth": 0.5,
    "svg.fonttype": "none",  # words stay words
    "svg.hashsalt": "flipset",  # names inside the file that do not change from run to run
}


@contextmanager
def sheet(folder: Path, name: str, height: float, width: float = WIDTH) -> Iterator[Figure]:
    """An empty figure to draw on; afterwards it is written as NAME.svg and NAME.png."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        yield figure
        # Neither a date nor a version: the files change when the numbers do.
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
        figure.savefig(folder / f"{name}.png", dpi=DOTS_PER_INCH, metadata={"Software": None})


def width_of(columns: int) -> float:
    """The page's width for up to three data sets; more take a page that is turned, so that letters keep their size."""
    return WIDTH * max(columns, 3) / 3


def head(axes: Axes, results: DataSetResults) -> None:
    """Say above a panel which data set it is about, with which ranges and how many people."""
    axes.set_title(data_set(results), weight="bold", pad=15)
    words = f"{results.registry}, {people(results.people)}"
    axes.annotate(words, (0.5, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", ha="center")


def clear_frame(axes: Axes, *sides: str) -> None:
    """Take away the sides of the frame that carry no scale."""
    axes.spines[list(sides)].set_visible(False)
