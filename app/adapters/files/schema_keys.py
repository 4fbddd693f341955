"""The keys that an object may hold, from the class that describes it. They help to suggest a misspelt key."""

from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel


def keys_at(schema: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """The keys of the object at a place in a document of this kind; none where no class describes it."""
    types: list[Any] = [schema]
    for step in location:
        types = [inner for outer in types for inner in _inside(outer, step)]
    return [name for each in types for known in _classes(each) for name in known.model_fields]


def _inside(outer: Any, step: str | int) -> Iterator[Any]:
    """The types of what stands at one step into an object, a dictionary or a list."""
    parts = get_args(outer)
    if get_origin(outer) in (dict, list):
        yield parts[-1]
    elif parts:
        # Alternatives, or a type with remarks.
        yield from (inner for part in parts for inner in _inside(part, step))
    elif _is_class(outer) and step in outer.model_fields:
        yield outer.model_fields[step].annotation


def _classes(given: Any) -> Iterator[type[BaseModel]]:
    for part in get_args(given) or (given,):
        if _is_class(part):
            yield part


def _is_class(given: Any) -> bool:
    return isinstance(given, type) and issubclass(given, BaseModel)
