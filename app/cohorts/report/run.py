"""The folder of a run: what its run.json says, and the parts of its three tables."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.cohorts.report.errors import DamagedRun, NoSuchFolder, NotARun
from app.cohorts.tables import schemas

FACTS = "run.json"
TABLES = ("people", "counterfactuals", "rejects")
# Enough that arrays are worth their calls, few enough that a batch is small beside the interpreter.
BATCH_ROWS = 32_768
# The columns that every run writes; whatever else is there was carried over from the input.
OWN_COLUMNS = frozenset(schemas(np.dtype("float32"), reasons=True).people.names)


@dataclass(frozen=True)
class Run:
    """The folder of a run. Read `facts` with care: another version may have written them."""

    folder: Path
    facts: dict[str, Any]
    digest: str
    people: tuple[Path, ...]
    counterfactuals: tuple[Path, ...]
    rejects: tuple[Path, ...]
    # Parts that not all three tables have: not in the report.
    halves: int

    @property
    def finished(self) -> bool:
        return self.facts.get("finished") is True

    def facts_of(self, name: str) -> dict[str, Any]:
        """An object inside the facts; empty if there is none."""
        found = self.facts.get(name)
        return found if isinstance(found, dict) else {}

    def kept(self) -> list[pa.Field]:
        """The columns that were carried over from the input, in their order."""
        if not self.people:
            return []
        return [field for field in _opened(self.people[0]).schema_arrow if field.name not in OWN_COLUMNS]

    def people_columns(self) -> list[str]:
        """The columns of the people."""
        return list(_opened(self.people[0]).schema_arrow.names) if self.people else []

    def answer_columns(self) -> list[str]:
        """The columns of the counterfactuals: a run may tell more of them if its request asks for it."""
        return list(_opened(self.counterfactuals[0]).schema_arrow.names) if self.counterfactuals else []


def read_run(folder: Path) -> Run:
    """Read the folder of a run, except its tables; `NoReport` says why it cannot be read."""
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise NoSuchFolder(f"{folder} {what}; name the folder that flipset cohort wrote with --out")
    facts, digest = _facts(folder / FACTS)
    parts = {table: _parts(folder, table) for table in TABLES}
    # A part is whole when all three tables have it.
    whole = set.intersection(*(set(named) for named in parts.values()))
    halves = len(set.union(*(set(named) for named in parts.values()))) - len(whole)
    taken = {table: tuple(named[name] for name in sorted(whole)) for table, named in parts.items()}
    run = Run(folder, facts, digest, halves=halves, **taken)
    _check(run)
    return run


def batches(parts: Sequence[Path], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """These columns of all parts, a few thousand rows at a time."""
    for part in parts:
        file = _opened(part)
        try:
            yield from file.iter_batches(BATCH_ROWS, columns=list(columns), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DamagedRun(f"{part} cannot be read: {error}") from None
        finally:
            file.close()


def _facts(file: Path) -> tuple[dict[str, Any], str]:
    if not file.is_file():
        raise NotARun(f"{file.parent} is not the folder of a run: there is no {FACTS} in it")
    try:
        content = file.read_bytes()
        facts = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        raise NotARun(f"{file} cannot be read: {error}") from None
    if not isinstance(facts, dict):
        raise NotARun(f"{file} was not written by a run: it should hold one JSON object")
    return facts, hashlib.sha256(content).hexdigest()


def _parts(folder: Path, table: str) -> dict[str, Path]:
    """By their names; a part that is being written has another ending."""
    return {part.name: part for part in (folder / table).glob("part-*.parquet")}


def _check(run: Run) -> None:
    """An unfinished run may have a report if there is anything in it; a finished one must be complete."""
    if not run.finished and not run.people:
        raise NotARun(f"The run in {run.folder} has not written anything yet; let it finish first")
    if run.people and "outcome" not in _opened(run.people[0]).schema_arrow.names:
        raise NotARun(f"{run.folder} is not the folder of a run of flipset cohort: its people have no outcome")
    if run.finished and run.halves:
        raise DamagedRun(f"{run.folder} is incomplete: {run.halves} of its parts are not in all of {', '.join(TABLES)}")


def _opened(part: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(part)
    except (pa.ArrowException, OSError) as error:
        raise DamagedRun(f"{part} cannot be read: {error}") from None
