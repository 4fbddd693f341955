"""What is wrong with a file, in words that help its owner to fix it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from app.adapters.files.names import closest
from app.adapters.files.schema_keys import keys_at


@dataclass(frozen=True, slots=True)
class Flaw:
    """One mistake: the file, the field in it (empty for the file as a whole) and the reason."""

    file: Path
    field: str
    reason: str

    def __str__(self) -> str:
        text = f"{self.file}: {self.field}: {self.reason}" if self.field else f"{self.file}: {self.reason}"
        # A file name may hold anything: it must not break the line or control the terminal.
        return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


class BrokenFiles(Exception):
    """Files that cannot be served; `flaws` lists everything that is wrong with them."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__("\n".join(str(flaw) for flaw in flaws))
        self.flaws = tuple(flaws)


def field_path(location: Sequence[str | int]) -> str:
    """Write a place in a document the way people do: features[2].type."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".")


def reason_of(error: Any, schema: type[BaseModel] | None = None) -> str:
    """A pydantic error in plain words, without the value that was given.

    `schema` describes the whole document; with it, a misspelt key gets a suggestion.
    """
    known = {
        "missing": "is missing",
        "finite_number": "must be a finite number",
        "model_type": "must be an object",
        "model_attributes_type": "must be an object",
        "dict_type": "must be an object",
        "list_type": "must be a list",
        "string_type": "must be text",
        "float_type": "must be a number",
        "bool_type": "must be true or false",
        "bool_parsing": "must be true or false",
        "too_short": "must not be empty",
        "string_too_short": "must not be empty",
        "string_pattern_mismatch": "must be 64 lower-case hexadecimal digits",
        "int_parsing": "must be a whole number",
        "int_type": "must be a whole number",
        "datetime_type": "must be a time, such as 2027-01-31T00:00:00Z",
        "timezone_aware": "must end with Z or an offset, such as 2027-01-31T00:00:00Z",
    }
    match error["type"]:
        case "extra_forbidden":
            *place, name = error["loc"]
            hint = "" if schema is None else closest(str(name), keys_at(schema, place))
            return f"is not a known key; {hint}" if hint else "is not a known key"
        case "enum" | "literal_error":
            return f"must be {error['ctx']['expected']}"
        case "greater_than_equal":
            return f"must be {error['ctx']['ge']} or more"
        case "less_than_equal":
            return f"must be {error['ctx']['le']} or less"
    return known.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")


def flaws_of(file: Path, error: ValidationError, schema: type[BaseModel]) -> list[Flaw]:
    return [Flaw(file, field_path(entry["loc"]), reason_of(entry, schema)) for entry in error.errors()]
