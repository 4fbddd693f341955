"""The options that the commands about whole registers share. They import nothing of an optional group."""

import os
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from app.adapters.machine.optional_groups import how_to_install
from app.cli.environment import fail, from_one
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


People = Annotated[
    Path, typer.Argument(parser=_place, metavar="PEOPLE", help="Parquet, CSV or NDJSON: a file, or a folder of files")
]
Out = Annotated[
    Path, typer.Option(parser=_place, metavar="FOLDER", help="folder for the answers; a stopped run continues there")
]
Constraints = Annotated[Path | None, typer.Option(help="JSON file with constraints for everyone")]
Request = Annotated[
    Path | None, typer.Option(help="JSON file with a request without the person: registry, target, limits ...")
]
Context = Annotated[list[str] | None, typer.Option(help="columns that decide which range applies: NAME or NAME=COLUMN")]
Column = Annotated[list[str] | None, typer.Option(help="FEATURE=COLUMN, if a column has another name than its feature")]
Mapping = Annotated[Path | None, typer.Option(help="JSON file with the columns by feature, instead of --column")]
Person = Annotated[str | None, typer.Option("--id", help="column that names the person; default: the row number")]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="columns to copy to the answers, such as groups to compare: NAME or NAME=COLUMN"),
]
Form = Annotated[
    Literal["parquet", "csv", "ndjson"] | None,
    typer.Option("--format", help="format of the files, if their names do not end in it"),
]
Engine = Annotated[Literal["local", "ray"], typer.Option(help="this machine, or Ray")]
Shared = Annotated[
    bool,
    typer.Option("--shared", help="with Ray: the workers see the people and the folder, and read and write themselves"),
]
Address = Annotated[str | None, typer.Option(help="address of a Ray cluster; default: start Ray on this machine")]
Workers = Annotated[int, typer.Option(callback=from_one(), help="processes, or Ray actors")]
PartitionRows = Annotated[int, typer.Option(callback=from_one(), help="input rows in each file of answers")]
ChunkRows = Annotated[int, typer.Option(callback=from_one(), help="rows that a worker takes at once")]
MaxCounterfactuals = Annotated[int, typer.Option(callback=from_one(), help="most answers per person")]


def fail_without(error: ModuleNotFoundError) -> NoReturn:
    """End the command with how to install what it lacks."""
    package = (error.name or "").partition(".")[0]
    if package not in GROUPS:
        raise error
    group = GROUPS[package]
    fail(f'This needs the optional group "{group}": {how_to_install(group)}')
