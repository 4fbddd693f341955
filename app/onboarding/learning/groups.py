"""Groups of people that may need ranges of their own: `--by sex`, `--by age:18,50,70`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from app.core.favourable import Bools
from app.core.ranges import Condition, Equals, NormalRange
from app.onboarding.failures import Unfit
from app.onboarding.reading.columns import Column
from app.onboarding.reading.table import Table

# Of a column without cuts.
MOST_GROUPS = 20
TAKES = "--by takes COLUMN, or COLUMN:CUT,CUT,..., such as age:18,50"


@dataclass(frozen=True, slots=True)
class Part:
    """Some people, and the condition that tells them apart."""

    condition: Condition
    people: Bools


@dataclass(frozen=True, slots=True)
class Grouping:
    """A column, and the parts that it sorts people into."""

    key: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """People for whom several conditions hold, by the column of each."""

    when: Mapping[str, Condition]
    people: Bools


def read_groupings(given: Sequence[str], table: Table) -> list[Grouping]:
    """What `--by` asks for; `Unfit` if it cannot be read."""
    groupings = [_grouping(text, table) for text in given]
    keys = [grouping.key for grouping in groupings]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise Unfit(f"--by {twice[0]}: is named twice")
    return groupings


def crossed(groupings: Sequence[Grouping]) -> list[Group]:
    """Every combination of the parts; without groupings there is none."""
    if not groupings:
        return []
    return [
        Group(
            {grouping.key: part.condition for grouping, part in zip(groupings, parts, strict=True)},
            np.logical_and.reduce([part.people for part in parts]),
        )
        for parts in product(*(grouping.parts for grouping in groupings))
    ]


def _grouping(text: str, table: Table) -> Grouping:
    name, _, cuts = text.partition(":")
    if not name or text.endswith(":"):
        raise Unfit(TAKES)
    column = table.column(name, "--by")
    return Grouping(name, _between(column, _cuts(text, cuts)) if cuts else _alike(column))


def _cuts(text: str, given: str) -> list[float]:
    try:
        cuts = [float(cut) for cut in given.split(",")]
    except ValueError:
        raise Unfit(f"--by {text}: the cuts must be numbers; {TAKES}") from None
    if not all(map(np.isfinite, cuts)) or cuts != sorted(set(cuts)):
        raise Unfit(f"--by {text}: the cuts must rise")
    return cuts


def _between(column: Column, cuts: Sequence[float]) -> tuple[Part, ...]:
    """The parts between the cuts, the highest first: a cut belongs to the part above it, and the first range holds."""
    if not column.is_number:
        raise Unfit(f"--by {column.name}: has cuts, but is not a column of numbers")
    ends = [None, *cuts, None]
    parts = []
    for low, high in reversed(list(pairwise(ends))):
        people = np.isfinite(column.numbers)
        people &= True if low is None else column.numbers >= low
        people &= True if high is None else column.numbers < high
        parts.append(Part(NormalRange(low, _last(high, column)), people))
    return tuple(parts)


def _last(high: float | None, column: Column) -> float | None:
    """The last number before a cut, where that can be said: 49 before 50."""
    return high if high is None or not column.is_whole or not high.is_integer() else high - 1


def _alike(column: Column) -> tuple[Part, ...]:
    numbers = np.unique(column.numbers[np.isfinite(column.numbers)])
    if len(column.words) + len(numbers) > MOST_GROUPS:
        hint = f"; give cuts, such as {column.name}:18,50" if column.is_number else ""
        raise Unfit(f"--by {column.name}: has more than {MOST_GROUPS} different values{hint}")
    if not len(column.words) and not len(numbers):
        raise Unfit(f"--by {column.name}: holds no values")
    words = [Part(Equals(word), column.are(word)) for word in sorted(column.words)]
    return (*words, *(Part(Equals(float(number)), column.numbers == number) for number in numbers))
