"""The command line of the keys: add, list, revoke."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.adapters.flaws import BrokenFiles
from app.adapters.key_file import MOST_A_MINUTE, check_id, check_note, editing, rate_of, read_keys
from app.adapters.keys import Key, new_key
from app.adapters.names import suggestion
from app.environment import fail, read_settings
from app.settings import Settings

keys_cli = typer.Typer(no_args_is_help=True, help="Who may ask: the keys in the file that FLIPSET_KEYS_FILE names.")

File = Annotated[Path | None, typer.Option("--file", help="the key file, instead of FLIPSET_KEYS_FILE")]


@keys_cli.command()
def add(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="made of a-z, 0-9 and -; left out, a random one")
    ] = None,
    model: Annotated[list[str] | None, typer.Option(help="a model that it may use; again for more; none: all")] = None,
    rate: Annotated[int | None, typer.Option(min=1, max=MOST_A_MINUTE, help="requests a minute; none: any")] = None,
    burst: Annotated[
        int | None, typer.Option(min=1, max=MOST_A_MINUTE, help="how many may come at once; none: a minute's")
    ] = None,
    note: Annotated[str, typer.Option(help="whose it is, or what it is for")] = "",
    file: File = None,
) -> None:
    """Make a key and show it, once."""
    try:
        if name is not None:
            check_id(name)
        check_note(note)
    except ValueError as error:
        fail(str(error))
    if burst is not None and rate is None:
        fail("--burst needs a --rate")
    settings = read_settings()
    _check_models(model or [], settings.models_dir)
    with _told(), editing(_key_file(file, settings)) as keys:
        if name in keys:
            fail(f"There is a key {name!r} already; revoke it first, or take another id.")
        key, text = new_key(name, tuple(model) if model else None, rate_of(rate, burst), note)
        keys[key.id] = key
    print(text)
    print(f"This is the key {key.id!r}. It is shown this once and kept nowhere: store it now.", file=sys.stderr)


@keys_cli.command(name="list")
def show(file: File = None) -> None:
    """List the keys; their secrets are known to their holders alone."""
    with _told():
        keys = read_keys(_key_file(file, read_settings()))
    table = Table("id", "models", "a minute", "at once", "made", "note", box=None, pad_edge=False)
    for key in keys.values():
        table.add_row(*_row(key))
    Console(width=None if sys.stdout.isatty() else 200).print(table, markup=False)


@keys_cli.command()
def revoke(name: Annotated[str, typer.Argument(metavar="ID", help="the id of the key")], file: File = None) -> None:
    """Take a key away; servers that see this file notice within a second or two."""
    with _told(), editing(_key_file(file, read_settings())) as keys:
        if name not in keys:
            fail(f"There is no key {name[:40]!r}; {suggestion(name, keys) if keys else 'there are none at all'}")
        del keys[name]
    print(f"Revoked: {name}")
    print("Servers notice within a second or two. A container that has this one file mounted", end=" ", file=sys.stderr)
    print("(a Compose secret is that) must be restarted: until then it accepts the key.", file=sys.stderr)


def _row(key: Key) -> tuple[str, ...]:
    models = "all" if key.models is None else ", ".join(key.models)
    rate = ("any", "any") if key.rate is None else (str(key.rate.a_minute), str(key.rate.burst))
    return key.id, models, *rate, f"{key.made:%Y-%m-%d %H:%M}", key.note


def _key_file(given: Path | None, settings: Settings) -> Path:
    file = given or settings.keys_file
    if file is None:
        fail("Which file? Set FLIPSET_KEYS_FILE, or name it with --file.")
    return file


def _check_models(names: list[str], folder: Path) -> None:
    """A name that is misspelt would give a key that is of no use; but the models may be on another machine."""
    served = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for name in names:
        if served and name not in served:
            print(f"Note: there is no model {name!r} in {folder}; {suggestion(name, served)}", file=sys.stderr)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenFiles as error:
        fail(str(error))
