"""Writing files so that nothing is ever half written."""

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from app.onboarding.failures import Unfit


def check_free(paths: Mapping[Path, str], force: bool) -> None:
    """`Unfit` if one of these exists already, unless it may be replaced; by path, what it is."""
    for path, what in paths.items():
        if path.exists() and not force:
            raise Unfit(f"{path}: this {what} exists already; use another name, or --force to replace it")


def write_file(file: Path, text: str) -> None:
    """Write beside the place, then move: a reader sees the old file or the new one."""
    partial = _beside(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise Unfit(f"{file}: cannot be written: {error.strerror}") from None


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> Path | None:
    """Write a folder beside its place, then move it there. Returns where the one before it went, if there was one."""
    partial = _beside(folder)
    try:
        for name, content in contents.items():
            file = partial / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return _swap(partial, folder)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise Unfit(f"{folder}: cannot be written: {error.strerror}") from None


def _swap(partial: Path, folder: Path) -> Path | None:
    if not folder.exists():
        partial.rename(folder)
        return None
    before = _beside(folder)
    folder.rename(before)
    try:
        partial.rename(folder)
    except OSError:
        before.rename(folder)
        raise
    return before


def put_back(folder: Path, before: Path | None) -> None:
    """Undo `write_folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    if before is not None:
        before.rename(folder)


def drop(before: Path | None) -> None:
    """Remove the folder that was replaced."""
    if before is not None:
        shutil.rmtree(before, ignore_errors=True)


def _beside(path: Path) -> Path:
    # A name that begins with a dot is not served.
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
