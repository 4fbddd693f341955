"""Fields of files and requests that can be written in more than one way, each with one clear error message."""

from typing import Annotated, Any, NamedTuple

from pydantic import PlainValidator, WithJsonSchema

from app.adapters.files.numbers import is_finite
from app.core.ranges import Condition, Equals, MoveTo, NormalRange, Policy
from app.core.robust.noise import Noise

_NUMBER = {"type": "number"}
# The most values that a feature may stop at.
MOST_STEPS = 20
_VALUES = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 1, "maxItems": MOST_STEPS}
_SEVERAL = {
    "margin": _NUMBER,
    "value": _NUMBER,
    "steps": {"anyOf": [_VALUES, {"type": "integer", "minimum": 1, "maximum": MOST_STEPS}]},
    "any_of": _VALUES,
}


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
        if policy in ("steps", "any_of"):
            return _parse_several(Policy(policy), amount)
    raise ValueError("must be nearest, midpoint, or an object with one of margin, value, steps and any_of")


def _parse_several(policy: Policy, given: Any) -> MoveTo:
    """Several values to move to. Those of a category stay texts until its feature is known."""
    if policy is Policy.STEPS and isinstance(given, int) and not isinstance(given, bool):
        if not 1 <= given <= MOST_STEPS:
            raise ValueError(f"steps must be a number from 1 to {MOST_STEPS}, or a list of values")
        return MoveTo(policy, count=given)
    if not isinstance(given, list) or not all(isinstance(each, str) or _is_number(each) for each in given):
        number = " or a number of steps" if policy is Policy.STEPS else ""
        raise ValueError(f"{policy} must be a list of values{number}")
    if not 1 <= len(given) <= MOST_STEPS or len(set(given)) < len(given):
        raise ValueError(f"{policy} must name 1 to {MOST_STEPS} values, each once")
    return MoveTo(policy, steps=tuple(each if isinstance(each, str) else float(each) for each in given))


class MissingEntry(NamedTuple):
    """What a missing value would become, as written; without a value, the target of its range or guide."""

    value: float | str | None


def parse_if_missing(value: Any) -> MissingEntry:
    if value == "target":
        return MissingEntry(None)
    if isinstance(value, dict) and set(value) == {"value"}:
        given = value["value"]
        if isinstance(given, str) or _is_number(given):
            return MissingEntry(given)
    raise ValueError("must be target, or an object with a value: a number or a category")


def parse_condition(value: Any) -> Condition:
    if isinstance(value, str | bool) or _is_number(value):
        return Equals(value)
    if _is_interval(value):
        return parse_interval(value)
    raise ValueError("must be text, a number, true or false, or an interval with low, high or both")


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


def parse_noise(value: Any) -> Noise:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, amount),) = value.items()
        if kind in ("sd", "relative") and _is_number(amount) and amount >= 0:
            return Noise(amount, kind == "relative")
    raise ValueError("must be an object with one number that is not negative, sd or relative")


class NoiseEntry(NamedTuple):
    """The error of a measurement, as a registry writes it, and where that is known from."""

    noise: Noise
    source: str


def parse_sourced_noise(value: Any) -> NoiseEntry:
    if not isinstance(value, dict) or not isinstance(value.get("source"), str) or not value["source"].strip():
        raise ValueError("must be an object with sd or relative, and the source of that number")
    return NoiseEntry(parse_noise({key: said for key, said in value.items() if key != "source"}), value["source"])


NoiseField = Annotated[NoiseEntry, PlainValidator(parse_sourced_noise)]
MoveToField = Annotated[
    MoveTo,
    PlainValidator(parse_move_to),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["nearest", "midpoint"]},
                *(
                    {"type": "object", "properties": {name: said}, "required": [name], "additionalProperties": False}
                    for name, said in _SEVERAL.items()
                ),
            ]
        }
    ),
]
IfMissingField = Annotated[
    MissingEntry,
    PlainValidator(parse_if_missing),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["target"]},
                {
                    "type": "object",
                    "properties": {"value": {"type": ["number", "string"]}},
                    "required": ["value"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
ConditionField = Annotated[Condition, PlainValidator(parse_condition)]
FavourableField = Annotated[tuple[str, ...] | NormalRange, PlainValidator(parse_favourable)]
