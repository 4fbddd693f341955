"""Boolean formulas over the changes, as trees. They alone define what is feasible.

`clauses` translates a tree for a solver; this module evaluates it on arrays of subsets.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.core.favourable import Bools


@dataclass(frozen=True, slots=True)
class Constant:
    """Always true, or never."""

    value: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """The paper's m_i: the feature at this position is changed."""

    position: int


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a part."""

    part: "Formula"


@dataclass(frozen=True, slots=True)
class Count:
    """At least `low` and at most `high` of the parts hold. All, any, none and exactly one are counts too."""

    low: int
    high: int
    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Odd:
    """An odd number of the parts hold: of two, exactly one."""

    parts: tuple["Formula", ...]


Formula = Constant | Changed | Not | Count | Odd

TRUE = Constant(True)
FALSE = Constant(False)


def all_of(*parts: Formula) -> Formula:
    return Count(len(parts), len(parts), parts)


def any_of(*parts: Formula) -> Formula:
    return Count(1, len(parts), parts)


def none_of(*parts: Formula) -> Formula:
    return Count(0, 0, parts)


def at_most(most: int, parts: tuple[Formula, ...]) -> Formula:
    return Count(0, most, parts)


def implies(cause: Formula, effect: Formula) -> Formula:
    return any_of(Not(cause), effect)


def same(*parts: Formula) -> Formula:
    """A iff b iff c ...: true where the number of parts that fail is even."""
    return Odd(parts) if len(parts) % 2 else Not(Odd(parts))


def substituted(formula: Formula, meaning: Callable[[int], Formula]) -> Formula:
    """The formula with `meaning` in place of each change, simplified."""
    match formula:
        case Constant():
            return formula
        case Changed(position):
            return meaning(position)
        case Not(part):
            return _not(substituted(part, meaning))
        case Odd(parts):
            return _odd([substituted(part, meaning) for part in parts])
        case Count(low, high, parts):
            return _count(low, high, [substituted(part, meaning) for part in parts])


def _not(part: Formula) -> Formula:
    match part:
        case Constant(value):
            return Constant(not value)
        case Not(inner):
            return inner
    return Not(part)


def _odd(parts: list[Formula]) -> Formula:
    turned = sum(part.value for part in parts if isinstance(part, Constant)) % 2 == 1
    open_parts = tuple(part for part in parts if not isinstance(part, Constant))
    if not open_parts:
        return Constant(turned)
    odd = open_parts[0] if len(open_parts) == 1 else Odd(open_parts)
    return _not(odd) if turned else odd


def _count(low: int, high: int, parts: list[Formula]) -> Formula:
    sure = sum(part.value for part in parts if isinstance(part, Constant))
    open_parts = tuple(part for part in parts if not isinstance(part, Constant))
    low, high = max(low - sure, 0), min(high - sure, len(open_parts))
    if low > high:
        return FALSE
    if low == 0 and high == len(open_parts):
        return TRUE
    if len(open_parts) == 1:
        return open_parts[0] if low == 1 else _not(open_parts[0])
    return Count(low, high, open_parts)


def holds(formula: Formula, subsets: Bools) -> Bools:
    """Whether each subset, a row of truth values, satisfies the formula."""
    match formula:
        case Constant(value):
            return np.full(len(subsets), value, dtype=np.bool_)
        case Changed(position):
            return subsets[:, position]
        case Not(part):
            return ~holds(part, subsets)
        case Odd(parts):
            odd = np.zeros(len(subsets), dtype=np.bool_)
            for part in parts:
                odd ^= holds(part, subsets)
            return odd
        case Count(low, high, parts):
            count = np.zeros(len(subsets), dtype=np.int32)
            for part in parts:
                count += holds(part, subsets)
            return (count >= low) & (count <= high)


def extent(formula: Formula) -> int:
    """How many truth values `holds` works out for one subset."""
    match formula:
        case Not(part):
            return 1 + extent(part)
        case Odd(parts) | Count(_, _, parts):
            return 1 + sum(map(extent, parts))
    return 1


def only_forbids(formula: Formula) -> bool:
    """Whether one more change can only break the formula: if a subset breaks it, so do all its supersets."""
    return _monotone(formula, rising=False)


def _monotone(formula: Formula, rising: bool) -> bool:
    """Whether the formula can only become true (rising) or only false as changes are added; judged by its shape."""
    match formula:
        case Constant():
            return True
        case Changed():
            return rising
        case Not(part):
            return _monotone(part, not rising)
        case Odd():
            return False
        case Count(low, high, parts):
            up = high >= len(parts) and all(_monotone(part, rising) for part in parts)
            down = low <= 0 and all(_monotone(part, not rising) for part in parts)
            return up or down
