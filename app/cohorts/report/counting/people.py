"""The people of a run, counted batch by batch: outcomes, changes, scores, what stands in the way, what was stopped."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from app.cohorts.report.counting.groups import Everyone, Grouping, as_numbers
from app.cohorts.report.counting.histogram import Counts, Histogram, Tally
from app.cohorts.report.counting.intervals import Part
from app.cohorts.report.counting.survey import Scale
from app.cohorts.report.errors import DamagedRun

COLUMNS = [
    *("score", "best_score", "outcome", "count", "fewest_changes", "reason", "in_the_way"),
    *("complete", "complete_up_to", "stopped_by", "guarantee"),
]


ASSUMED = "assumed"


class Outcome(IntEnum):
    """How a person's question ended; all but the first were refused by the model."""

    ALREADY_FAVOURABLE = 0
    FOUND = 1
    NO_RECOURSE = 2
    UNKNOWN = 3


NAMES = pa.array([outcome.name.lower() for outcome in Outcome])


@dataclass(frozen=True)
class Outcomes:
    """How many people of a group came to each outcome."""

    already_favourable: int
    found: int
    no_recourse: int
    unknown: int

    @property
    def people(self) -> int:
        return self.already_favourable + self.refused

    @property
    def refused(self) -> int:
        return self.found + self.no_recourse + self.unknown

    @property
    def without(self) -> Part:
        """The share without recourse among the refused, where that is known."""
        return Part(self.no_recourse, self.found + self.no_recourse)

    def others(self, one: "Outcomes") -> "Outcomes":
        """All of these but one group of them."""
        return Outcomes(
            self.already_favourable - one.already_favourable,
            self.found - one.found,
            self.no_recourse - one.no_recourse,
            self.unknown - one.unknown,
        )


@dataclass
class GroupTally:
    """Outcomes and scores by the groups of one column."""

    grouping: Grouping
    counts: Counts
    before: Histogram
    after: Histogram

    @classmethod
    def empty(cls, grouping: Grouping, scale: Scale) -> "GroupTally":
        groups = len(grouping.labels)
        counts = np.zeros((groups, len(Outcome)), np.int64)
        return cls(grouping, counts, Histogram.empty(scale, groups), Histogram.empty(scale, groups))

    def add(self, batch: pa.RecordBatch, outcomes: Counts) -> None:
        column = self.grouping.column
        codes = self.grouping.codes(batch.column(column) if column else batch)
        flat = np.bincount(codes * len(Outcome) + outcomes, minlength=self.counts.size)
        self.counts += flat.reshape(self.counts.shape)
        found = outcomes == Outcome.FOUND
        self.before.add(codes[found], as_numbers(batch.column("score"))[found])
        self.after.add(codes[found], as_numbers(batch.column("best_score"))[found])

    def outcomes(self, group: int) -> Outcomes:
        return Outcomes(*map(int, self.counts[group]))

    def everyone(self) -> Outcomes:
        return Outcomes(*map(int, self.counts.sum(axis=0)))

    def groups(self) -> list[int]:
        """The groups that have anybody in them."""
        return [int(group) for group in np.flatnonzero(self.counts.sum(axis=1))]


@dataclass
class Obstacles:
    """Why people have no recourse, and what each would have to be spared."""

    reasons: Counter[str | None] = field(default_factory=Counter)
    # By item of the constraints: people for whom to give it up is enough, and for whom only together with others.
    alone: Counter[str] = field(default_factory=Counter)
    together: Counter[str] = field(default_factory=Counter)
    # People for whom at least one item is enough.
    freed_by_one: int = 0

    def add(self, reasons: pa.Array, in_the_way: pa.Array) -> None:
        self.reasons.update(reasons.to_pylist())
        sets = in_the_way.flatten()
        people = pc.list_parent_indices(in_the_way).to_numpy(zero_copy_only=False).astype(np.int64)
        sizes = pc.list_value_length(sets).to_numpy(zero_copy_only=False).astype(np.int64)
        items = pc.dictionary_encode(sets.flatten())
        names: list[str] = items.dictionary.to_pylist()
        codes = items.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        single = np.repeat(sizes == 1, sizes)
        person = np.repeat(people, sizes)
        self.freed_by_one += len(np.unique(person[single]))
        for chosen, counter in ((single, self.alone), (~single, self.together)):
            _count_people(counter, names, person[chosen], codes[chosen])


