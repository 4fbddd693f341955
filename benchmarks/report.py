"""What a run leaves behind: the table on the screen, the results as JSON, a page and the charts."""

import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import charts
from benchmarks.figures import Figure

PACKAGES = ("fastapi", "flipset", "numpy", "onnxruntime", "pydantic", "starlette", "uvicorn", "z3-solver")
HEADINGS = ("name", "figure", "goal", "measured", "reached")


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def show(figures: Sequence[Figure], console: Console, *, quick: bool) -> None:
    if quick:
        table = Table("name", "figure", "measured", title="Quick: everything works. Far too small to judge by.")
        for name, title, _, measured, _ in map(_cells, figures):
            table.add_row(name, title, measured)
    else:
        table = Table(*HEADINGS)
        for figure in figures:
            table.add_row(*_cells(figure), style=None if figure.reached else "bold")
    console.print(table)


def write_results(figures: Sequence[Figure], file: Path, *, quick: bool) -> None:
    content = {"quick": quick, "machine": machine(), "figures": [figure.as_json() for figure in figures]}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_page(figures: Sequence[Figure], folder: Path, *, quick: bool) -> None:
    """The table for people who read the documents, and the charts beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine()
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items())
    lines = [
        "# A quick run: far too small to judge by" if quick else "# The latest run",
        "",
        "Written by `make bench`; what each figure means: [../benchmarks.md](../benchmarks.md).",
        "",
    ]
    lines += [f"| {' | '.join(HEADINGS)} |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(_cells(figure))} |" for figure in figures]
    lines += ["", f"{facts['cores']} cores ({facts['processor']}), Python {facts['python']}, {packages}."]
    drawn = charts.drawn(figures)
    lines += [text for name, (title, _) in drawn.items() for text in ("", f"![{title}]({name})")]
    (folder / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, (_, svg) in drawn.items():
        (folder / name).write_text(svg, encoding="utf-8")


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    asked, measured = f"{figure.bound} {number(figure.asked)}", f"{number(figure.measured)} {figure.unit}"
    return figure.name, figure.title, asked, measured, "yes" if figure.reached else "NO"


def number(value: float) -> str:
    """Three digits are all that a measurement is good for."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
