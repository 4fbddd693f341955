"""Reading a TOML file into a pydantic model, with flaws instead of exceptions from three libraries."""

import json
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.adapters.files.flaws import BrokenFiles, Flaw, field_path, flaws_of

Finite = Annotated[float, Field(allow_inf_nan=False)]

# Characters that turn the direction of the text around them; a name must not read as another.
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Entry(BaseModel):
    """A table of a TOML file. It refuses unknown keys, and text in place of a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


E = TypeVar("E", bound=Entry)


def read_toml(file: Path, content: bytes, schema: type[E]) -> E:
    """Check the content of one file; `BrokenFiles` with all its flaws if it is not what it should be."""
    try:
        # Windows writes its line ends, and TOML takes them, only where the file is read as text.
        entries = tomllib.loads(content.decode("utf-8").replace("\r\n", "\n"))
    except UnicodeDecodeError:
        raise BrokenFiles([Flaw(file, "", "is not UTF-8 text")]) from None
    except tomllib.TOMLDecodeError as error:
        raise BrokenFiles([Flaw(file, "", f"is not valid TOML: {error}")]) from None
    except (ValueError, RecursionError):
        raise BrokenFiles([Flaw(file, "", "holds a number that is too long, or is nested too deeply")]) from None
    if hidden := [Flaw(file, field_path(place), "holds a control character") for place in _hidden(entries, ())]:
        raise BrokenFiles(hidden)
    try:
        return schema.model_validate(entries)
    except ValidationError as error:
        raise BrokenFiles(flaws_of(file, error, schema)) from None


def quoted(value: Any) -> str:
    """A text, a number or a truth value as TOML: JSON looks the same, where it holds no control character."""
    return json.dumps(value, ensure_ascii=False)


def comment(text: str) -> str:
    """A comment of one line, whatever line breaks and control characters the text holds."""
    return "# " + "".join(sign if sign.isprintable() else " " for sign in text)


def _hidden(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Where a name or a text holds a character that a screen would obey instead of showing it."""
    if isinstance(value, str) and any(map(_is_hidden, value)):
        yield place
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _hidden(item, (*place, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from [(*place, key)] if any(map(_is_hidden, key)) else _hidden(item, (*place, key))


def _is_hidden(character: str) -> bool:
    return character in TURNING or (unicodedata.category(character) == "Cc" and character not in "\n\t")
