"""The tables of a comparison: a row per person, a row per plan of the old version, a row per rejected input row."""

from collections.abc import Sequence

import pyarrow as pa

from app.cohorts.tables import REJECTS, Schemas

# What both versions say of a person, each with `old_` or `new_` in front.
BY_VERSION = ("label", "score", "outcome", "count", "fewest_changes", "complete", "stopped_by", "guarantee", "reason")
WHO = ("row", "person")


def drift_schemas(old: Schemas, new: Schemas, kept: Sequence[pa.Field] = ()) -> Schemas:
    """The schemas, with the columns copied from the input after the person."""
    people = [
        *map(old.people.field, WHO),
        *kept,
        pa.field("kind", pa.string(), nullable=False),
        # Plans of the old version that the new one does not approve.
        pa.field("broken", pa.int64(), nullable=False),
        *(old.people.field(name).with_name(f"old_{name}") for name in BY_VERSION),
        *(new.people.field(name).with_name(f"new_{name}") for name in BY_VERSION),
    ]
    plans = [
        *map(old.counterfactuals.field, (*WHO, "rank", "changes", "cost")),
        pa.field("holds", pa.bool_(), nullable=False),
        *(old.counterfactuals.field(name).with_name(f"old_{name}") for name in ("label", "score")),
        # Null if the new version cannot score the changed row.
        *(pa.field(f"new_{name}", new.people.field(name).type) for name in ("label", "score")),
    ]
    return Schemas(pa.schema(people), pa.schema(plans), REJECTS)
