"""The commands for whole registers; what they need is an optional group, and imported when they are called."""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from app.adapters.flaws import BrokenFiles
from app.cohorts.amounts import CHUNK_ROWS, MOST_COUNTERFACTUALS, PARTITION_ROWS
from app.environment import fail, read_settings

# What comes with an optional group, by the package that is not there without it.
GROUPS = {"pyarrow": "cohort", "ray": "cluster"}


def cohort(  # noqa: PLR0913, PLR0917  # an argument for each option
    model: Annotated[str, typer.Argument(help="name of the model")],
    people: Annotated[Path, typer.Argument(help="Parquet, CSV or NDJSON: a file, or a folder of files")],
    out: Annotated[Path, typer.Option(help="folder for the answers; a run that was stopped goes on there")],
    constraints: Annotated[Path | None, typer.Option(help="JSON file with constraints that hold for everybody")] = None,
    request: Annotated[
        Path | None, typer.Option(help="JSON file with all of a request but the person: registry, target, limits ...")
    ] = None,
    context: Annotated[
        list[str] | None, typer.Option(help="columns that the choice of a range depends on: NAME or NAME=COLUMN")
    ] = None,
    column: Annotated[list[str] | None, typer.Option(help="FEATURE=COLUMN, where they are not called alike")] = None,
    mapping: Annotated[Path | None, typer.Option(help="the same as a JSON file: columns by feature")] = None,
    person: Annotated[str | None, typer.Option("--id", help="column that names the person; else the row does")] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="columns to carry over, such as groups to compare: NAME or NAME=COLUMN"),
    ] = None,
    form: Annotated[
        Literal["parquet", "csv", "ndjson"] | None,
        typer.Option("--format", help="if the file's ending does not say"),
    ] = None,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="this machine, or Ray")] = "local",
    address: Annotated[str | None, typer.Option(help="a Ray cluster; without one, Ray is started here")] = None,
    workers: Annotated[int, typer.Option(min=1, help="processes, or Ray actors")] = os.cpu_count() or 1,
    partition_rows: Annotated[int, typer.Option(min=1, help="rows of the input to a file of answers")] = PARTITION_ROWS,
    chunk_rows: Annotated[int, typer.Option(min=1, help="rows that a worker takes at a time")] = CHUNK_ROWS,
    max_counterfactuals: Annotated[int, typer.Option(min=1, help="most answers for a person")] = MOST_COUNTERFACTUALS,
) -> None:
    """Answer for a whole register of people, and write people, counterfactuals and rejects as Parquet."""
    try:
        from app import cohort_commands as commands  # noqa: PLC0415
        from app.cohorts.columns import BadColumns, pairs  # noqa: PLC0415
    except ModuleNotFoundError as error:
        _fail_without(error)
    try:
        columns = pairs("--column", column or ())
    except BadColumns as error:
        fail(str(error))
    options = commands.Options(
        model=model,
        people=people,
        out=out,
        constraints=constraints,
        request=request,
        form=form,
        columns=columns,
        mapping=mapping,
        context=context or (),
        kept=keep or (),
        person=person,
        engine=engine,
        address=address,
        workers=workers,
        partition_rows=partition_rows,
        chunk_rows=chunk_rows,
        max_counterfactuals=max_counterfactuals,
        command=["flipset", *sys.argv[1:]],
    )
    try:
        commands.cohort(read_settings(), options)
    except BrokenFiles as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        _fail_without(error)


def cohort_report(
    answers: Annotated[Path, typer.Argument(help="the folder that flipset cohort wrote")],
    by: Annotated[
        list[str] | None,
        typer.Option(help="a column to compare groups by; again for more; none: every column kept that has few values"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="the page to write; none: report.html in that folder")] = None,
) -> None:
    """Write a page about a run: who has no way out, by group, and what stands in it. It needs no network."""
    try:
        from app.cohorts.report.errors import NoReport  # noqa: PLC0415
        from app.cohorts.report.writing import write_report  # noqa: PLC0415
    except ModuleNotFoundError as error:
        _fail_without(error)
    page = out or answers / "report.html"
    try:
        write_report(answers, page, by or [])
    except NoReport as error:
        fail(str(error))
    print(page)


def _fail_without(error: ModuleNotFoundError) -> NoReturn:
    package = (error.name or "").partition(".")[0]
    if package not in GROUPS:
        raise error
    group = GROUPS[package]
    fail(f'This needs the optional group "{group}": pip install "flipset[{group}]"')
