"""What pydantic found wrong with a request, or with a person in a file, in our words."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from pydantic import BaseModel

from app.adapters.files.flaws import field_path, reason_of
from app.adapters.files.names import LONGEST_NAME
from app.adapters.files.numbers import WITHOUT_QUOTES
from app.adapters.graphs.features import SEND_NULL
from app.asking.refusals import MOST_ERRORS, FieldError, InvalidRequest
from app.asking.shapes import WRONG_SHAPES, shape_hint

# What a message tells a request to send, and what a file must hold instead: leaving out the quotes is no advice there.
_IN_A_FILE = {f": {WITHOUT_QUOTES}": "", SEND_NULL: "leave it empty, or null, not NaN,"}


def in_a_file(message: str) -> str:
    """What is wrong with a value, told to those who have it in a file."""
    for sent, held in _IN_A_FILE.items():
        message = message.replace(sent, held)
    return message


def invalid(entries: Iterable[Any], schema: type[BaseModel] | None = None) -> InvalidRequest:
    """What pydantic found wrong, in our words; `schema` is what the whole body was held against."""
    return InvalidRequest(
        [
            FieldError(field_path([_shortened(step) for step in entry["loc"]]) or "body", _reason(entry, schema))
            for entry in islice(entries, MOST_ERRORS)
        ]
    )


def _reason(entry: Any, schema: type[BaseModel] | None) -> str:
    return f"{reason_of(entry, schema)}{shape_hint(entry['loc']) if entry['type'] in WRONG_SHAPES else ''}"


def _shortened(step: str | int) -> str | int:
    return step[:LONGEST_NAME] if isinstance(step, str) else step
