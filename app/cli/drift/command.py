"""The command that compares two versions of a model. It imports an optional group when it is called."""

import sys
from typing import Annotated

import typer

from app.adapters.files.flaws import BrokenFiles
from app.cli import register_options as options
from app.cli.environment import fail, read_settings
from app.cohorts.amounts import CHUNK_ROWS, MOST_COUNTERFACTUALS, PARTITION_ROWS


def drift(  # noqa: PLR0913, PLR0917  # an argument for each option
    old: Annotated[str, typer.Argument(help="name of the model in use")],
    new: Annotated[str, typer.Argument(help="name of its next version, with the same features")],
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
    workers: options.Workers = options.PROCESSORS,
    partition_rows: options.PartitionRows = PARTITION_ROWS,
    chunk_rows: options.ChunkRows = CHUNK_ROWS,
    max_counterfactuals: options.MaxCounterfactuals = MOST_COUNTERFACTUALS,
) -> None:
    """Compare two versions of a model on a register: who loses or gains a way out, and whose plans break.

    Prints a table in a terminal, JSON lines in a pipe. Writes people, counterfactuals and rejects as Parquet.
    """
    try:
        from app.cli.drift.running import drift as compare  # noqa: PLC0415
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
    )
    try:
        compare(read_settings(), old, new, given)
    except BrokenFiles as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        options.fail_without(error)
