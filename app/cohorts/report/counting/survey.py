"""The first pass over the people: which groups a column makes, and between which numbers the scores lie.

It holds few values at a time, however many people there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from app.adapters.files.names import suggestion
from app.cohorts.report.counting.groups import (
    MOST_CUT_GROUPS,
    MOST_GROUPS,
    Grouping,
    are_numbers,
    as_numbers,
    as_text,
    cut_groups,
    is_number,
    value_groups,
)
from app.cohorts.report.errors import NotGroupable, TooManyGroups, UnknownColumn
from app.cohorts.report.run import Run, batches

SAMPLED = 65_536
SCORES = ("score", "best_score")


class Scale(NamedTuple):
    """The lowest and the highest score; from 0 to 1 where all lie between."""

    low: float
    high: float


@dataclass
class Column:
    """What is known of a column so far: its first values, and of a number a sample that is spread over all rows."""

    name: str
    numeric: bool
    # Of texts: all so far are numbers.
    in_digits: bool = True
    values: set[str] = field(default_factory=set)
    sample: list[npt.NDArray[np.float64]] = field(default_factory=list)
    every: int = 1
    _seen: int = 0

    def add(self, values: pa.Array) -> None:
        if len(self.values) <= MOST_GROUPS:
            self.values.update(pc.unique(as_text(values)).drop_null().to_pylist()[: MOST_GROUPS + 1])
        self.in_digits = self.in_digits and (self.numeric or are_numbers(values))
        if self.in_digits:
            self._draw(as_numbers(values))

    def _draw(self, numbers: npt.NDArray[np.float64]) -> None:
        """Every so many-th number: twice as far apart whenever there are too many. Nothing is left to chance."""
        finite = numbers[np.isfinite(numbers)]
        self.sample.append(finite[-self._seen % self.every :: self.every])
        self._seen += len(finite)
        if sum(map(len, self.sample)) > 2 * SAMPLED:
            self.sample = [np.concatenate(self.sample)[::2]]
            self.every *= 2

    def is_few(self) -> bool:
        return len(self.values) <= (MOST_CUT_GROUPS if self.numeric else MOST_GROUPS)

    def grouping(self) -> Grouping:
        if self.is_few():
            return value_groups(self.name, _in_order(self.values, self.numeric))
        return cut_groups(self.name, np.concatenate(self.sample))


class Survey(NamedTuple):
    """The groups to compare, the columns that nobody asked for and that make too many, and the scale of the scores."""

    groupings: list[Grouping]
    left_out: list[str]
    scale: Scale


def survey(run: Run, by: Sequence[str]) -> Survey:
    """Look at the columns to group by (where none is named, at all that could serve) and at the scores."""
    kept = {field.name: field for field in run.kept()}
    for name in by:
        _check(name, kept)
    names = list(dict.fromkeys(by)) or [name for name, field in kept.items() if _is_groupable(field.type)]
    columns = [Column(name, is_number(kept[name].type)) for name in names]
    scale = _look(run, columns)
    if by:
        return Survey([_asked_for(column) for column in columns], [], scale)
    few = [column for column in columns if column.is_few()]
    return Survey([column.grouping() for column in few], [one.name for one in columns if one not in few], scale)


def _look(run: Run, columns: Sequence[Column]) -> Scale:
    low, high = np.inf, -np.inf
    for batch in batches(run.people, [*(column.name for column in columns), *SCORES]):
        for column in columns:
            column.add(batch.column(column.name))
        for name in SCORES:
            scores = as_numbers(batch.column(name))
            scores = scores[np.isfinite(scores)]
            low, high = float(scores.min(initial=low)), float(scores.max(initial=high))
    if low > high or (low >= 0 and high <= 1):
        return Scale(0.0, 1.0)
    return Scale(low, high) if low < high else Scale(low - 0.5, high + 0.5)


def _asked_for(column: Column) -> Grouping:
    if not column.in_digits and not column.is_few():
        raise TooManyGroups(
            f"{column.name!r} has more than {MOST_GROUPS} values, too many to compare; "
            "group them in the input, or name another column"
        )
    return column.grouping()


def _check(name: str, kept: dict[str, pa.Field]) -> None:
    if name not in kept:
        known = suggestion(name, kept) if kept else "it has kept none"
        raise UnknownColumn(f"{name!r} is not a column that the run has kept; {known}")
    if not _is_groupable(kept[name].type):
        raise NotGroupable(f"{name!r} holds {kept[name].type}, which cannot name groups")


def _is_groupable(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    is_day = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    is_plain = pa.types.is_boolean(kind) or is_day or pa.types.is_null(kind)
    return is_number(kind) or is_text or is_plain


def _in_order(values: set[str], numeric: bool) -> list[str]:
    return sorted(values, key=float) if numeric else sorted(values)
