"""The command line of whole registers: the report on a run."""

from pathlib import Path
from typing import Annotated

import typer

from app.environment import fail


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
        if error.name != "pyarrow":
            raise
        fail('This needs the optional group "cohort": pip install "flipset[cohort]"')
    page = out or answers / "report.html"
    try:
        write_report(answers, page, by or [])
    except NoReport as error:
        fail(str(error))
    print(page)
