"""What is wrong with a file, said so that its owner can mend it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError


@dataclass(frozen=True, slots=True)
class Flaw:
    """One mistake: the file, the field in it (empty for the file as a whole) and the reason."""

    file: Path
    field: str
    reason: str

    def __str__(self) -> str:
        text = f"{self.file}: {self.field}: {self.reason}" if self.field else f"{self.file}: {self.reason}"
        # The name of a file may hold anything: it must not break the line, nor command the terminal.
        return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


class BrokenFiles(Exception):
    """Files that cannot be served as they are, with every flaw that was found."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__("\n".join(str(flaw) for flaw in flaws))
        self.flaws = tuple(flaws)


def field_path(location: Sequence[str | int]) -> str:
    """Write a place in a document the way people do: features[2].type."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".")


def reason_of(error: Any) -> str:
    """Say a pydantic error in our words where its own would puzzle; never with the value that was given."""
    known = {
        "missing": "is missing",
        "extra_forbidden": "is not a known key",
        "finite_number": "must be a finite number",
        "model_type": "must be an object",
        "model_attributes_type": "must be an object",
        "dict_type": "must be an object",
        "list_type": "must be a list",
        "string_type": "must be a text",
        "float_type": "must be a number",
        "too_short": "must not be empty",
        "string_too_short": "must not be empty",
        "string_pattern_mismatch": "must be 64 lower-case hexadecimal digits",
        "int_parsing": "must be a whole number",
        "int_type": "must be a whole number",
    }
    match error["type"]:
        case "enum" | "literal_error":
            return f"must be {error['ctx']['expected']}"
        case "greater_than_equal":
            return f"must be {error['ctx']['ge']} or more"
        case "less_than_equal":
            return f"must be {error['ctx']['le']} or less"
    return known.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")


def flaws_of(file: Path, error: ValidationError) -> list[Flaw]:
    return [Flaw(file, field_path(entry["loc"]), reason_of(entry)) for entry in error.errors()]
