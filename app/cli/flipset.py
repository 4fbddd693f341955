"""The command line: serve, explain, validate, inspect, and the keys.

A command imports what it needs when it is called: `serve` only supervises others, and starts at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from app import __version__
from app.adapters.files.flaws import BrokenFiles
from app.adapters.keys.key_rates import NoRates
from app.adapters.machine.core_dumps import leave_no_core_dump
from app.adapters.records.opening import NoStore
from app.cli.cohort import cohort, cohort_report
from app.cli.drift.command import drift
from app.cli.environment import fail, read_settings
from app.cli.keys import keys_cli
from app.cli.onboarding.compare import compare
from app.cli.onboarding.init import init
from app.cli.onboarding.ranges import ranges_cli
from app.cli.records.command import records_cli
from app.cli.records.verifying import verify
from app.observing.slots import NoSharedFolder
from app.processes import serving
from app.settings import Settings

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.add_typer(keys_cli, name="keys")
cli.add_typer(ranges_cli, name="ranges")
cli.add_typer(records_cli, name="records")
cli.command()(verify)
cli.command()(cohort)
cli.command()(cohort_report)
cli.command()(drift)
cli.command()(init)
cli.command()(compare)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"flipset {__version__}")
        raise typer.Exit


@cli.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Every minimal set of changes that turns a model's decision."""
    leave_no_core_dump()


@cli.command()
def serve() -> None:
    """Serve the models over HTTP. docs/settings.md lists the settings, which are environment variables."""
    try:
        serving.serve(read_settings())
    except (BrokenFiles, NoRates, NoSharedFolder, NoStore, serving.OpenToAll, serving.TooFewFiles) as error:
        fail(f"Flipset cannot start:\n{error}")


@cli.command()
def explain(
    model: Annotated[str, typer.Argument(help="name of the model")],
    file: Annotated[str, typer.Argument(help="file with the request as JSON; - reads standard input")],
) -> None:
    """Answer one request: as a table in a terminal, as JSON lines in a pipe."""
    from app.cli import models  # noqa: PLC0415

    _or_fail(lambda settings: models.explain(settings, model, file))


@cli.command()
def validate(
    lock: Annotated[
        bool, typer.Option("--lock", help="also record what each version holds, in versions.lock of both folders")
    ] = False,
) -> None:
    """Check every model and registry. Prints file, field and reason of each mistake, one line each."""
    from app.cli import models  # noqa: PLC0415

    _or_fail(lambda settings: models.validate(settings, lock))


@cli.command()
def inspect(file: Annotated[Path, typer.Argument(help="an ONNX file")]) -> None:
    """Print the inputs and outputs of a graph, and write a draft of model.toml beside it."""
    from app.cli import models  # noqa: PLC0415

    models.inspect(file)


def _or_fail(command: Callable[[Settings], None]) -> None:
    try:
        command(read_settings())
    except BrokenFiles as error:
        fail(str(error))
