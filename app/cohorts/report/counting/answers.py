"""The counterfactuals of a run, counted batch by batch: which features people change in all, or in some, of theirs."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.cohorts.report.counting.histogram import Counts
from app.cohorts.report.errors import DamagedRun

# Of the changes only the names: the rest need not be read.
COLUMNS = ("row", "changes.list.element.feature")


class Person(NamedTuple):
    """Somebody whose answers may go on in the next batch."""

    row: int
    answers: int
    changed_in: Counter[str]


@dataclass
class FeatureTally:
    """How many people change a feature in every one of their answers, and how many in at least one.

    The answers of a person stand together, and people come in the order of the input.
    """

    people: int = 0
    every: Counter[str] = field(default_factory=Counter)
    some: Counter[str] = field(default_factory=Counter)
    _last: Person | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        rows = batch.column("row").to_numpy(zero_copy_only=False)
        if (np.diff(rows) < 0).any() or (self._last and rows[0] < self._last.row):
            raise DamagedRun("The counterfactuals are not in the order of the people: no run writes them like this")
        counted = _Counted.of(rows, batch.column("changes"))
        self._go_on(counted.person(0))
        last = len(counted.rows) - 1
        if last > 0:
            self.finish()
            self._count(counted, 1, last)
            self._last = counted.person(last)

    def _go_on(self, first: Person) -> None:
        """The first of a batch may be the last of the one before."""
        if self._last is not None and self._last.row == first.row:
            changed_in = self._last.changed_in + first.changed_in
            first = Person(first.row, self._last.answers + first.answers, changed_in)
        else:
            self.finish()
        self._last = first

    def finish(self) -> None:
        """The last person has no more answers."""
        person, self._last = self._last, None
        if person is not None:
            self.people += 1
            self.some.update(person.changed_in.keys())
            self.every.update(name for name, count in person.changed_in.items() if count == person.answers)

    def _count(self, counted: "_Counted", begin: int, end: int) -> None:
        """Count the people between, who are whole in this batch."""
        self.people += end - begin
        inside = (counted.pair_person >= begin) & (counted.pair_person < end)
        always = inside & (counted.pair_count == counted.answers[counted.pair_person])
        for chosen, counter in ((inside, self.some), (always, self.every)):
            counts = np.bincount(counted.pair_feature[chosen], minlength=len(counted.names))
            counter.update({name: int(count) for name, count in zip(counted.names, counts, strict=True) if count})


class _Counted(NamedTuple):
    """A batch by people and by pairs of a person and a feature that the person changes."""

    rows: Counts
    answers: Counts
    names: list[str]
    pair_person: Counts
    pair_feature: Counts
    pair_count: Counts

    @classmethod
    def of(cls, rows: Counts, changes: pa.Array) -> "_Counted":
        begins = np.flatnonzero(np.diff(rows, prepend=rows[0] - 1))
        answers = np.diff(begins, append=len(rows))
        sizes = pc.list_value_length(changes).to_numpy(zero_copy_only=False).astype(np.int64)
        features = pc.dictionary_encode(changes.flatten().field("feature"))
        codes = features.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        names = features.dictionary.to_pylist()
        person = np.repeat(np.repeat(np.arange(len(begins)), answers), sizes)
        pairs, counts = np.unique(person * max(len(names), 1) + codes, return_counts=True)
        return cls(rows[begins], answers, names, *divmod(pairs, max(len(names), 1)), counts)

    def person(self, place: int) -> Person:
        here = self.pair_person == place
        named = zip(self.pair_feature[here].tolist(), self.pair_count[here].tolist(), strict=True)
        changed_in = Counter({self.names[feature]: count for feature, count in named})
        return Person(int(self.rows[place]), int(self.answers[place]), changed_in)
