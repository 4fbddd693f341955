"""The command that compares two versions of a model. It imports an optional group when it is called."""

from typing import Annotated

import typer

from app.cli.environment import read_settings
from app.cli.register_options import Options, of_a_register


@of_a_register("reasons", "shared")
def drift(
    old: Annotated[str, typer.Argument(help="name of the model in use")],
    new: Annotated[str, typer.Argument(help="name of its next version, with the same features")],
    options: Options,
) -> None:
    """Compare two versions of a model on a register: who loses or gains a way out, and whose plans break.

    Prints a table in a terminal, JSON lines in a pipe. Writes people, counterfactuals and rejects as Parquet.
    """
    from app.cli.drift.running import drift as compare  # noqa: PLC0415

    compare(read_settings(), old, new, options)
