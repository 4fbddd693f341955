"""What the commands share: the settings, and how a command fails."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import typer
from pydantic import ValidationError

from app.adapters.files.flaws import field_path, reason_of
from app.adapters.files.names import suggestion
from app.settings import Settings


def read_settings() -> Settings:
    """Read the settings; end the command with a message if any is wrong."""
    known = {f"FLIPSET_{name.upper()}" for name in Settings.model_fields}
    for name in sorted(set(os.environ) - known):
        if name.startswith("FLIPSET_"):
            print(f"{name} is not a setting and is ignored; {suggestion(name, known)}", file=sys.stderr)
    try:
        return Settings()
    except ValidationError as error:
        flaws = [f"FLIPSET_{field_path(entry['loc']).upper()}: {reason_of(entry)}" for entry in error.errors()]
        fail("\n".join(flaws))


def from_one(most: int | None = None) -> Callable[[int | None], int | None]:
    """The callback of an option that counts from 1, up to `most`."""

    def check(count: int | None) -> int | None:
        if count is not None and count < 1:
            raise typer.BadParameter("must be 1 or more")
        if count is not None and most is not None and count > most:
            raise typer.BadParameter(f"must be {most:,} or less")
        return count

    return check


def fail(message: str) -> NoReturn:
    """End the command with a message."""
    print(message, file=sys.stderr)
    raise typer.Exit(1)
