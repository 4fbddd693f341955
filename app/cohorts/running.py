"""A run over a register, from the files of people to the folder of answers: read, answer in order, write."""

import hashlib
import json
import platform
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from app import __version__
from app.adapters.files.names import suggestion
from app.asking.posing.terms import Terms
from app.cohorts.amounts import CHUNK_ROWS, PARTITION_ROWS
from app.cohorts.answers_folder import AnswersFolder
from app.cohorts.reading.chunks import Chunk, cut, numbered
from app.cohorts.reading.columns import BadColumns, Columns
from app.cohorts.reading.people_files import column_names, column_type, digest, read_people
from app.cohorts.tables import Solved
from app.core.budget import Limits

# What a run's answers may depend on, besides Flipset itself.
PACKAGES = ("numpy", "onnxruntime", "pyarrow", "python-sat")


class Workers(Protocol):
    """Answers chunks, on this machine or elsewhere."""

    def solve(self, chunks: Iterable[Chunk]) -> Iterator[Solved]:
        """The result of each chunk, in order."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


@dataclass(frozen=True, slots=True)
class Input:
    """The files of people, their columns, and the sizes of chunks and partitions."""

    files: tuple[Path, ...]
    form: str | None
    columns: Columns
    partition_rows: int = PARTITION_ROWS
    chunk_rows: int = CHUNK_ROWS

    def chunks(self) -> Iterator[Chunk]:
        wanted = self.columns.wanted
        pieces = (piece for file in self.files for piece in read_people(file, self.form, wanted))
        return cut(numbered(pieces), self.chunk_rows, self.partition_rows)

    def partition(self, chunk: Chunk) -> int:
        return (chunk.first - 1) // self.partition_rows

    def kept_fields(self) -> tuple[pa.Field, ...]:
        """The columns that are copied to the answers, with their types."""
        kept = self.columns.kept
        return tuple(pa.field(name, column_type(self.files, self.form, column)) for name, column in kept.items())

    def check_columns(self) -> None:
        """`BadColumns` if a column that an option names is in no file."""
        found = [column_names(file, self.form) for file in self.files]
        if None in found:
            # The columns of JSON lines are unknown before they are read.
            return
        known = list(dict.fromkeys(name for names in found for name in names or ()))
        for option, named in self.columns.by_option().items():
            for column in named:
                if known and column not in known:
                    raise BadColumns(f"{option} {column}: there is no such column; {suggestion(column, known)}")

    def complaints(self) -> Iterator[str]:
        """Mistakes in the columns of features, for which all rows will be rejected."""
        for file in self.files:
            names = column_names(file, self.form)
            if not names:
                continue
            for column in self.columns.features.values():
                if column not in names:
                    yield f"{file.name}: has no column {column!r}; {suggestion(column, names)}; see --column"
                elif names.count(column) > 1:
                    yield f"{file.name}: has {names.count(column)} columns {column!r}; rename all but one"


def check_kept(columns: Columns, own: Collection[str]) -> None:
    """`BadColumns` if a copied column has the name of one of ours."""
    for name, column in columns.kept.items():
        if name in own:
            raise BadColumns(f"--keep {name}: is also a column of the answers; rename it: --keep its_{name}={column}")


def record_of(
    command: list[str], terms: Terms, limits: Limits, asked: Mapping[str, Any], people: Input
) -> dict[str, Any]:
    """The record of a run: everything that the answers depend on, and the command."""
    columns, engine = people.columns, terms.request.limits.engine
    return {
        "flipset": __version__,
        "finished": False,
        "command": command,
        "model": model_facts(terms),
        "registry": registry_facts(terms),
        "request": dict(asked),
        "limits": {
            "engine": engine,
            "max_counterfactuals": limits.max_counterfactuals,
            "max_model_rows": limits.max_model_rows,
        },
        "digests": {name: _digest(asked.get(name)) for name in ("constraints", "target", "normal_ranges", "guide")},
        "input": [{"file": file.name, "bytes": file.stat().st_size, "sha256": digest(file)} for file in people.files],
        "format": people.form,
        "columns": {
            "features": dict(columns.features),
            "context": dict(columns.context),
            "kept": dict(columns.kept),
            "person": columns.person,
        },
        "kept": list(columns.kept),
        "features": [
            {"name": feature.name, "title": feature.title, "unit": feature.unit} for feature in terms.model.features
        ],
        "partition_rows": people.partition_rows,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    }


def model_facts(terms: Terms) -> dict[str, Any]:
    """What the answers depend on, of the model."""
    model, favourable = terms.model, terms.favourable
    return {
        "name": model.name,
        "title": model.title,
        "version": model.version,
        "sha256": model.sha256,
        "description_sha256": model.description_sha256,
        "digest": model.digest,
        "favourable": [model.classes[place] for place in getattr(favourable, "classes", ())],
        "threshold": getattr(favourable, "threshold", None),
        "constraints": model.constraints.model_dump(mode="json", exclude_unset=True),
        "policy": model.policy.model_dump(mode="json", exclude_unset=True),
    }


def registry_facts(terms: Terms) -> dict[str, Any] | None:
    """What the answers depend on, of the registry."""
    registry = terms.prepared.registry
    if registry is None:
        return None
    return {
        "name": registry.name,
        "version": registry.version,
        "sha256": registry.sha256,
        "constraints": registry.constraints.model_dump(mode="json", exclude_unset=True),
    }


def stated_reasons(terms: Terms) -> dict[str, dict[str, str | None]]:
    """What a notice would state for each feature, as far as the registry says."""
    registry = terms.prepared.registry
    known = {} if registry is None else registry.features
    stated = {name: feature.reason for name, feature in known.items()}
    return {name: {"text": one.text, "code": one.code} for name, one in stated.items() if one is not None}


def _digest(content: Any) -> str:
    """The digest of the content, independent of its formatting."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Watcher(Protocol):
    """Is notified of the progress of a run."""

    def passed_over(self, rows: int) -> None:
        """`rows` rows were answered before this run began."""
        ...

    def answered(self, rows: int) -> None:
        """`rows` more rows are answered."""
        ...


def run(people: Input, workers: Workers, folder: AnswersFolder, watcher: Watcher) -> None:
    """Answer for everyone whose partition is not written yet."""
    sent: deque[tuple[int, int]] = deque()

    def still_open() -> Iterator[Chunk]:
        for chunk in people.chunks():
            partition = people.partition(chunk)
            if folder.is_done(partition):
                watcher.passed_over(chunk.rows)
            else:
                sent.append((partition, chunk.rows))
                yield chunk

    answered = ((*sent.popleft(), solved) for solved in workers.solve(still_open()))
    for partition, group in groupby(answered, key=itemgetter(0)):
        parts = []
        for _, rows, solved in group:
            parts.append(solved)
            watcher.answered(rows)
        folder.write(partition, parts)
    if not folder.is_done(0):
        # An input without rows has answers too: empty tables, which can be read.
        folder.write(0, [])
