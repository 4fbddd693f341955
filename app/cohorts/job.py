"""A job: everything that a worker needs to answer for people. It is pickled and sent to workers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from app.adapters.files.snapshots import Snapshot
from app.cohorts.reading.chunks import Chunk
from app.cohorts.reading.columns import Columns
from app.cohorts.tables import Solved
from app.settings import Settings

# No deadline: answers must not depend on how fast a machine is. A day is as good as for ever.
ENDLESS_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Job:
    """The files of one model and its registry, the request for everyone, and the columns of the input."""

    snapshot: Snapshot
    settings: Settings
    model: str
    request: Mapping[str, Any]
    columns: Columns
    kept: tuple[pa.Field, ...] = ()
    # Whether the reasons for each decision are found too.
    reasons: bool = False


class ChunkSolver(Protocol):
    """Answers for the people of a chunk, in one process."""

    def solve(self, chunk: Chunk) -> Solved:
        """The tables with the results of everyone in a chunk."""
        ...

    def reject(self, chunk: Chunk, reason: str) -> Solved:
        """Reject all rows of a chunk for this reason."""
        ...


def settings_for_a_run(settings: Settings, max_counterfactuals: int) -> Settings:
    """The same settings without a deadline."""
    own = {
        "default_deadline_ms": ENDLESS_MS,
        "max_deadline_ms": ENDLESS_MS,
        "max_counterfactuals": max_counterfactuals,
        "search_threads": 1,
    }
    return settings.model_copy(update=own)


def only(snapshot: Snapshot, model: str, registries: set[str]) -> Snapshot:
    """The part of a snapshot that a job needs: one model and these registries."""
    folder = snapshot.models_dir / model
    files = tuple(file for file in snapshot.registries if file.stem in registries)

    def is_needed(path: Path) -> bool:
        return path.is_relative_to(folder) or path in files

    return replace(
        snapshot,
        contents={path: content for path, content in snapshot.contents.items() if is_needed(path)},
        unread={path: reason for path, reason in snapshot.unread.items() if is_needed(path)},
        model_folders=tuple(path for path in snapshot.model_folders if path == folder),
        registries=files,
    )
