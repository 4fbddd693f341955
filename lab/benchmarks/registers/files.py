"""A register as a file: Parquet, CSV or JSON lines, by what its name ends with; written as it is drawn."""

import json
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

Batches = Iterable[pa.RecordBatch]


class UnknownEnding(Exception):
    """No format is known by the end of the name."""


def write(people: Batches, file: Path) -> int:
    """Write all people, and say how many there were."""
    try:
        writer = WRITERS[file.suffix]
    except KeyError:
        raise UnknownEnding(f"{file.name} must end with one of: {', '.join(WRITERS)}") from None
    written = 0

    def counted() -> Batches:
        nonlocal written
        for batch in people:
            written += batch.num_rows
            yield batch

    writer(counted(), file)
    return written


def _write_parquet(people: Batches, file: Path) -> None:
    _write_tables(people, lambda schema: parquet.ParquetWriter(file, schema))


def _write_csv(people: Batches, file: Path) -> None:
    _write_tables(people, lambda schema: csv.CSVWriter(file, schema))


def _write_tables(people: Batches, opened: Callable[[pa.Schema], Any]) -> None:
    """The first people say which columns there are."""
    batches = iter(people)
    first = next(batches)
    with opened(first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)


def _write_ndjson(people: Batches, file: Path) -> None:
    with file.open("w", encoding="utf-8") as lines:
        for batch in people:
            lines.writelines(json.dumps(person) + "\n" for person in batch.to_pylist())


WRITERS: dict[str, Callable[[Batches, Path], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".ndjson": _write_ndjson,
}
