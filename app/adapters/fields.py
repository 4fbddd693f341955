"""Fields that files and requests share and that can be written in more than one way, read with one clear message."""

from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from app.adapters.numbers import is_finite
from app.core.ranges import Condition, Equals, MoveTo, NormalRange, Policy

_NUMBER = {"type": "number"}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _is_interval(value: Any) -> bool:
    return isinstance(value, dict) and set(value) <= {"low", "high"} and all(map(_is_number, value.values()))


def parse_move_to(value: Any) -> MoveTo:
    if value in ("nearest", "midpoint"):
        return MoveTo(Policy(value))
    if isinstance(value, dict) and len(value) == 1:
        ((policy, amount),) = value.items()
        if policy in ("margin", "value") and _is_number(amount):
            return MoveTo(Policy(policy), amount)
    raise ValueError("must be nearest, midpoint, or an object with one number: margin or value")


def parse_condition(value: Any) -> Condition:
    if isinstance(value, str | bool) or _is_number(value):
        return Equals(value)
    if _is_interval(value):
        return parse_interval(value)
    raise ValueError("must be a text, a number, true or false, or an interval with low, high or both")


def parse_interval(value: dict[str, float]) -> NormalRange:
    interval = NormalRange(value.get("low"), value.get("high"))
    if flaw := interval.flaw():
        raise ValueError(flaw)
    return interval


def parse_favourable(value: Any) -> tuple[str, ...] | NormalRange:
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(value)
    if _is_interval(value):
        return parse_interval(value)
    raise ValueError("must be a list of classes or, for a regression, an interval with low, high or both")


MoveToField = Annotated[
    MoveTo,
    PlainValidator(parse_move_to),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["nearest", "midpoint"]},
                *(
                    {"type": "object", "properties": {name: _NUMBER}, "required": [name], "additionalProperties": False}
                    for name in ("margin", "value")
                ),
            ]
        }
    ),
]
ConditionField = Annotated[Condition, PlainValidator(parse_condition)]
FavourableField = Annotated[tuple[str, ...] | NormalRange, PlainValidator(parse_favourable)]
