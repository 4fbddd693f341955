"""The paper's experiments in one command: `python -m lab.paper`."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab.paper.measures.scoring import results
from lab.paper.questions.datasets import RECIPES, Recipe
from lab.paper.report.page import page
from lab.paper.results import DataSetResults
from lab.paper.running import ROOT, Run, Track, workers
from lab.paper.showcase import lattice, use_case

# Only to see that everything works: so few people, and networks that learn for so short a time.
QUICK_PEOPLE, QUICK_EPOCHS = 3, 5
COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
)


def main() -> None:
    asked = _arguments()
    console = Console()
    runs = [Run(asked.out / "work", recipe, asked.data) for recipe in _recipes(asked, console)]
    if not runs:
        sys.exit("No data set is left to ask about.")
    try:
        measured = _measured(runs, console)
    except KeyboardInterrupt:
        console.print("Stopped. The answers so far are kept. Run the same command to continue.", soft_wrap=True)
        sys.exit(130)
    studies = sorted((run.study for run in runs), key=lambda study: study.recipe.name != "hcv")
    written = page(measured, asked.out, lattice(studies), use_case(studies))
    console.print(f"Written: {written}", soft_wrap=True)


def _arguments() -> argparse.Namespace:
    names = [recipe.name for recipe in RECIPES]
    parser = argparse.ArgumentParser(
        prog="python -m lab.paper", description="Rerun the experiments of the CEMSP paper."
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with hcv.csv and thyroid.csv")
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", default=names, help=f"of {', '.join(names)}"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", default=ROOT / "build" / "paper", help="page and figures; build/paper"
    )
    parser.add_argument("--quick", action="store_true", help="a few people: only to see that everything works")
    return parser.parse_args()


def _recipes(asked: argparse.Namespace, console: Console) -> Iterator[Recipe]:
    """The data sets that can be asked about; of each other one, why not."""
    for recipe in RECIPES:
        if recipe.name not in asked.only:
            continue
        if recipe.file and not (asked.data and (asked.data / recipe.file).is_file()):
            how = f"put {recipe.file} ({recipe.download}) into DIR and say --data DIR"
            console.print(f"{recipe.name} is skipped: {how}.", soft_wrap=True)
            continue
        if asked.quick:
            settings = replace(recipe.settings, epochs=QUICK_EPOCHS)
            recipe = replace(recipe, most_people=QUICK_PEOPLE, most_compared=QUICK_PEOPLE, settings=settings)
        yield recipe


def _measured(runs: list[Run], console: Console) -> list[DataSetResults]:
    with workers() as pool, Progress(*COLUMNS, console=console) as progress:
        found = []
        for run in runs:
            track = _tracker(progress, run.recipe.name)
            run.prepare(pool, track)
            run.ask(pool, track)
            found.append(results(run.study, run.journal, run.compare(pool, track)))
    return found


def _tracker(progress: Progress, name: str) -> Track:
    task = progress.add_task(name, total=None)

    def track(step: str, done: int, of: int) -> None:
        progress.update(task, description=f"{name}: {step}", completed=done, total=of)

    return track


if __name__ == "__main__":
    main()
