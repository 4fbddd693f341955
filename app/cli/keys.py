"""The command line of the keys: add, list, edit, rotate, revoke."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from app.adapters.files.flaws import BrokenFiles
from app.adapters.files.names import suggestion
from app.adapters.keys.key import Key, new_key, rotated
from app.adapters.keys.key_file import (
    MOST_A_MINUTE,
    check_id,
    check_note,
    check_rules,
    check_scopes,
    editing,
    exposure,
    rate_of,
    read_keys,
)
from app.adapters.keys.key_rules import EVERY_MODEL
from app.cli.environment import fail, from_one, read_settings
from app.cli.key_options import end_of, mention_unfit, mention_unknown, rules_in, span_of
from app.settings import Settings

keys_cli = typer.Typer(no_args_is_help=True, help="Manage the keys in the file that FLIPSET_KEYS_FILE names.")

T = TypeVar("T")
NEVER = "never"
NOTICED = (
    "Servers notice within two seconds. A container that mounts only this file, such as a Compose secret, "
    "must be restarted: until then it uses the old file."
)

File = Annotated[Path | None, typer.Option("--file", help="the key file, instead of FLIPSET_KEYS_FILE")]
Id = Annotated[str, typer.Argument(metavar="ID", help="the id of the key")]
Models = Annotated[list[str] | None, typer.Option("--model", help="model that the key may use; repeat it for more")]
PerMinute = Annotated[int | None, typer.Option("--rate", callback=from_one(MOST_A_MINUTE), help="requests per minute")]
Burst = Annotated[
    int | None, typer.Option(callback=from_one(MOST_A_MINUTE), help="most requests at once; default: the rate")
]
Searches = Annotated[
    int | None,
    typer.Option(callback=from_one(), help="most requests in progress, instead of FLIPSET_MAX_SEARCHES_PER_CLIENT"),
]
Note = Annotated[str | None, typer.Option(help="owner or purpose of the key")]
Expires = Annotated[
    str | None,
    typer.Option(help="when the key expires: a day (at its end, UTC), a time, 90d, or never", metavar="WHEN"),
]
# The backslash keeps rich from taking the brackets for markup.
Rules = Annotated[
    Path | None, typer.Option(help=r"TOML file with rules for the key: \[rules.MODEL.policy] and .constraints")
]


Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", help="ask, read, feedback or erase; repeat it for more; default: ask and feedback"),
]


@keys_cli.command()
def add(  # noqa: PLR0913, PLR0917  # an argument for each option
    name: Annotated[str | None, typer.Argument(metavar="ID", help="a-z, 0-9 and -; default: a random one")] = None,
    model: Models = None,
    rate: PerMinute = None,
    burst: Burst = None,
    searches: Searches = None,
    note: Note = None,
    expires: Expires = None,
    rules: Rules = None,
    scope: Scopes = None,
    file: File = None,
) -> None:
    """Make a key and show it once. By default it may use all models, at any rate."""
    if name is not None:
        _said("ID", lambda: check_id(name))
    if burst is not None and rate is None:
        fail("--burst needs a --rate")
    settings = read_settings()
    changes = _changes(model, rate, burst, searches, note, expires, rules) | _scoped(scope)
    mention_unknown([*(model or ()), *_ruled(changes)], settings.models_dir)
    mention_unfit(changes.get("rules", {}), settings.models_dir)
    with _told(), editing(_key_file(file, settings)) as keys:
        if name in keys:
            fail(f"There is already a key {name!r}; revoke it first, or choose another id.")
        key, text = new_key(name, None, None, "")
        keys[key.id] = _checked(replace(key, **changes))
    _show(key.id, text)


@keys_cli.command(name="list")
def show(file: File = None) -> None:
    """List the keys, without their secrets."""
    with _told():
        keys = read_keys(_existing(_key_file(file, read_settings())))
    titles = (
        "id",
        "models",
        "a minute",
        "at once",
        "searches",
        "made",
        "expires",
        "old one until",
        "scopes",
        "rules",
        "note",
    )
    table = Table(*titles, box=None, pad_edge=False)
    for key in keys.values():
        table.add_row(*_row(key))
    Console(width=None if sys.stdout.isatty() else 200).print(table, markup=False)


@keys_cli.command()
def edit(  # noqa: PLR0913, PLR0917  # an argument for each option
    name: Id,
    model: Models = None,
    all_models: Annotated[bool, typer.Option("--all-models", help="allow all models")] = False,
    rate: PerMinute = None,
    burst: Burst = None,
    any_rate: Annotated[bool, typer.Option("--any-rate", help="allow any rate")] = False,
    searches: Searches = None,
    usual_searches: Annotated[
        bool, typer.Option("--usual-searches", help="as many requests in progress as any client")
    ] = False,
    note: Note = None,
    expires: Expires = None,
    rules: Rules = None,
    no_rules: Annotated[
        bool, typer.Option("--no-rules", help="remove the rules of the key; those of the models stay")
    ] = False,
    scope: Scopes = None,
    file: File = None,
) -> None:
    """Change what a key may do. Its secret stays, and so does whatever you do not name."""
    settings = read_settings()
    lifted = {"models": all_models, "rate": any_rate, "searches": usual_searches, "rules": no_rules}
    changes = _changes(model, rate, burst, searches, note, expires, rules) | _scoped(scope)
    if twice := [what for what, is_lifted in lifted.items() if is_lifted and what in changes]:
        fail(f"Choose one: you gave two values for {twice[0]}.")
    changes |= {what: {} if what == "rules" else None for what, is_lifted in lifted.items() if is_lifted}
    if not changes and burst is None:
        fail("Say what to change; see flipset keys edit --help.")
    mention_unknown([*(model or ()), *_ruled(changes)], settings.models_dir)
    mention_unfit(changes.get("rules", {}), settings.models_dir)
    with _told(), editing(_key_file(file, settings)) as keys:
        key = _known(name, keys)
        if burst is not None and rate is None:
            changes["rate"] = rate_of(fail("--burst needs a --rate") if key.rate is None else key.rate.a_minute, burst)
        keys[name] = _checked(replace(key, **changes))
    print(f"Changed: {name}")
    print(NOTICED, file=sys.stderr)


@keys_cli.command()
def rotate(
    name: Id,
    grace: Annotated[str, typer.Option(help="how long the old secret stays valid: 7d, 12h; 0d ends it at once")] = "7d",
    file: File = None,
) -> None:
    """Give a key a new secret and show it once. The old secret stays valid for a while."""
    until = _now() + _said("--grace", lambda: span_of(grace))
    with _told(), editing(_key_file(file, read_settings())) as keys:
        keys[name], text = rotated(_known(name, keys), until)
    _show(name, text)
    print(f"The old secret is valid until {until:%Y-%m-%d %H:%M} UTC. {NOTICED}", file=sys.stderr)


@keys_cli.command()
def revoke(name: Id, file: File = None) -> None:
    """Remove a key. Servers that use this file notice within two seconds."""
    with _told(), editing(_key_file(file, read_settings())) as keys:
        _known(name, keys)
        del keys[name]
    print(f"Revoked: {name}")
    print(NOTICED, file=sys.stderr)


def _changes(
    model: list[str] | None,
    rate: int | None,
    burst: int | None,
    searches: int | None,
    note: str | None,
    expires: str | None,
    rules: Path | None,
) -> dict[str, Any]:
    """The options that were given, by the fields of a key."""
    changes: dict[str, Any] = {}
    if model:
        changes["models"] = tuple(model)
    if rate is not None:
        changes["rate"] = rate_of(rate, burst)
    if searches is not None:
        changes["searches"] = searches
    if note is not None:
        changes["note"] = _said("--note", lambda: check_note(note))
    if expires is not None:
        changes["expires"] = None if expires == NEVER else _said("--expires", lambda: end_of(expires, _now()))
    if rules is not None:
        with _told():
            changes["rules"] = rules_in(rules)
    return changes


def _scoped(scopes: list[str] | None) -> dict[str, Any]:
    return {} if scopes is None else {"scopes": _said("--scope", lambda: check_scopes(scopes))}


def _ruled(changes: dict[str, Any]) -> list[str]:
    return [name for name in changes.get("rules", ()) if name != EVERY_MODEL]


def _checked(key: Key) -> Key:
    _said(f"key {key.id!r}", lambda: check_rules(key.rules, key.models))
    return key


def _known(name: str, keys: dict[str, Key]) -> Key:
    if name not in keys:
        fail(f"There is no key {name[:40]!r}; {suggestion(name, keys) if keys else 'the file has no keys'}")
    return keys[name]


def _show(name: str, text: str) -> None:
    print(text)
    print(f"This is the key {name!r}. Store it now: it is not shown again.", file=sys.stderr)


def _row(key: Key) -> tuple[str, ...]:
    models = "all" if key.models is None else ", ".join(key.models)
    rate = ("any", "any") if key.rate is None else (str(key.rate.a_minute), str(key.rate.burst))
    expires = _time(key.expires) if key.expires is None or key.expires > _now() else f"{_time(key.expires)} (over)"
    old = _time(None if key.old is None or key.old.until <= _now() else key.old.until)
    searches = "usual" if key.searches is None else str(key.searches)
    scopes, rules = ", ".join(key.scopes), ", ".join(key.rules) or "-"
    return key.id, models, *rate, searches, _time(key.made), expires, old, scopes, rules, key.note


def _time(moment: datetime | None) -> str:
    return "-" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _key_file(given: Path | None, settings: Settings) -> Path:
    file = given or settings.keys_file
    if file is None:
        fail("Which file? Set FLIPSET_KEYS_FILE, or name it with --file.")
    if (exposed := exposure(file)) is not None:
        print(f"Note: {exposed}", file=sys.stderr)
    return file


def _existing(file: Path) -> Path:
    if not file.exists():
        fail(f"There is no key file {file} yet; make a key with flipset keys add.")
    return file


def _said(where: str, read: Callable[[], T]) -> T:
    """Read an option, or end the command with a message."""
    try:
        return read()
    except ValueError as error:
        fail(f"{where}: {error}")


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenFiles as error:
        fail(str(error))
