"""The three tables that a run writes: a row per person, a row per counterfactual, and a row per rejected input row.

Plain types only, so that DuckDB, Polars, pandas and Spark read them as they are.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

CHANGE = pa.struct(
    [
        pa.field("feature", pa.string(), nullable=False),
        # Of a number; the two behind them are of a category.
        pa.field("from", pa.float64()),
        pa.field("to", pa.float64()),
        pa.field("from_category", pa.string()),
        pa.field("to_category", pa.string()),
    ]
)
NAMES = pa.list_(pa.field("element", pa.string(), nullable=False))

REJECTS = pa.schema(
    [
        # Counted from 1 through all files; null where a file could not be read at all.
        pa.field("row", pa.int64()),
        pa.field("file", pa.string(), nullable=False),
        # Where the row begins in a file of text.
        pa.field("line", pa.int64()),
        pa.field("person", pa.string()),
        pa.field("fields", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)


class Schemas(NamedTuple):
    """The columns of a run's tables; scores have the type of the model's scores."""

    people: pa.Schema
    counterfactuals: pa.Schema
    rejects: pa.Schema


class Solved(NamedTuple):
    """The rows that some people add to each table."""

    people: pa.Table
    counterfactuals: pa.Table
    rejects: pa.Table

    def __reduce__(self) -> tuple[Any, ...]:
        return _solved, tuple(map(packed, self))


def _solved(*contents: bytes) -> Solved:
    return Solved(*map(unpacked, contents))


def schemas(
    score: np.dtype[Any], kept: Sequence[pa.Field] = (), *, stability: bool = False, reasons: bool = False
) -> Schemas:
    """The schemas, with the columns copied from the input after the person; the last two only on request."""
    score_type = pa.from_numpy_dtype(score)
    who = [pa.field("row", pa.int64(), nullable=False), pa.field("person", pa.string(), nullable=False)]
    people = [
        *who,
        *kept,
        pa.field("label", pa.string()),
        pa.field("score", score_type, nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("fewest_changes", pa.int32()),
        # Of the answers; without any, of the changes within the rules that come closest, which best_changes names.
        pa.field("best_score", score_type),
        pa.field("best_changes", NAMES),
        pa.field("complete", pa.bool_(), nullable=False),
        pa.field("complete_up_to", pa.int32(), nullable=False),
        pa.field("stopped_by", pa.string()),
        pa.field("guarantee", pa.string(), nullable=False),
        pa.field("engine", pa.string(), nullable=False),
        # Why there is no answer (constraints or ranges), and each smallest group of constraints to give up for one.
        pa.field("reason", pa.string()),
        pa.field("in_the_way", pa.list_(pa.field("element", NAMES, nullable=False))),
        # The features that the decision rests on, ranked; null where there is no such decision, or it is not proved.
        *([pa.field("reasons", NAMES)] if reasons else []),
    ]
    counterfactuals = [
        *who,
        pa.field("rank", pa.int32(), nullable=False),
        pa.field("changes", pa.list_(pa.field("element", CHANGE, nullable=False)), nullable=False),
        pa.field("cost", pa.float64(), nullable=False),
        pa.field("score", score_type, nullable=False),
        pa.field("label", pa.string()),
        # The share of the repeated measurements in which the plan holds; null where it is not known.
        *([pa.field("stability", pa.float64())] if stability else []),
    ]
    return Schemas(pa.schema(people), pa.schema(counterfactuals), REJECTS)


def packed(table: pa.Table) -> bytes:
    """A table as bytes for another process: only its own rows, not those of the table it was cut from."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def unpacked(content: bytes) -> pa.Table:
    with pa.ipc.open_stream(content) as stream:
        return stream.read_all()
