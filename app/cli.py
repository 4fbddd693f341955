"""The command line: serve, explain, validate, inspect, and the keys.

What a command needs is imported when it is called: `serve` only looks after others, and starts at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from app import __version__, serving
from app.adapters.flaws import BrokenFiles
from app.api.slots import NoSharedFolder
from app.cohort_cli import cohort, cohort_report
from app.environment import fail, read_settings
from app.keys_cli import keys_cli
from app.settings import Settings

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.add_typer(keys_cli, name="keys")
cli.command()(cohort)
cli.command()(cohort_report)


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
        serving.serve(read_settings())
    except (BrokenFiles, NoSharedFolder, serving.OpenToAll) as error:
        fail(f"Flipset cannot start:\n{error}")


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


def _or_fail(command: Callable[[Settings], None]) -> None:
    try:
        command(read_settings())
    except BrokenFiles as error:
        fail(str(error))
