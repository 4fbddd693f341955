"""Numbers as they are sent: kept to the last digit, and refused when they are anything but a JSON number."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import numpy as np
from pydantic import PlainValidator, WithJsonSchema

_JSON_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
WITHOUT_QUOTES = "send it without quotes"


class SentNumber(float):
    """A number of the request, together with the text that it was sent as."""

    text: str

    def __new__(cls, text: str) -> "SentNumber":
        number = super().__new__(cls, text)
        number.text = text
        return number


def sent_number(text: str) -> float:
    """A number as it was sent; with its text only where it would be written in another way than it came."""
    number = float(text)
    return number if repr(number) == text and not number.is_integer() else SentNumber(text)


def number_text(number: float) -> str:
    """A number as JSON: the sender's own digits, or else the shortest decimal that means the same."""
    if isinstance(number, SentNumber):
        return number.text
    if isinstance(number, float) and number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return repr(number)


def is_finite(value: float) -> bool:
    """Whether 64 bits can hold the number; Python's integers may be longer."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


@dataclass(frozen=True, slots=True)
class NumberType:
    """A type that numbers are read in: whole ones it holds exactly, others give or take their last digits."""

    name: str
    kind: str
    most: float

    def holds(self, value: float) -> bool:
        if self.kind == "b":
            return value in (0, 1)
        if self.kind == "i" and not float(value).is_integer():
            return False
        return abs(value) <= self.most


@cache
def number_type(dtype: np.dtype[Any]) -> NumberType:
    """What a type of NumPy's can hold; there are only a few."""
    if dtype.kind == "b":
        return NumberType(str(dtype), "b", 1)
    if dtype.kind == "i":
        # Above this float64, in which everything is compared, no longer tells whole numbers apart.
        return NumberType(str(dtype), "i", min(2**53, int(np.iinfo(dtype).max)))
    return NumberType(str(dtype), "f", float(np.finfo(dtype).max))


def check_number(value: Any) -> float:
    """The value itself, if it is a number that JSON can write and 64 bits can hold."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    if isinstance(value, str):
        hint = f": {WITHOUT_QUOTES}" if _JSON_NUMBER.fullmatch(value) else ""
        raise ValueError(f"must be a number, not text{hint}")
    if not isinstance(value, int | float):
        raise ValueError("must be a number")
    if not is_finite(value):
        raise ValueError("must be a finite number that fits 64 bits")
    return value


def _not_negative(value: Any) -> float:
    number = check_number(value)
    if number < 0:
        raise ValueError("must not be negative")
    return number


def _weight(value: Any) -> float:
    number = check_number(value)
    if not 0 < number <= MOST_WEIGHT:
        raise ValueError(f"must be above 0 and at most {MOST_WEIGHT:,}")
    return number


def _count_from(least: int) -> Callable[[Any], int]:
    def count(value: Any) -> int:
        number = check_number(value)
        if not float(number).is_integer():
            raise ValueError("must be a whole number")
        if number < least:
            raise ValueError(f"must be {least} or more")
        return int(number)

    return count


# However many weights are added up, the sum is a number that 64 bits hold.
MOST_WEIGHT = 1_000_000_000

Number = Annotated[float, PlainValidator(check_number), WithJsonSchema({"type": "number"})]
NotNegative = Annotated[float, PlainValidator(_not_negative), WithJsonSchema({"type": "number", "minimum": 0})]
Weight = Annotated[
    float,
    PlainValidator(_weight),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": MOST_WEIGHT}),
]
CountFromOne = Annotated[int, PlainValidator(_count_from(1)), WithJsonSchema({"type": "integer", "minimum": 1})]
CountFromNought = Annotated[int, PlainValidator(_count_from(0)), WithJsonSchema({"type": "integer", "minimum": 0})]
