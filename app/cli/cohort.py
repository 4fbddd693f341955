"""The commands for whole registers. They need an optional group, which is imported when they are called."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from app.adapters.files.flaws import BrokenFiles
from app.cli import register_options as options
from app.cli.environment import fail, read_settings
from app.cohorts.amounts import CHUNK_ROWS, MOST_COUNTERFACTUALS, PARTITION_ROWS


def cohort(  # noqa: PLR0913, PLR0917  # an argument for each option
    model: Annotated[str, typer.Argument(help="name of the model")],
    people: options.People,
    out: options.Out,
    constraints: options.Constraints = None,
    request: options.Request = None,
    context: options.Context = None,
    column: options.Column = None,
    mapping: options.Mapping = None,
    person: options.Person = None,
    keep: options.Keep = None,
    form: options.Form = None,
    engine: options.Engine = "local",
    address: options.Address = None,
    shared: options.Shared = False,
    workers: options.Workers = options.PROCESSORS,
    partition_rows: options.PartitionRows = PARTITION_ROWS,
    chunk_rows: options.ChunkRows = CHUNK_ROWS,
    max_counterfactuals: options.MaxCounterfactuals = MOST_COUNTERFACTUALS,
    reasons: Annotated[bool, typer.Option("--reasons", help="also find the reasons for each decision")] = False,
) -> None:
    """Answer for all people of a register. Writes people, counterfactuals and rejects as Parquet."""
    try:
        from app.cli.cohort_run import cohort as answer  # noqa: PLC0415
        from app.cli.register_run import Options, columns_of  # noqa: PLC0415
    except ModuleNotFoundError as error:
        options.fail_without(error)
    given = Options(
        people=people,
        out=out,
        constraints=constraints,
        request=request,
        form=form,
        columns=columns_of(column or ()),
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
        reasons=reasons,
        shared=shared,
    )
    try:
        answer(read_settings(), model, given)
    except BrokenFiles as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        options.fail_without(error)


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
        options.fail_without(error)
    page = out or answers / "report.html"
    try:
        write_report(answers, page, by or [])
    except NoReport as error:
        fail(str(error))
    print(page)
