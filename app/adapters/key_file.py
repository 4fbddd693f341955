"""The key file: read whole or not at all, and written so that a reader never sees half of it."""

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

from pydantic import Field, PlainValidator, field_validator, model_validator

from app.adapters.flaws import BrokenFiles, Flaw
from app.adapters.keys import Key
from app.adapters.rates import Rate
from app.adapters.toml_files import Entry, read_toml

ALL = "all"
MOST_A_MINUTE = 1_000_000
LONGEST_NOTE = 200
HEADER = "# The keys of Flipset: written by `flipset keys`. The secrets are not in here, only their hashes.\n"

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
# No id is as long as this, but a key or its secret is, which somebody may have pasted as a name.
_LONG = re.compile(r"[A-Za-z0-9_-]{41,}")


def check_id(name: str) -> str:
    """An id can stand in a header, a log line and a file name."""
    if not _ID.fullmatch(name):
        raise ValueError("an id is made of 1 to 40 of a-z, 0-9 and -, and does not begin with -")
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


class KeyEntry(Entry):
    """One key, as it stands in the file under its id."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    models: Annotated[tuple[str, ...] | None, PlainValidator(_models)]
    rate: int | None = Field(default=None, ge=1, le=MOST_A_MINUTE)
    burst: int | None = Field(default=None, ge=1, le=MOST_A_MINUTE)
    made: datetime
    note: str = ""

    _one_line = field_validator("note")(check_note)

    @model_validator(mode="after")
    def _burst_of_a_rate(self) -> "KeyEntry":
        if self.burst is not None and self.rate is None:
            raise ValueError("has a burst but no rate")
        return self


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
    try:
        entries = read_toml(file, content, KeysEntry).keys
    except BrokenFiles as error:
        raise BrokenFiles([_without_secrets(flaw) for flaw in error.flaws]) from None
    return {
        name: Key(name, entry.sha256, entry.models, rate_of(entry.rate, entry.burst), entry.made, entry.note)
        for name, entry in entries.items()
    }


def _without_secrets(flaw: Flaw) -> Flaw:
    """The flaw as it may stand in a log."""
    return Flaw(flaw.file, _LONG.sub("(too long)", flaw.field), _LONG.sub("(too long)", flaw.reason))


def rate_of(a_minute: int | None, burst: int | None) -> Rate | None:
    """A rate that names no burst lets a whole minute's requests come at once."""
    return None if a_minute is None else Rate(a_minute, burst or a_minute)


@contextmanager
def editing(file: Path) -> Iterator[dict[str, Key]]:
    """The keys, to be changed while nobody else changes them; written when all went well."""
    # A link stays one: what it leads to is replaced.
    file = file.resolve()
    with _locked(file):
        keys = read_keys(file) if file.exists() else {}
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
    """Put a new file in the place of the old one, for its owner alone or for those who could read the old one."""
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
    lines.append(f"made = {key.made.isoformat()}")
    if key.note:
        lines.append(f"note = {_quoted(key.note)}")
    return "\n" + "\n".join(lines) + "\n"


def _listed(models: Iterable[str] | None) -> str:
    return _quoted(ALL) if models is None else f"[{', '.join(map(_quoted, models))}]"


def _quoted(text: str) -> str:
    # Printable text in JSON is a basic string of TOML.
    return json.dumps(text, ensure_ascii=False)
