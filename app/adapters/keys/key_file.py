"""The key file: read whole or not at all, and written so that a reader never sees half of it."""

import fcntl
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field, PlainValidator, field_validator, model_validator

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.toml_files import Entry, quoted, read_toml
from app.adapters.keys.key import SCOPES, USUAL_SCOPES, Key, OldSecret
from app.adapters.keys.key_rules import EVERY_MODEL, KeyRules
from app.adapters.keys.rates import Rate

ALL = "all"
MOST_A_MINUTE = 1_000_000
LONGEST_NOTE = 200
HEADER = "# The keys of Flipset: written by `flipset keys`. The secrets are not in here, only their hashes.\n"

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
# Keys and secrets are this long, ids are not. Somebody may have pasted a key in place of a name.
_LONG = re.compile(r"[A-Za-z0-9_-]{41,}")


def check_id(name: str) -> str:
    """Check that an id is safe in a header, a log line and a file name."""
    if not _ID.fullmatch(name):
        raise ValueError("an id has 1 to 40 characters of a-z, 0-9 and -, and does not begin with -")
    return name


def check_note(note: str) -> str:
    if not note.isprintable() or len(note) > LONGEST_NOTE:
        raise ValueError(f"must be one line of at most {LONGEST_NOTE} characters")
    return note


def _models(value: Any) -> tuple[str, ...] | None:
    if value == ALL:
        return None
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise ValueError('must be "all" or a list of models')
    return tuple(value)


def check_rules(rules: Mapping[str, KeyRules], models: Sequence[str] | None) -> None:
    """Check that a key for these models can have these rules; `ValueError` says why not."""
    for name, each in rules.items():
        if name == EVERY_MODEL and each.constraints.model_fields_set:
            raise ValueError("rules for all models cannot name features: write constraints for each model")
        if name != EVERY_MODEL and models is not None and name not in models:
            raise ValueError("has rules for a model that it may not use")


def check_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """The scopes in their order, each once; `ValueError` if there is none, or one that is not known."""
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"must be one or more of {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in scopes)


class RulesEntry(Entry):
    """The rules of a key, in a file of their own."""

    rules: dict[str, KeyRules] = {}


def _scopes(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) and all(isinstance(scope, str) for scope in value) else ()
    return check_scopes(listed)


class KeyEntry(Entry):
    """One key, as it stands in the file under its id."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    models: Annotated[tuple[str, ...] | None, PlainValidator(_models)]
    rate: int | None = Field(default=None, ge=1, le=MOST_A_MINUTE)
    burst: int | None = Field(default=None, ge=1, le=MOST_A_MINUTE)
    searches: int | None = Field(default=None, ge=1)
    scopes: Annotated[tuple[str, ...], BeforeValidator(_scopes)] = USUAL_SCOPES
    made: datetime
    expires: AwareDatetime | None = None
    note: str = ""
    # After a rotation: the secret before, and how long it is still accepted.
    old_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    old_until: AwareDatetime | None = None
    rules: dict[str, KeyRules] = {}

    _one_line = field_validator("note")(check_note)

    @model_validator(mode="after")
    def _rules_of_its_models(self) -> "KeyEntry":
        check_rules(self.rules, self.models)
        return self

    @model_validator(mode="after")
    def _belong_together(self) -> "KeyEntry":
        if self.burst is not None and self.rate is None:
            raise ValueError("has a burst but no rate")
        if (self.old_sha256 is None) != (self.old_until is None):
            raise ValueError("old_sha256 and old_until belong together")
        return self

    def key(self, name: str) -> Key:
        old = None
        if self.old_sha256 is not None and self.old_until is not None:
            old = OldSecret(self.old_sha256, self.old_until)
        rate = rate_of(self.rate, self.burst)
        key = Key(
            name, self.sha256, self.models, rate, self.made, self.note, self.rules, self.expires, old, self.searches
        )
        return replace(key, scopes=self.scopes)


class KeysEntry(Entry):
    """The whole file."""

    keys: dict[str, KeyEntry] = {}

    @field_validator("keys")
    @classmethod
    def _ids(cls, keys: dict[str, KeyEntry]) -> dict[str, KeyEntry]:
        for number, name in enumerate(keys, start=1):
            try:
                check_id(name)
            except ValueError as error:
                # The name is not quoted: it may be a whole key.
                raise ValueError(f"number {number}: {error}") from None
        return keys


def read_keys(file: Path) -> dict[str, Key]:
    """All keys by their ids; `BrokenFiles` with every flaw if the file is not what it should be."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BrokenFiles([Flaw(file, "", error.strerror or "cannot be read")]) from None
    if not content:
        # `flipset keys` never writes such a file: something else cut it off, and nobody was revoked.
        raise BrokenFiles([Flaw(file, "", "holds no keys; make one with: flipset keys add")])
    try:
        entries = read_toml(file, content, KeysEntry).keys
    except BrokenFiles as error:
        raise BrokenFiles([_without_secrets(flaw) for flaw in error.flaws]) from None
    return {name: entry.key(name) for name, entry in entries.items()}


