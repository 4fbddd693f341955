"""`flipset compare`: does the served model say what its trainer's own library said?"""

from typing import Annotated

import typer

from app.cli.environment import read_settings
from app.cli.onboarding import options


def compare(
    name: Annotated[str, typer.Argument(help="name of the model")],
    people: options.People,
    score: Annotated[str, typer.Option(help="column with the trainer's score of the favourable side")],
    column: Annotated[
        list[str] | None, typer.Option(help="FEATURE=COLUMN, if a column has another name than its feature")
    ] = None,
    form: options.Form = None,
) -> None:
    """Compare the served scores with the trainer's own, row by row. Ends with 1 if they differ, and says why."""
    with options.told():
        from app.cli.onboarding.comparing import compare_scores  # noqa: PLC0415
        from app.cli.register_run import columns_of  # noqa: PLC0415

        compare_scores(read_settings(), name, people, form, score, columns_of(column or ()))
