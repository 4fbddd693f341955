"""Formulas on sets that are only partly decided: what can still hold, and what can still fail."""

from typing import NamedTuple

import numpy as np

from app.core.favourable import Bools
from app.core.formula import Changed, Constant, Count, Formula, Not, Odd


class Partial(NamedTuple):
    """Some sets, a row each: the moves that are surely made, and those that may be made."""

    made: Bools
    may: Bools


class Open(NamedTuple):
    """Whether a formula can hold once everything is decided, and whether it can fail."""

    hold: Bools
    fail: Bools


def left_open(formula: Formula, sets: Partial) -> Open:
    """Never says that what is possible is not. Parts are taken one by one, so it may call possible what is not."""
    match formula:
        case Constant(value):
            held = np.full(len(sets.made), value, dtype=np.bool_)
            return Open(held, ~held)
        case Changed(position):
            return Open(sets.may[:, position], ~sets.made[:, position])
        case Not(part):
            opposite = left_open(part, sets)
            return Open(opposite.fail, opposite.hold)
        case Odd(parts):
            return _odd(parts, sets)
        case Count(low, high, parts):
            return _counted(low, high, parts, sets)


def _odd(parts: tuple[Formula, ...], sets: Partial) -> Open:
    undecided, odd = (np.zeros(len(sets.made), dtype=np.bool_) for _ in range(2))
    for part in parts:
        either = left_open(part, sets)
        undecided |= either.hold & either.fail
        odd ^= either.hold & ~either.fail
    return Open(odd | undecided, ~odd | undecided)


def _counted(low: int, high: int, parts: tuple[Formula, ...], sets: Partial) -> Open:
    least, most = (np.zeros(len(sets.made), dtype=np.int32) for _ in range(2))
    for part in parts:
        either = left_open(part, sets)
        least += ~either.fail
        most += either.hold
    return Open((most >= low) & (least <= high), (least < low) | (most > high))
