"""What is served since when, and what came of the attempts to serve something else."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.adapters.flaws import Flaw
from app.adapters.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to read everything anew: without flaws it is served, else nothing has changed."""

    at: datetime
    flaws: tuple[Flaw, ...]

    @property
    def result(self) -> Literal["loaded", "refused"]:
        return "refused" if self.flaws else "loaded"


@dataclass(frozen=True, slots=True)
class Reloads:
    """How many attempts there were since the start, by their result, and the last of them."""

    loaded: int = 0
    refused: int = 0
    last: Attempt | None = None

    def then(self, attempt: Attempt) -> "Reloads":
        refused = bool(attempt.flaws)
        return Reloads(self.loaded + (not refused), self.refused + refused, attempt)


@dataclass(frozen=True, slots=True)
class Served:
    """What every worker is to serve, since when, and the attempts so far."""

    snapshot: Snapshot
    since: datetime
    reloads: Reloads = Reloads()