def exposure(file: Path) -> str | None:
    """What other users can do with the file, and how to stop it; None if they cannot do anything."""
    try:
        mode = file.stat().st_mode
    except OSError:
        return None
    if not mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP):
        return None
    what = "read" if not mode & (stat.S_IWOTH | stat.S_IWGRP) else "change"
    return f"{file}: users other than its owner can {what} the key file; chmod 600 (or 640) stops that"


def _without_secrets(flaw: Flaw) -> Flaw:
    """The flaw without anything that may be a secret, for a log."""
    return Flaw(flaw.file, _LONG.sub("(too long)", flaw.field), _LONG.sub("(too long)", flaw.reason))


def rate_of(a_minute: int | None, burst: int | None) -> Rate | None:
    """The rate; without a burst, a minute's requests may come at once."""
    return None if a_minute is None else Rate(a_minute, burst or a_minute)


@contextmanager
def editing(file: Path) -> Iterator[dict[str, Key]]:
    """Lock the file, and yield its keys to be changed. Writes them back if no error was raised."""
    # A link stays one: what it leads to is replaced.
    file = file.resolve()
    with _locked(file):
        keys = read_keys(file) if file.exists() and file.stat().st_size else {}
        yield keys
        _write(file, HEADER + "".join(map(_text, keys.values())))


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    try:
        lock = file.with_name(f"{file.name}.lock").open("w")
    except OSError as error:
        raise BrokenFiles([Flaw(file, "", f"cannot be written: {error.strerror}")]) from None
    with lock:
        # Closing it frees the lock. The file stays: another may wait for it already.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(file: Path, text: str) -> None:
    """Replace the file in one step. A new file is readable by its owner only; otherwise permissions stay."""
    try:
        with NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False, encoding="utf-8") as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
    except OSError as error:
        raise BrokenFiles([Flaw(file, "", f"cannot be written: {error.strerror}")]) from None
    try:
        if file.exists():
            old = file.stat()
            os.chown(new.name, old.st_uid, old.st_gid)
            Path(new.name).chmod(old.st_mode & 0o777)
        Path(new.name).replace(file)
    except OSError as error:
        Path(new.name).unlink()
        raise BrokenFiles([Flaw(file, "", f"cannot be replaced: {error.strerror}")]) from None


def _text(key: Key) -> str:
    lines = [f"[keys.{key.id}]", f'sha256 = "{key.sha256}"', f"models = {_listed(key.models)}"]
    if key.rate is not None:
        lines += [f"rate = {key.rate.a_minute}", f"burst = {key.rate.burst}"]
    if key.searches is not None:
        lines.append(f"searches = {key.searches}")
    if key.scopes != USUAL_SCOPES:
        lines.append(f"scopes = {_listed(key.scopes)}")
    lines.append(f"made = {key.made.isoformat()}")
    if key.expires is not None:
        lines.append(f"expires = {key.expires.isoformat()}")
    if key.old is not None:
        lines += [f'old_sha256 = "{key.old.sha256}"', f"old_until = {key.old.until.isoformat()}"]
    if key.note:
        lines.append(f"note = {quoted(key.note)}")
    for name, rules in key.rules.items():
        said = rules.model_dump(mode="json", exclude_unset=True)
        lines += ["", f"[keys.{key.id}.rules.{quoted(name)}]", *(f"{part} = {_value(said[part])}" for part in said)]
    return "\n" + "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """What a rule may hold, in TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{quoted(name)} = {_value(part)}' for name, part in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return quoted(value)


def _listed(models: Iterable[str] | None) -> str:
    return quoted(ALL) if models is None else f"[{', '.join(map(quoted, models))}]"
