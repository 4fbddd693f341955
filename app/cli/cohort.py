"""The commands for whole registers. They need an optional group, which is imported when they are called."""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from app.adapters.files.flaws import BrokenFiles
from app.adapters.machine.optional_groups import how_to_install
from app.cli.environment import fail, from_one, read_settings
from app.cohorts.amounts import CHUNK_ROWS, MOST_COUNTERFACTUALS, PARTITION_ROWS

# The optional group of each package.
GROUPS = {"pyarrow": "cohort", "ray": "cluster"}


def cohort(  # noqa: PLR0913, PLR0917  # an argument for each option
    model: Annotated[str, typer.Argument(help="name of the model")],
    people: Annotated[Path, typer.Argument(help="Parquet, CSV or NDJSON: a file, or a folder of files")],
    out: Annotated[Path, typer.Option(help="folder for the answers; a stopped run continues there")],
    constraints: Annotated[Path | None, typer.Option(help="JSON file with constraints for everyone")] = None,
    request: Annotated[
        Path | None, typer.Option(help="JSON file with a request without the person: registry, target, limits ...")
    ] = None,
    context: Annotated[
        list[str] | None, typer.Option(help="columns that decide which range applies: NAME or NAME=COLUMN")
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="FEATURE=COLUMN, if a column has another name than its feature")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="JSON file with the columns by feature, instead of --column")
    ] = None,
    person: Annotated[
        str | None, typer.Option("--id", help="column that names the person; default: the row number")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="columns to copy to the answers, such as groups to compare: NAME or NAME=COLUMN"),
    ] = None,
    form: Annotated[
        Literal["parquet", "csv", "ndjson"] | None,
        typer.Option("--format", help="format of the files, if their names do not end in it"),
    ] = None,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="this machine, or Ray")] = "local",
    address: Annotated[
        str | None, typer.Option(help="address of a Ray cluster; default: start Ray on this machine")
    ] = None,
    workers: Annotated[int, typer.Option(callback=from_one(), help="processes, or Ray actors")] = os.cpu_count() or 1,
    partition_rows: Annotated[
        int, typer.Option(callback=from_one(), help="input rows in each file of answers")
    ] = PARTITION_ROWS,
    chunk_rows: Annotated[int, typer.Option(callback=from_one(), help="rows that a worker takes at once")] = CHUNK_ROWS,
    max_counterfactuals: Annotated[
        int, typer.Option(callback=from_one(), help="most answers per person")
    ] = MOST_COUNTERFACTUALS,
) -> None:
    """Answer for all people of a register. Writes people, counterfactuals and rejects as Parquet."""
    try:
        from app.cli import cohort_run as commands  # noqa: PLC0415
        from app.cohorts.reading.columns import BadColumns, pairs  # noqa: PLC0415
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
        typer.Option(
            help="column to compare groups by; repeat it for more; default: every kept column with few values"
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="page to write; default: report.html in that folder")] = None,
) -> None:
    """Write a report about a run as one HTML page: who has no way out, by group, and why."""
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
    fail(f'This needs the optional group "{group}": {how_to_install(group)}')
