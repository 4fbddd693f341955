"""Reading a TOML file into a pydantic model, with flaws instead of exceptions from three libraries."""

import tomllib
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.adapters.flaws import BrokenFiles, Flaw, flaws_of

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Entry(BaseModel):
    """A table of a TOML file: no key that is not known, no text for a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


E = TypeVar("E", bound=Entry)


def read_toml(file: Path, schema: type[E]) -> E:
    """Read and check one file; `BrokenFiles` with all its flaws if it is not what it should be."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BrokenFiles([Flaw(file, "", error.strerror or "cannot be read")]) from None
    except UnicodeDecodeError:
        raise BrokenFiles([Flaw(file, "", "is not UTF-8 text")]) from None
    except tomllib.TOMLDecodeError as error:
        raise BrokenFiles([Flaw(file, "", f"is not valid TOML: {error}")]) from None
    except (ValueError, RecursionError):
        raise BrokenFiles([Flaw(file, "", "holds a number too long, or is nested too deeply")]) from None
    try:
        return schema.model_validate(content)
    except ValidationError as error:
        raise BrokenFiles(flaws_of(file, error)) from None
