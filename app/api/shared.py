"""What the processes of one service have together."""

from dataclasses import dataclass, field
from pathlib import Path

from app.adapters.rates import Meter


@dataclass(frozen=True, slots=True)
class Shared:
    """The meter of the keys' rates, and the folder of the counters; a process on its own needs no folder."""

    meter: Meter = field(default_factory=Meter)
    folder: Path | None = None
