"""One command, one run: `python -m lab.benchmarks`."""

import argparse
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lab.benchmarks import report
from lab.benchmarks.cohorts import cohort
from lab.benchmarks.figures import Figure
from lab.benchmarks.requests import clients, deadlines, first_answers, memory, page, recording, request_rates
from lab.benchmarks.results import Results
from lab.benchmarks.searches import forty, growth, hcv, holding, lattice, remote, sixteen, through
from lab.benchmarks.searches.sizes import FULL, QUICK
from lab.benchmarks.workshop import Workshop

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
STORED = Path(__file__).parent / "results.json"
GROUPS: dict[str, Callable[[Workshop], Iterator[Figure]]] = {
    "hcv": hcv.figures,
    "holding": holding.figures,
    "sixteen": sixteen.figures,
    "lattice": lattice.figures,
    "remote": remote.figures,
    "through": through.figures,
    "forty": forty.figures,
    "first": first_answers.figures,
    "requests": request_rates.figures,
    "records": recording.figures,
    "memory": memory.figures,
    "growth": growth.figures,
    "deadline": deadlines.figures,
    "page": page.figures,
    "clients": clients.figures,
    "cohort": cohort.figures,
}


def main() -> None:
    asked = _arguments()
    console = Console()
    figures, lacking = _measured(asked, console)
    results = Results(tuple(figures), asked.quick)
    report.show(results, console)
    _keep(results, asked, whole=not lacking)
    if lacking:
        sys.exit(f"Not measured: {', '.join(lacking)}. The others are kept.")


def _keep(results: Results, asked: argparse.Namespace, *, whole: bool) -> None:
    # Only a full run may replace what the last full run has left; a part may take its place there if it is told to.
    kept = asked.store or not (asked.quick or asked.only)
    file = asked.out or (STORED if kept else None)
    page = asked.page or (ROOT / "docs" / "benchmarks" if kept else None)
    if kept and (asked.store or not whole):
        results = Results.read(STORED).with_newer(results, list(GROUPS))
    if file:
        results.write(file)
    if page:
        report.write_page(results, page)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.benchmarks", description="Measure Flipset against yardsticks.")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: only to see that everything works")
    parser.add_argument("--only", nargs="+", choices=GROUPS, metavar="NAME", help=f"some of: {', '.join(GROUPS)}")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with hcv.csv, for real patients")
    parser.add_argument("--out", type=Path, metavar="FILE", help="results as JSON; all: lab/benchmarks/results.json")
    parser.add_argument("--page", type=Path, metavar="DIR", help="table and charts; a full run: docs/benchmarks")
    parser.add_argument("--store", action="store_true", help="with --only: into the results of the last full run")
    asked = parser.parse_args()
    if asked.store and (asked.quick or not asked.only):
        parser.error("--store is for --only, and not for --quick: a full run is stored anyway")
    if asked.data and not (asked.data / "hcv.csv").is_file():
        parser.error(f"--data: there is no hcv.csv in {asked.data}")
    return asked


def _measured(asked: argparse.Namespace, console: Console) -> tuple[list[Figure], list[str]]:
    """All figures, and the groups that could not be measured: one that fails takes no other with it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    names = asked.only or list(GROUPS)
    # Drawn seldom, so that drawing is not measured.
    with tempfile.TemporaryDirectory() as folder, Progress(*columns, console=console, refresh_per_second=1) as progress:

        def track(steps: Iterable[T], what: str) -> Iterator[T]:
            task = progress.add_task(what, total=len(steps) if isinstance(steps, list | range) else None)
            for step in steps:
                yield step
                progress.advance(task)
            progress.remove_task(task)

        workshop = Workshop(Path(folder), QUICK if asked.quick else FULL, asked.data, track)
        figures: dict[str, list[Figure]] = {}
        for name in track(names, "all figures"):
            try:
                figures[name] = list(GROUPS[name](workshop))
            except KeyboardInterrupt:
                break
            except Exception:  # noqa: BLE001  # whatever it is, it is told, and the next group is measured
                console.print(f"{name} could not be measured:")
                traceback.print_exc()
    return [figure for group in figures.values() for figure in group], [name for name in names if name not in figures]


if __name__ == "__main__":
    main()
