"""Bodies, read strictly: no key twice, no nesting without end, each number with its own digits."""

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.adapters.files.names import LONGEST_NAME
from app.adapters.files.numbers import SentNumber, sent_number
from app.asking.flawed import invalid
from app.asking.refusals import (
    FieldError,
    InvalidRequest,
    MalformedJson,
)

B = TypeVar("B", bound=BaseModel)

# Python refuses to turn longer ones into whole numbers; none of them is a number that a model could read.
LONGEST_WHOLE_NUMBER = 400

# Of more mistakes pydantic makes so long a list that nobody else comes to work meanwhile, threads or not.
MOST_NAMED = 2_000

# No object and no list of a request needs more entries, unless a setting allows them.
MOST_ENTRIES = 20_000


def read_body(body: bytes, schema: type[B], most: int = MOST_ENTRIES) -> B:
    """The request that a body holds, or `MalformedJson` or `InvalidRequest` with what is wrong with it."""
    return check_body(parse_json(body), schema, most)


def check_body(content: Any, schema: type[B], most: int = MOST_ENTRIES) -> B:
    """The same for a body that has been parsed."""
    if (field := _crowded(content, most)) is not None:
        raise InvalidRequest([FieldError(field, f"holds more than {most:,} entries; send fewer")])
    try:
        return schema.model_validate(content)
    except ValidationError as error:
        count = error.error_count()
        if count > MOST_NAMED:
            reason = f"holds {count:,} mistakes, too many to name; send a part of it to see what is wrong"
            raise InvalidRequest([FieldError("body", reason)]) from None
        raise invalid(error.errors(include_url=False, include_input=False), schema) from None


def _crowded(content: Any, most: int) -> str | None:
    """The field that holds more entries than any request needs: to name the mistakes of each would take seconds."""
    if not isinstance(content, dict):
        return None
    if len(content) > most:
        return "body"
    for name, field in content.items():
        inside = field.items() if isinstance(field, dict) else ()
        if isinstance(field, dict | list) and len(field) > most:
            return str(name[:LONGEST_NAME])
        for key, part in inside:
            if isinstance(part, dict | list) and len(part) > most:
                return f"{name[:LONGEST_NAME]}.{key[:LONGEST_NAME]}"
    return None


def parse_json(body: bytes, what: str = "body") -> Any:
    """Parse JSON, keeping each number's own digits; `MalformedJson` says where in `what` it goes wrong."""
    if not body:
        raise MalformedJson(f"The {what} is empty. Send the request as JSON.")
    try:
        return _DECODER.decode(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise MalformedJson(f"The {what} is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        what_is_wrong = error.msg.removesuffix(" at")
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedJson(f"The {what} is not valid JSON: {what_is_wrong} at {where}.") from None
    except RecursionError:
        raise MalformedJson(f"The {what} is nested too deeply.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice = _first_repeated(name for name, _ in pairs)
        raise MalformedJson(f"The key {twice[:LONGEST_NAME]!r} occurs twice in one object.", twice[:LONGEST_NAME])
    return entries


def _first_repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("no name is repeated")


def _whole_number(text: str) -> float:
    # Python knows no negative nought among its whole numbers.
    return SentNumber(text) if len(text) > LONGEST_WHOLE_NUMBER or text == "-0" else int(text)


# json.loads would make one anew for each body.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=sent_number, parse_int=_whole_number)
