"""How many people have plans that hold, if a run tells of each plan in which share of the measurements it does."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from app.cohorts.report.counting.groups import as_numbers
from app.cohorts.report.counting.histogram import Counts
from app.cohorts.report.counting.intervals import Part

COLUMN = "stability"
COLUMNS = ("row", "rank", COLUMN)
# A plan holds if the model favours at least this share of its measurements.
HOLDS = 0.95


@dataclass
class PeopleSeen:
    """How many people some answers belong to; those of a person come together, but may go on in the next batch."""

    count: int = 0
    _last: int | None = None

    def add(self, rows: Counts) -> None:
        people = np.unique(rows)
        if len(people):
            self.count += len(people) - (int(people[0]) == self._last)
            self._last = int(people[-1])


@dataclass
class HoldingTally:
    """People with a plan whose share is known, those whose first plan holds, and those with any plan that holds."""

    known: PeopleSeen = field(default_factory=PeopleSeen)
    first: PeopleSeen = field(default_factory=PeopleSeen)
    some: PeopleSeen = field(default_factory=PeopleSeen)

    def add(self, batch: pa.RecordBatch) -> None:
        rows, ranks = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("row", "rank"))
        shares = as_numbers(batch.column(COLUMN))
        holds = shares >= HOLDS
        self.known.add(rows[~np.isnan(shares)])
        self.first.add(rows[holds & (ranks == 1)])
        self.some.add(rows[holds])

    @property
    def by_the_first(self) -> Part:
        return Part(self.first.count, self.known.count)

    @property
    def by_any(self) -> Part:
        return Part(self.some.count, self.known.count)
