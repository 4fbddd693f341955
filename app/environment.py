"""What the commands share: the settings of the environment, and how a command fails."""

import os
import sys
from typing import NoReturn

import typer
from pydantic import ValidationError

from app.adapters.flaws import field_path, reason_of
from app.adapters.names import suggestion
from app.settings import Settings


def read_settings() -> Settings:
    """The settings, or the end of the command with what is wrong with each."""
    known = {f"FLIPSET_{name.upper()}" for name in Settings.model_fields}
    for name in sorted(set(os.environ) - known):
        if name.startswith("FLIPSET_"):
            print(f"{name} is not a setting, and is ignored; {suggestion(name, known)}", file=sys.stderr)
    try:
        return Settings()
    except ValidationError as error:
        flaws = [f"FLIPSET_{field_path(entry['loc']).upper()}: {reason_of(entry)}" for entry in error.errors()]
        fail("\n".join(flaws))


def fail(message: str) -> NoReturn:
    """End the command, and say why."""
    print(message, file=sys.stderr)
    raise typer.Exit(1)
