"""JSON to dataclasses. What to read is taken from the types of their fields, once for each class."""

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TypeVar, Union, cast, get_args, get_origin, get_type_hints

from flipset_client.lines import Counterfactual, Line, Problem, Progress, Start, Summary

T = TypeVar("T")
Read = Callable[[object], object]

_LINES: dict[str, type] = {"start": Start, "counterfactual": Counterfactual, "progress": Progress, "summary": Summary}


def read(kind: type[T], content: object) -> T:
    """The object of this class that the JSON describes; `ValueError` if something is missing or of another form."""
    try:
        return cast("T", _reader(cast("type", kind))(content))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no {kind.__name__}") from error


def read_line(text: bytes) -> Line | Problem | None:
    """One line of an answer: a problem for the line `error`, None for a line that this version does not know."""
    content = json.loads(text)
    if content["type"] == "error":
        return read(Problem, content["problem"])
    kind = _LINES.get(content["type"])
    return None if kind is None else cast("Line", read(kind, content))


@cache
def _reader(kind: type) -> Read:
    """How a dataclass is read. A key that no field has is passed over; a field with a default may be absent."""
    hints = get_type_hints(kind)
    # A field called `from_` is `from` on the wire, which is a word of Python's own.
    known = [(field, field.name, field.name.rstrip("_"), _of(hints[field.name])) for field in fields(kind)]
    needed = [each[1:] for each in known if each[0].default is MISSING]
    optional = [each[1:] for each in known if each[0].default is not MISSING]

    def whole(content: Mapping[str, object]) -> object:
        given = {name: content[key] if inside is None else inside(content[key]) for name, key, inside in needed}
        for name, key, inside in optional:
            if key in content:
                given[name] = content[key] if inside is None else inside(content[key])
        return kind(**given)

    return cast("Read", whole)


def _of(hint: object) -> Read | None:
    """How a value of this type is read; None where it is taken as it is."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        known = [reader for reader in map(_of, inside) if reader is not None]
        return _unless_none(known[0]) if known else None
    if origin is tuple:
        return _listed(_of(inside[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapped(_of(inside[1]))
    return _reader(hint) if isinstance(hint, type) and is_dataclass(hint) else None


def _unless_none(reader: Read) -> Read:
    return lambda content: None if content is None else reader(content)


def _listed(reader: Read | None) -> Read:
    if reader is None:
        return cast("Read", tuple)
    known = reader
    return lambda content: tuple([known(entry) for entry in cast("list[object]", content)])


def _mapped(reader: Read | None) -> Read | None:
    if reader is None:
        return None
    known = reader
    return lambda content: {name: known(entry) for name, entry in cast("dict[str, object]", content).items()}