@dataclass
class Completeness:
    """How far the answers of the refused can be trusted to be all."""

    exact: int = 0
    # All others, by what stopped the search.
    others: Counter[str] = field(default_factory=Counter)
    # The smallest number of changes up to which the answers of those are complete.
    least_complete: dict[str, int] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        proved = pc.and_(batch.column("complete"), pc.equal(batch.column("guarantee"), "exact"))
        self.exact += proved.true_count
        others = batch.filter(pc.invert(proved))
        # Nothing has stopped a search that ended on its assumption.
        reasons = others.column("stopped_by").fill_null(ASSUMED).to_pylist()
        for reason, upto in zip(reasons, others.column("complete_up_to").to_pylist(), strict=True):
            self.others[reason] += 1
            self.least_complete[reason] = min(upto, self.least_complete.get(reason, upto))

    @property
    def people(self) -> int:
        return self.exact + self.others.total()


class PeopleTally:
    """Everything that is counted of the table of people."""

    def __init__(self, groupings: Sequence[Grouping], scale: Scale) -> None:
        self.all = GroupTally.empty(Everyone(), scale)
        self.groups = [GroupTally.empty(grouping, scale) for grouping in groupings]
        self.changes = Tally()
        self.answers = Tally()
        self.obstacles = Obstacles()
        self.completeness = Completeness()
        # Of those whom the ranges leave no way: the score as it is, and the best that changes within the rules reach.
        self.closest_before = Histogram.empty(scale, 1)
        self.closest_after = Histogram.empty(scale, 1)
        # Found, but not proved to be all.
        self.found_in_part = 0

    def add(self, batch: pa.RecordBatch) -> None:
        outcomes = _outcomes(batch)
        for tally in (self.all, *self.groups):
            tally.add(batch, outcomes)
        refused = batch.filter(pa.array(outcomes != Outcome.ALREADY_FAVOURABLE))
        self.completeness.add(refused)
        self._add_found(batch.filter(pa.array(outcomes == Outcome.FOUND)))
        self._add_without(batch.filter(pa.array(outcomes == Outcome.NO_RECOURSE)))

    def _add_found(self, found: pa.RecordBatch) -> None:
        self.changes.add(found.column("fewest_changes").drop_null().to_numpy(zero_copy_only=False))
        self.answers.add(found.column("count").to_numpy(zero_copy_only=False))
        self.found_in_part += found.num_rows - (found.column("complete").true_count)

    def _add_without(self, without: pa.RecordBatch) -> None:
        self.obstacles.add(without.column("reason"), without.column("in_the_way"))
        by_ranges = without.filter(pc.equal(without.column("reason"), "ranges"))
        nobody_apart = np.zeros(by_ranges.num_rows, np.int64)
        self.closest_before.add(nobody_apart, as_numbers(by_ranges.column("score")))
        self.closest_after.add(nobody_apart, as_numbers(by_ranges.column("best_score")))


def _outcomes(batch: pa.RecordBatch) -> Counts:
    codes = pc.index_in(batch.column("outcome"), value_set=NAMES)
    if codes.null_count:
        unknown = batch.column("outcome").filter(codes.is_null())[0].as_py()
        raise DamagedRun(f"There is an outcome {unknown!r} among the people, which this version does not know")
    return np.asarray(codes, dtype=np.int64)


def _count_people(
    counter: Counter[str], names: Sequence[str], person: npt.NDArray[np.int64], codes: npt.NDArray[np.int64]
) -> None:
    """Each person once for each name, in however many sets it occurs."""
    pairs = np.unique(person * max(len(names), 1) + codes)
    counts = np.bincount(pairs % max(len(names), 1), minlength=len(names))
    counter.update({name: int(count) for name, count in zip(names, counts, strict=True) if count})
