"""Arithmetic over features, such as `amount / price`: judged in float64, step by step as it is written."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is written out."""

    value: float


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a feature."""

    feature: int


@dataclass(frozen=True, slots=True)
class Operation:
    """Two parts, and one of + - * / between them."""

    sign: str
    left: "Arithmetic"
    right: "Arithmetic"


Arithmetic = Number | Value | Operation

OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def features_of(arithmetic: Arithmetic) -> tuple[int, ...]:
    """The features that it names, each once, in their order in the text."""
    match arithmetic:
        case Number():
            return ()
        case Value(feature):
            return (feature,)
        case Operation(_, left, right):
            return tuple(dict.fromkeys((*features_of(left), *features_of(right))))


def result(arithmetic: Arithmetic, value_of: Callable[[int], Any]) -> Any:
    """What it comes to for values, numbers or arrays of them. A division by nought comes to no finite number."""
    with np.errstate(all="ignore"):
        return _result(arithmetic, value_of)


def _result(arithmetic: Arithmetic, value_of: Callable[[int], Any]) -> Any:
    match arithmetic:
        case Number(value):
            return np.float64(value)
        case Value(feature):
            return np.asarray(value_of(feature), dtype=np.float64)
        case Operation(sign, left, right):
            return OPERATIONS[sign](_result(left, value_of), _result(right, value_of))


def bound(arithmetic: Arithmetic, most: Callable[[int], float]) -> float:
    """What it cannot exceed, whatever the signs, if each feature is at most this; infinite where it divides."""
    match arithmetic:
        case Number(value):
            return abs(value)
        case Value(feature):
            return most(feature)
        case Operation("/", _, _):
            return inf
        case Operation(sign, left, right):
            one, other = bound(left, most), bound(right, most)
            return one * other if sign == "*" else one + other
