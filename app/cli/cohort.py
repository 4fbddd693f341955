"""The commands for whole registers. They need an optional group, which is imported when they are called."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli import register_options
from app.cli.environment import fail, read_settings


@register_options.of_a_register()
def cohort(model: Annotated[str, typer.Argument(help="name of the model")], options: register_options.Options) -> None:
    """Answer for all people of a register. Writes people, counterfactuals and rejects as Parquet."""
    from app.cli.cohort_run import cohort as answer  # noqa: PLC0415

    answer(read_settings(), model, options)


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
        register_options.fail_without(error)
    page = out or answers / "report.html"
    try:
        write_report(answers, page, by or [])
    except NoReport as error:
        fail(str(error))
    print(page)
