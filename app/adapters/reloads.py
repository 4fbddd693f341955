"""What is served, since when, and the results of reloads."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.adapters.files.flaws import Flaw
from app.adapters.files.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reload. Without flaws, the new files are served; otherwise nothing changed."""

    at: datetime
    flaws: tuple[Flaw, ...]
    warnings: tuple[Flaw, ...] = ()

    @property
    def result(self) -> Literal["loaded", "refused"]:
        return "refused" if self.flaws else "loaded"


@dataclass(frozen=True, slots=True)
class Reloads:
    """The number of reloads since the start, by result, and the last one."""

    loaded: int = 0
    refused: int = 0
    last: Attempt | None = None

    def then(self, attempt: Attempt) -> "Reloads":
        refused = bool(attempt.flaws)
        return Reloads(self.loaded + (not refused), self.refused + refused, attempt)


@dataclass(frozen=True, slots=True)
class Served:
    """What every worker must serve, since when, and the reloads so far."""

    snapshot: Snapshot
    since: datetime
    reloads: Reloads = Reloads()
