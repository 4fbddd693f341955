"""What a comparison comes to: how many people of each kind, how many broken plans, and who is affected."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from app.cohorts.drift.kinds import CHANGING, Kind

# The columns for each person who is affected.
SAID = ("kind", "broken", "old_outcome", "old_count", "old_complete", "new_outcome", "new_count", "new_complete")
COLUMNS = ("row", "person", *SAID)


def drift_counts(people: Sequence[Path]) -> dict[str, Any]:
    """The counts of a comparison, by their keys in its record."""
    kinds: Counter[str] = Counter(dict.fromkeys(map(str, Kind), 0))
    counts: Counter[str] = Counter()
    for file in people:
        table = pq.read_table(file, columns=list(SAID))
        kinds.update({each["values"]: each["counts"] for each in table["kind"].value_counts().to_pylist()})
        for name, found in _found(table).items():
            counts[name] += pc.sum(found).as_py() or 0
    return {"kinds": dict(kinds), **counts}


def _found(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """What is added up, by its name: a number or a truth for each person."""
    broken, plans = table["broken"], table["old_count"]
    refused = pc.equal(table["kind"], Kind.NEWLY_REFUSED)
    breaks = pc.greater(broken, 0)
    return {
        "newly_refused_without_way_out": pc.and_(refused, pc.equal(table["new_outcome"], "no_recourse")),
        "broken_plans": broken,
        "people_with_broken_plans": breaks,
        "people_with_only_broken_plans": pc.and_(breaks, pc.equal(broken, plans)),
        "old_incomplete": pc.invert(table["old_complete"]),
        "new_incomplete": pc.invert(table["new_complete"]),
    }


def affected(people: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Everyone whose decision or way out changes, or who has a plan that breaks; in the order of the input."""
    for file in people:
        table = pq.read_table(file, columns=list(COLUMNS))
        changes = pc.is_in(table["kind"], value_set=pa.array(sorted(CHANGING), pa.string()))
        yield from table.filter(pc.or_(changes, pc.greater(table["broken"], 0))).select(COLUMNS).to_pylist()
