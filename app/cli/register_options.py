"""The options that the commands about whole registers share. They import nothing of an optional group."""

import os
import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from app.adapters.files.flaws import BrokenFiles
from app.adapters.machine.optional_groups import how_to_install
from app.cli.environment import fail, from_one
from app.cohorts.amounts import CHUNK_ROWS, MOST_COUNTERFACTUALS, PARTITION_ROWS
from app.cohorts.places import UnknownPlace, place

# The optional group of each package.
GROUPS = {"pyarrow": "cohort", "ray": "cluster", "upath": "cluster"}
PROCESSORS = os.cpu_count() or 1


def _place(text: str) -> Path:
    try:
        return place(text)
    except UnknownPlace as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        fail_without(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the commands take besides the names of models, each as typer reads it."""

    people: Annotated[
        Path,
        typer.Argument(parser=_place, metavar="PEOPLE", help="Parquet, CSV or NDJSON: a file, or a folder of files"),
    ]
    out: Annotated[
        Path,
        typer.Option(parser=_place, metavar="FOLDER", help="folder for the answers; a stopped run continues there"),
    ]
    constraints: Annotated[Path | None, typer.Option(help="JSON file with constraints for everyone")] = None
    request: Annotated[
        Path | None, typer.Option(help="JSON file with a request without the person: registry, target, limits ...")
    ] = None
    context: Annotated[
        list[str] | None, typer.Option(help="columns that decide which range applies: NAME or NAME=COLUMN")
    ] = None
    column: Annotated[
        list[str] | None, typer.Option(help="FEATURE=COLUMN, if a column has another name than its feature")
    ] = None
    mapping: Annotated[Path | None, typer.Option(help="JSON file with the columns by feature, instead of --column")] = (
        None
    )
    person: Annotated[
        str | None, typer.Option("--id", help="column that names the person; default: the row number")
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(help="columns to copy to the answers, such as groups to compare: NAME or NAME=COLUMN"),
    ] = None
    form: Annotated[
        Literal["parquet", "csv", "ndjson"] | None,
        typer.Option("--format", help="format of the files, if their names do not end in it"),
    ] = None
    engine: Annotated[Literal["local", "ray"], typer.Option(help="this machine, or Ray")] = "local"
    address: Annotated[
        str | None, typer.Option(help="address of a Ray cluster; default: start Ray on this machine")
    ] = None
    shared: Annotated[
        bool,
        typer.Option(
            "--shared", help="with Ray: the workers see the people and the folder, and read and write themselves"
        ),
    ] = False
    workers: Annotated[int, typer.Option(callback=from_one(), help="processes, or Ray actors")] = PROCESSORS
    partition_rows: Annotated[int, typer.Option(callback=from_one(), help="input rows in each file of answers")] = (
        PARTITION_ROWS
    )
    chunk_rows: Annotated[int, typer.Option(callback=from_one(), help="rows that a worker takes at once")] = CHUNK_ROWS
    max_counterfactuals: Annotated[int, typer.Option(callback=from_one(), help="most answers per person")] = (
        MOST_COUNTERFACTUALS
    )
    reasons: Annotated[bool, typer.Option("--reasons", help="also find the reasons for each decision")] = False

    @property
    def command(self) -> list[str]:
        """As it was given."""
        return ["flipset", *sys.argv[1:]]


def of_a_register(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the `Options` behind its own arguments, but for those that it goes without."""
    taken = [field for field in fields(Options) if field.name not in without]

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def called(**given: Any) -> None:
            options = Options(**{field.name: given.pop(field.name) for field in taken})
            try:
                command(**given, options=options)
            except BrokenFiles as error:
                fail(str(error))
            except ModuleNotFoundError as error:
                fail_without(error)

        own = [each for name, each in signature(command).parameters.items() if name != "options"]
        called.__signature__ = Signature([*own, *map(_parameter, taken)])  # type: ignore[attr-defined]  # typer reads it
        return called

    return with_options


def _parameter(field: Any) -> Parameter:
    default = Parameter.empty if field.default is MISSING else field.default
    return Parameter(field.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=field.type)


def fail_without(error: ModuleNotFoundError) -> NoReturn:
    """End the command with how to install what it lacks."""
    package = (error.name or "").partition(".")[0]
    if package not in GROUPS:
        raise error
    group = GROUPS[package]
    fail(f'This needs the optional group "{group}": {how_to_install(group)}')
