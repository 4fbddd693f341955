"""What the processes of one service share."""

from dataclasses import dataclass, field
from pathlib import Path

from app.adapters.keys.rates import RateMeter


@dataclass(frozen=True, slots=True)
class Shared:
    """The meter of the keys' rates, and the folder of the counters; a process on its own needs no folder."""

    meter: RateMeter = field(default_factory=RateMeter)
    folder: Path | None = None
