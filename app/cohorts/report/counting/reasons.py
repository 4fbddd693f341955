"""The reasons for the decisions, counted by group: how often each feature is one, and how often the first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.cohorts.report.counting.groups import Everyone, Grouping
from app.cohorts.report.counting.intervals import Part

COLUMN = "reasons"


@dataclass
class Stated:
    """Of some people: of how many the reasons are known, and for how many each feature is one, or the first."""

    known: int = 0
    named: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)

    def part(self, name: str) -> Part:
        return Part(self.named.get(name, 0), self.known)

    def part_first(self, name: str) -> Part:
        return Part(self.first.get(name, 0), self.known)

    def others(self, one: "Stated") -> "Stated":
        """All of these but one group of them."""
        named = {name: count - one.named.get(name, 0) for name, count in self.named.items()}
        first = {name: count - one.first.get(name, 0) for name, count in self.first.items()}
        return Stated(self.known - one.known, named, first)


class GroupReasons:
    """The same for each group of a column."""

    def __init__(self, grouping: Grouping) -> None:
        self.grouping = grouping
        self.stated = [Stated() for _ in grouping.labels]

    def add(self, batch: pa.RecordBatch) -> None:
        column = self.grouping.column
        codes = self.grouping.codes(batch.column(column) if column else batch)
        lists = batch.column(COLUMN)
        for group in np.unique(codes).tolist():
            _add(self.stated[group], lists.filter(pa.array(codes == group)))

    def groups(self) -> list[int]:
        """The groups with any known reasons."""
        return [place for place, stated in enumerate(self.stated) if stated.known]


@dataclass
class ReasonTally:
    """Reasons of all, and by the groups of each column; `unknown` counts refused people without known reasons."""

    all: GroupReasons
    groups: list[GroupReasons]
    unknown: int = 0

    @classmethod
    def empty(cls, groupings: Sequence[Grouping]) -> "ReasonTally":
        return cls(GroupReasons(Everyone()), [GroupReasons(grouping) for grouping in groupings])

    @property
    def everyone(self) -> Stated:
        return self.all.stated[0]

    def add(self, batch: pa.RecordBatch) -> None:
        refused = batch.filter(pc.not_equal(batch.column("outcome"), "already_favourable"))
        known = refused.filter(pc.is_valid(refused.column(COLUMN)))
        self.unknown += refused.num_rows - known.num_rows
        for tally in (self.all, *self.groups):
            tally.add(known)


def _add(stated: Stated, lists: pa.Array) -> None:
    stated.known += len(lists)
    some = lists.filter(pc.greater(pc.list_value_length(lists), 0))
    for counted, names in ((stated.named, some.flatten()), (stated.first, pc.list_element(some, 0))):
        for entry in pc.value_counts(names).to_pylist():
            counted[entry["values"]] = counted.get(entry["values"], 0) + entry["counts"]
