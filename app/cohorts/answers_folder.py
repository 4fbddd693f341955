"""The folder that a run writes: a record, and three folders of Parquet, with complete files only, one per partition."""

import fcntl
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from app.cohorts.places import is_local, source_of
from app.cohorts.tables import Schemas, Solved

# In the order of writing: once the last one exists, the partition is done.
TABLES = ("rejects", "counterfactuals", "people")
RECORD = "run.json"
UNFINISHED = ".unfinished"
# Columns with few different values, for which a Parquet dictionary pays off.
REPEATED = ["label", "outcome", "stopped_by", "guarantee", "engine", "reason", "file", "changes.list.element.feature"]
# Keys of the record that say how a run went, not what it was asked.
OF_ITS_COURSE = ("finished", "command")

# What a run counts in the files of its people, by the keys of the record.
Count = Callable[[Sequence[Path]], Mapping[str, Any]]


class OtherRun(Exception):
    """The folder holds another run, or something else; the text says what to do."""


class InUse(Exception):
    """Another run is writing into the folder."""


def outcomes(people: Sequence[Path]) -> dict[str, Any]:
    """How many people have each outcome."""
    found: Counter[str] = Counter()
    for file in people:
        with source_of(file) as source:
            column = pq.read_table(source, columns=["outcome"])["outcome"]
        found.update({each["values"]: each["counts"] for each in column.value_counts().to_pylist()})
    return {"outcomes": dict(sorted(found.items()))}


class AnswersFolder:
    """One run's folder."""

    def __init__(self, path: Path, schemas: Schemas) -> None:
        self.path = path
        self._schemas = schemas._asdict()

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Lock the folder; `InUse` if another run has it. A process that dies releases its lock.

        A store that is not on this machine has no locks.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if not is_local(self.path):
            yield
            return
        number = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"{self.path}: another run is writing here") from None
        else:
            yield
        finally:
            os.close(number)

    def begin(self, record: Mapping[str, Any]) -> bool:
        """Begin a run, or continue the one that was begun here; `OtherRun` if it differs. Whether it is finished."""
        file = self.path / RECORD
        if file.exists():
            before = self.record()
            if differing := [name for name in record if name not in OF_ITS_COURSE and record[name] != before.get(name)]:
                raise OtherRun(
                    f"{self.path}: holds another run, which differs in {', '.join(differing)}. "
                    "Name another folder with --out, or remove this one."
                )
            if before.get("finished"):
                return True
        elif any(not entry.name.endswith(UNFINISHED) for entry in _entries(self.path)):
            raise OtherRun(f"{self.path}: is not empty, but holds no run. Name another folder with --out.")
        else:
            # First of all: without it, nobody knows which run the files belong to.
            self._write_record({**record, "finished": False})
        for table in TABLES:
            (self.path / table).mkdir(exist_ok=True)
        self._sweep()
        return False

    def is_done(self, partition: int) -> bool:
        return self._file("people", partition).exists()

    def write(self, partition: int, solved: Sequence[Solved]) -> None:
        """Write all tables of a partition."""
        for name in TABLES:
            parts = [getattr(each, name) for each in solved]
            # As one chunk, so that the file does not depend on how the parts arrived.
            table = pa.concat_tables([self._schemas[name].empty_table(), *parts]).combine_chunks()
            content = pa.BufferOutputStream()
            pq.write_table(table, content, compression="snappy", use_dictionary=REPEATED)
            _write(self._file(name, partition), content.getvalue().to_pybytes())

    def finish(self, record: Mapping[str, Any], count: Count) -> dict[str, Any]:
        """Complete the record with counts from the written files, and return it."""
        self._sweep()
        rejects = [_rejected_rows(file) for file in self.files("rejects")]
        people, rejected = self._rows("people"), sum(map(len, rejects))
        whole = {
            **record,
            "finished": True,
            # An unreadable file counts as one row.
            "rows": people + rejected,
            "people": people,
            "rejects": rejected,
            "unreadable_files": sum(rows.null_count for rows in rejects),
            "counterfactuals": self._rows("counterfactuals"),
            **count(self.files("people")),
        }
        self._write_record(whole)
        return whole

    def files(self, table: str) -> list[Path]:
        """The written files of a table, in order."""
        return sorted((self.path / table).glob("part-*.parquet"), key=attrgetter("name"))

    def done(self) -> set[str]:
        """The names of the partitions' files that are there: one look, however many they are."""
        return {file.name for file in self.files(TABLES[-1])}

    def record(self) -> dict[str, Any]:
        """The record of the run that was begun here."""
        content: dict[str, Any] = json.loads((self.path / RECORD).read_text(encoding="utf-8"))
        return content

    def _sweep(self) -> None:
        """Remove what workers that died had begun to write."""
        for table in TABLES:
            for leftover in (self.path / table).glob(f"*{UNFINISHED}"):
                leftover.unlink()

    def _rows(self, table: str) -> int:
        return sum(_rows_in(file) for file in self.files(table))

    def _file(self, table: str, partition: int) -> Path:
        return self.path / table / name_of(partition)

    def _write_record(self, content: Mapping[str, Any]) -> None:
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        _write(self.path / RECORD, text.encode())


def name_of(partition: int) -> str:
    return f"part-{partition:05d}.parquet"


def _rejected_rows(file: Path) -> pa.ChunkedArray:
    with source_of(file) as source:
        return pq.read_table(source, columns=["row"])["row"]


def _rows_in(file: Path) -> int:
    with source_of(file) as source:
        return int(pq.read_metadata(source).num_rows)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        # In an object store a folder is there as soon as it holds something.
        return []


def _write(file: Path, content: bytes) -> None:
    """Write a whole file or none, whatever happens: a power failure, or another worker that writes the same."""
    if not is_local(file):
        # In one request: what is uploaded appears when it is complete.
        file.fs.pipe_file(file.path, content)  # type: ignore[attr-defined]  # a path of fsspec
        return
    unfinished = file.with_name(f"{file.name}.{token_hex(4)}{UNFINISHED}")
    with unfinished.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.replace(file)
    number = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
