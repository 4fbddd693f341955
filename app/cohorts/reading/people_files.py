"""Files of people: Parquet, CSV or JSON lines, one file or a folder of them."""

import csv
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.cohorts.places import source_of
from app.cohorts.reading.chunks import LINE, CellFormat, Chunk
from app.cohorts.reading.csv_rows import Records, heading

FORMS = {".parquet": "parquet", ".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}
BLOCK = 10_000  # rows that are read at a time

UNREADABLE = (pa.ArrowException, OSError, ValueError, csv.Error)


class BadInput(Exception):
    """The input cannot be read; the text says how to fix it."""


def people_files(path: Path, form: str | None) -> list[Path]:
    """The files of the input, in the order of their names."""
    if path.is_dir():
        wanted = FORMS.values() if form is None else [form]
        files = sorted(file for file in path.iterdir() if file.is_file() and _form(file) in wanted)
        if not files:
            raise BadInput(f"{path}: holds no file that ends in {', '.join(FORMS)}")
        return files
    if not path.exists():
        raise BadInput(f"{path}: no such file")
    if form is None and _form(path) is None:
        raise BadInput(f"{path}: does not end in {', '.join(FORMS)}; name the format with --format")
    return [path]


def _form(file: Path) -> str | None:
    return FORMS.get(file.suffix.lower())


def digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def rows_in(file: Path, form: str | None) -> int:
    """Roughly how many rows a file has, for the progress."""
    try:
        if is_parquet(file, form):
            with source_of(file) as source:
                return int(pq.read_metadata(source).num_rows)
        with file.open("rb") as opened:
            return sum(block.count(b"\n") for block in iter(lambda: opened.read(2**20), b""))
    except UNREADABLE:
        return 0


def column_names(file: Path, form: str | None) -> list[str] | None:
    """The names of a file's columns; None where it has none, or cannot be read."""
    try:
        match form or _form(file):
            case "parquet":
                with source_of(file) as source:
                    return list(pq.read_schema(source).names)
            case "csv":
                with _text(file) as lines:
                    return heading(lines)[1]
    except UNREADABLE:
        return None
    return None


def column_type(files: Sequence[Path], form: str | None, name: str) -> pa.DataType:
    """The type of a copied column: text, unless all files agree on another type."""
    kinds = {_parquet_type(file, name) if is_parquet(file, form) else pa.string() for file in files}
    return kinds.pop() if len(kinds) == 1 else pa.string()


def _parquet_type(file: Path, name: str) -> pa.DataType:
    try:
        with source_of(file) as source:
            schema = pq.read_schema(source)
    except UNREADABLE:
        return pa.string()
    if schema.names.count(name) != 1:
        return pa.string()
    kind = schema.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def read_people(file: Path, form: str | None, wanted: Sequence[str]) -> Iterator[Chunk]:
    """The rows of one file, in chunks. If the file cannot be read to its end, the last chunk says so."""
    return {"parquet": read_rows, "csv": _csv, "ndjson": _ndjson}[form or _form(file) or ""](file, wanted)


def is_parquet(file: Path, form: str | None) -> bool:
    """Whether a part of the file can be read without the rows before it."""
    return (form or _form(file)) == "parquet"


def _lost(file: Path, form: CellFormat, reason: str) -> Chunk:
    return Chunk(file.name, form, 0, pa.table({}), lost=reason)


def read_rows(file: Path, wanted: Sequence[str], rows: range | None = None) -> Iterator[Chunk]:
    """The rows of a Parquet file. With `rows`, counted from 0, others may come as rows without values."""
    with source_of(file) as source:
        try:
            opened = pq.ParquetFile(source, page_checksum_verification=True)
        except UNREADABLE:
            yield _lost(
                file, CellFormat.TYPED, "is not a complete Parquet file: it may have been cut off or never finished"
            )
            return
        with opened:
            yield from _parquet(file, opened, wanted, rows)


def _parquet(file: Path, opened: pq.ParquetFile, wanted: Sequence[str], rows: range | None) -> Iterator[Chunk]:
    names = opened.schema_arrow.names
    columns = [name for name in wanted if name in names]
    if twice := [name for name in columns if names.count(name) > 1]:
        yield _spoilt(file, opened.metadata.num_rows, _said_of_twice(twice[0]))
    elif not columns:
        # No column is needed, but the rows count.
        yield without_values(file, opened.metadata.num_rows)
    else:
        first = 0
        for groups in _grouped(opened):
            last = first + sum(opened.metadata.row_group(group).num_rows for group in groups)
            if rows is None or (first < rows.stop and rows.start < last):
                yield from _row_groups(file, opened, groups, columns)
            else:
                yield without_values(file, last - first)
            first = last


def _grouped(opened: pq.ParquetFile) -> Iterator[list[int]]:
    """Row groups that are read together: many where they are small."""
    groups: list[int] = []
    rows = 0
    for group in range(opened.num_row_groups):
        rows += opened.metadata.row_group(group).num_rows
        if groups and rows > BLOCK:
            yield groups
            groups, rows = [], opened.metadata.row_group(group).num_rows
        groups.append(group)
    yield from [groups] if groups else []


def _row_groups(file: Path, opened: pq.ParquetFile, groups: list[int], columns: list[str]) -> Iterator[Chunk]:
    """The rows of some row groups. In a damaged group the remaining rows are rejected; the next may be fine."""
    if len(groups) > 1:
        try:
            table = opened.read_row_groups(groups, columns, use_threads=False)
        except UNREADABLE:
            for group in groups:
                yield from _row_groups(file, opened, [group], columns)
        else:
            yield Chunk(file.name, CellFormat.TYPED, len(table), table)
        return
    rows, read = opened.metadata.row_group(groups[0]).num_rows, 0
    try:
        for batch in opened.iter_batches(BLOCK, groups, columns, use_threads=False):
            yield Chunk(file.name, CellFormat.TYPED, len(batch), pa.Table.from_batches([batch]))
            read += len(batch)
    except UNREADABLE:
        yield _spoilt(file, rows - read, f"is in row group {groups[0]} of the file, which is damaged")


def without_values(file: Path, rows: int) -> Chunk:
    return Chunk(file.name, CellFormat.TYPED, rows, pa.table({LINE: pa.nulls(rows)}))


def _spoilt(file: Path, rows: int, reason: str) -> Chunk:
    return replace(without_values(file, rows), flaws=dict.fromkeys(range(rows), reason))


def _said_of_twice(name: str) -> str:
    return f"is in a file that has several columns {name!r}: rename all but one"


def _text(file: Path) -> IO[str]:
    # newline="\n": nothing but that ends a line, so that the numbers of lines are those of any editor.
    return file.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n")


def _csv(file: Path, wanted: Sequence[str]) -> Iterator[Chunk]:
    with _text(file) as lines:
        try:
            delimiter, names = heading(lines)
        except csv.Error:
            hint = "is the file text with line feeds, and the header one line?"
            yield _lost(file, CellFormat.TEXT, f"has a header that cannot be read: {hint}")
            return
        if not names:
            yield _lost(file, CellFormat.TEXT, "is empty: it needs at least a header")
            return
        records = Records(lines, delimiter, len(names))
        twice = [_said_of_twice(name) for name in wanted if names.count(name) > 1][:1]
        places = {name: names.index(name) for name in wanted if name in names}
        while block := list(islice(records, BLOCK)):
            numbers, rows, flaws = zip(*block, strict=True)
            table = pa.table(
                {name: pa.array([row[place] for row in rows], pa.string()) for name, place in places.items()}
                or {LINE: pa.nulls(len(rows))}
            )
            broken = {place: (*twice, flaw)[0] for place, flaw in enumerate(flaws) if twice or flaw is not None}
            yield Chunk(file.name, CellFormat.TEXT, len(rows), table, lines=np.array(numbers), flaws=broken)


def _ndjson(file: Path, wanted: Sequence[str]) -> Iterator[Chunk]:
    with file.open("rb") as opened:
        lines = ((number, line) for number, line in enumerate(opened, start=1) if line.strip())
        while block := list(islice(lines, BLOCK)):
            numbers, texts = zip(*block, strict=True)
            table = pa.table({LINE: pa.array(texts, pa.binary())})
            yield Chunk(file.name, CellFormat.JSON, len(texts), table, lines=np.array(numbers))
