"""Who in a table had the favourable outcome, and who had not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.adapters.files.names import listed
from app.adapters.files.numbers import number_text
from app.cohorts.reading.cells import IS_NUMBER
from app.core.favourable import Bools
from app.core.ranges import NormalRange
from app.onboarding.failures import Unfit
from app.onboarding.reading.columns import Column
from app.onboarding.reading.table import Table

# A favourable outcome that is a number: at least or at most so much.
BOUND = re.compile(r"(<=|>=)\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)")
# More different outcomes are no classes.
MOST_CLASSES = 50


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The people by their outcome; who has none is on neither side. `group` names the favourable ones in words."""

    column: Column | None
    favourable: tuple[str, ...]
    interval: NormalRange | None
    accepted: Bools
    refused: Bools
    group: str

    @property
    def classes(self) -> list[str]:
        """The outcomes that there are, sorted as encoders sort them: numbers by size, words by letters."""
        if self.column is None:
            return []
        numbers = np.unique(self.column.numbers[np.isfinite(self.column.numbers)])
        return [*map(number_text, numbers.tolist()), *sorted(self.column.words)]


def read_outcomes(table: Table, outcome: str | None, favourable: Sequence[str]) -> Outcomes:
    """Sort people by the outcome; without a column everybody is in the reference group. `Unfit` if a side is empty."""
    if outcome is None:
        if favourable:
            raise Unfit("--favourable needs --outcome, the column that it is a value of")
        everybody = np.ones(table.kept, dtype=np.bool_)
        return Outcomes(None, (), None, everybody, ~everybody, "everybody in the table")
    if not favourable:
        raise Unfit(f"--outcome {outcome}: say which value of it is favourable, with --favourable")
    column = table.column(outcome, "--outcome")
    if len(favourable) == 1 and (bound := BOUND.fullmatch(favourable[0])):
        return _by_bound(column, favourable[0], *bound.groups())
    if bounds := [value for value in favourable if BOUND.fullmatch(value)]:
        raise Unfit(f"--favourable '{bounds[0]}': a number takes one limit, and nothing else")
    return _by_class(column, tuple(favourable))


def _by_bound(column: Column, said: str, sign: str, number: str) -> Outcomes:
    if not column.is_number:
        raise Unfit(f"--favourable '{said}': {column.name} is not a column of numbers")
    try:
        end = float(number)
    except ValueError:
        raise Unfit(f"--favourable '{said}': is not a number") from None
    interval = NormalRange(end, None) if sign == ">=" else NormalRange(None, end)
    known = np.isfinite(column.numbers)
    accepted = known & (column.numbers >= end if sign == ">=" else column.numbers <= end)
    return _checked(Outcomes(column, (), interval, accepted, known & ~accepted, f"{column.name} {said}"))


def _by_class(column: Column, favourable: tuple[str, ...]) -> Outcomes:
    accepted = np.zeros(len(column.numbers), dtype=np.bool_)
    favourable = tuple(_named(value, column) for value in favourable)
    for value in favourable:
        found = column.are(value)
        if not found.any():
            some = listed(_some(column), "or")
            raise Unfit(f"--favourable {value}: is not a value of {column.name}, which has {some}")
        accepted |= found
    group = f"{column.name} is {listed(favourable, 'or')}"
    return _checked(Outcomes(column, favourable, None, accepted, ~accepted & ~column.is_missing, group))


def _named(value: str, column: Column) -> str:
    """As the classes are named: 1.0 and 01 are the number 1, and True is true where nothing else is."""
    if value in column.words:
        return value
    if not IS_NUMBER.fullmatch(value):
        meant = [word for word in column.words if word.casefold() == value.casefold()]
        return meant[0] if len(meant) == 1 else value
    return number_text(float(value))


def _some(column: Column) -> list[str]:
    numbers = np.unique(column.numbers[np.isfinite(column.numbers)])[:10]
    return [*map(number_text, numbers.tolist()), *sorted(column.words)[:10]] or ["none"]


def _checked(outcomes: Outcomes) -> Outcomes:
    assert outcomes.column is not None
    if not outcomes.accepted.any():
        raise Unfit(f"--favourable: nobody in {outcomes.column.name} has this outcome")
    if not outcomes.refused.any():
        raise Unfit(f"--outcome {outcomes.column.name}: everybody has the favourable outcome; there must be others too")
    return outcomes
