"""The figures of the comparison: how good the answers are, and whether they stay the same."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.paper.report.bars import Bar, draw_bars, far_end
from lab.paper.report.canvas import head, sheet, width_of
from lab.paper.report.hasse import hasse
from lab.paper.report.noise_lines import noise
from lab.paper.report.titles import INCONSISTENCY, METRICS, methods_of
from lab.paper.results import DataSetResults, Robustness

__all__ = ["hasse", "noise", "quality", "retraining"]

QUALITY = ("sparsity", "aps", "diversity", "c_diversity")
NOT_RUN = "not run"
# In inches: the names of the methods at the left, a bar, and what stands above and below the panels.
NAMES, BAR, TOP, BOTTOM, BETWEEN = 1.55, 0.165, 0.45, 0.27, 0.45


def quality(results: Sequence[DataSetResults], folder: Path) -> None:
    """Like the paper's figure 4: a row for each measure, a column for each data set, a bar for each method."""
    methods = methods_of(results)
    with sheet(folder, "quality", _height(len(QUALITY), len(methods)), width_of(len(results))) as figure:
        grid = figure.subplots(len(QUALITY), len(results), squeeze=False, sharey=True)
        for row, metric in zip(grid, QUALITY, strict=True):
            bars = [{method: _quality_bar(one, method, metric) for method in methods} for one in results]
            # One scale for a whole row: the data sets can be held against each other.
            longest = far_end(bar for panel in bars for bar in panel.values())
            for axes, panel in zip(row, bars, strict=True):
                draw_bars(axes, methods, panel, longest)
            _name_row(row[0], METRICS[metric].heading)
        for axes, one in zip(grid[0], results, strict=True):
            head(axes, one)
        _arrange(figure, len(QUALITY), len(results))


def retraining(results: Sequence[DataSetResults], folder: Path, name: str = "retraining") -> None:
    """Like the paper's figure 5: how far the answers of two models lie apart, for each method and data set."""
    methods = methods_of(results)
    with sheet(folder, name, _height(1, len(methods)) + 0.15, width_of(len(results))) as figure:
        grid = figure.subplots(1, len(results), squeeze=False, sharey=True)
        for axes, one in zip(grid[0], results, strict=True):
            bars = {method: _retrained_bar(one, method) for method in methods}
            draw_bars(axes, methods, bars, far_end(bars.values()))
            head(axes, one)
            axes.set_xlabel(INCONSISTENCY.heading)
        _arrange(figure, 1, len(results), below=0.15)


def _quality_bar(results: DataSetResults, method: str, metric: str) -> Bar:
    if method not in results.methods:
        return Bar(None, NOT_RUN)
    return Bar(results.methods[method].metrics.get(metric), METRICS[metric].missing)


def _retrained_bar(results: DataSetResults, method: str) -> Bar:
    if method not in results.methods:
        return Bar(None, NOT_RUN)
    found: Robustness = results.methods[method].changes.retrained
    return Bar(found.inconsistency, INCONSISTENCY.missing)


def _name_row(axes: Axes, words: str) -> None:
    """Say above the names of the methods which measure the row is about."""
    place = (-(NAMES - 0.05) * 72, 5)
    axes.annotate(words, (0, 1), place, xycoords="axes fraction", textcoords="offset points", weight="bold", size=9)


def _height(rows: int, bars: int) -> float:
    return TOP + BOTTOM + rows * bars * BAR + (rows - 1) * BETWEEN


def _panel(columns: int) -> float:
    """The width of one panel, in inches."""
    return (width_of(columns) - NAMES - 0.1 - 0.15 * (columns - 1)) / columns


def _arrange(figure: Figure, rows: int, columns: int, below: float = 0.0) -> None:
    """Place the panels by inches, so that letters and bars keep their size whatever the number of methods."""
    width, height = figure.get_size_inches()
    panel = (height - TOP - BOTTOM - below - (rows - 1) * BETWEEN) / rows
    figure.subplots_adjust(
        left=NAMES / width,
        right=1 - 0.1 / width,
        top=1 - TOP / height,
        bottom=(BOTTOM + below) / height,
        hspace=BETWEEN / panel,
        wspace=0.15 / _panel(columns),
    )
