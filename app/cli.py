"""The command line: serve, explain, validate, inspect.

What a command needs is imported when it is called: `serve` only looks after others, and starts at once.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from pydantic import ValidationError

from app import __version__, serving
from app.adapters.flaws import BrokenFiles, field_path, reason_of
from app.adapters.names import suggestion
from app.settings import Settings

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"flipset {__version__}")
        raise typer.Exit


@cli.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True)] = False,
) -> None:
    """Every minimal set of changes that turns a model's decision."""


@cli.command()
def serve() -> None:
    """Serve the models over HTTP. Settings are environment variables: FLIPSET_HOST, FLIPSET_PORT, FLIPSET_MODELS_DIR,
    FLIPSET_NORMAL_RANGES_DIR, and those that the README lists.
    """
    try:
        serving.serve(_settings())
    except BrokenFiles as error:
        _fail(f"Flipset cannot start:\n{error}")


@cli.command()
def explain(
    model: Annotated[str, typer.Argument(help="name of the model")],
    file: Annotated[str, typer.Argument(help="file with the request as JSON; - reads it from the input")],
) -> None:
    """Answer one request: a table in a terminal, JSON lines in a pipe."""
    from app import commands  # noqa: PLC0415

    _or_fail(lambda settings: commands.explain(settings, model, file))


@cli.command()
def validate() -> None:
    """Check every model and registry, and say what is wrong: file, field and reason, one line each."""
    from app import commands  # noqa: PLC0415

    _or_fail(commands.validate)


@cli.command()
def inspect(file: Annotated[Path, typer.Argument(help="an ONNX file")]) -> None:
    """Print what a graph offers, and write a model.toml beside it to fill in."""
    from app import commands  # noqa: PLC0415

    commands.inspect(file)


def _settings() -> Settings:
    known = {f"FLIPSET_{name.upper()}" for name in Settings.model_fields}
    for name in sorted(set(os.environ) - known):
        if name.startswith("FLIPSET_"):
            print(f"{name} is not a setting, and is ignored; {suggestion(name, known)}", file=sys.stderr)
    try:
        return Settings()
    except ValidationError as error:
        flaws = [f"FLIPSET_{field_path(entry['loc']).upper()}: {reason_of(entry)}" for entry in error.errors()]
        _fail("\n".join(flaws))


def _or_fail(command: Callable[[Settings], None]) -> None:
    try:
        command(_settings())
    except BrokenFiles as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise typer.Exit(1)
