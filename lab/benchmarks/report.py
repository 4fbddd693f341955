"""What a run leaves behind besides its results: the table on the screen, a page and the charts."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.benchmarks import charts
from lab.benchmarks.figures import Figure
from lab.benchmarks.results import Machine, Results

HEADINGS = ("name", "figure", "goal", "measured", "reached")


def show(results: Results, console: Console) -> None:
    figures = results.figures
    if results.quick:
        table = Table("name", "figure", "measured", title="Quick: everything works. Far too small to judge by.")
        for name, title, _, measured, _ in map(_cells, figures):
            table.add_row(name, title, measured)
    else:
        table = Table(*HEADINGS)
        for figure in figures:
            table.add_row(*_cells(figure), style=None if figure.reached else "bold")
    console.print(table)


def write_page(results: Results, folder: Path) -> None:
    """The table for people who read the documents, and the charts beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "# A quick run: far too small to judge by" if results.quick else "# The latest run",
        "",
        "Written by `make bench`; what each figure means: [../benchmarks.md](../benchmarks.md).",
        "",
    ]
    lines += [f"| {' | '.join(HEADINGS)} |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(_cells(figure))} |" for figure in results.figures]
    lines += ["", f"{_words(results.machine)}."]
    for group, machine in results.apart.items():
        lines += ["", f"`{group}` was measured later than the others: {_words(machine)}."]
    drawn = charts.drawn(results.figures)
    lines += [text for name, (title, _) in drawn.items() for text in ("", f"![{title}]({name})")]
    (folder / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, (_, svg) in drawn.items():
        (folder / name).write_text(svg, encoding="utf-8")


def _words(machine: Machine) -> str:
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    return f"{machine['cores']} cores ({machine['processor']}), Python {machine['python']}, {packages}"


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    asked, measured = f"{figure.bound} {number(figure.asked)}", f"{number(figure.measured)} {figure.unit}"
    return figure.name, figure.title, asked, measured, "yes" if figure.reached else "NO"


def number(value: float) -> str:
    """Three digits are all that a measurement is good for."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
