"""Where people are read and answers are written: on this machine, or in a store that fsspec reaches."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOCAL = "file://"


class UnknownPlace(Exception):
    """No address of a store that we can use; the text says why."""


def place(text: str) -> Path:
    """A path of this machine, or one of a store such as s3://register/people, which has the same methods."""
    if "://" not in text or text.startswith(LOCAL):
        return Path(text.removeprefix(LOCAL))
    # Imported here: it is in an optional group, and few need it.
    from upath import UPath  # noqa: PLC0415

    try:
        path: Path = UPath(text)
        path.exists()
    except Exception as error:  # noqa: BLE001  # each store has a package with errors of its own
        raise UnknownPlace(f"{text}: cannot be used: {error}") from None
    return path


def is_local(path: Path) -> bool:
    return isinstance(path, Path)


@contextmanager
def source_of(file: Path) -> Iterator[Path | IO[bytes]]:
    """What pyarrow reads a file from: it opens those of this machine itself, which is faster."""
    if is_local(file):
        yield file
    else:
        with file.open("rb") as opened:
            yield opened
