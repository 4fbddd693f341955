"""What the processes of one service share."""

from dataclasses import dataclass, field
from pathlib import Path

from app.adapters.keys.rates import RateMeter


@dataclass(frozen=True, slots=True)
class Shared:
    """The meter of the keys' rates, and the folders of the counters and of used tokens, where they are shared."""

    meter: RateMeter = field(default_factory=RateMeter)
    folder: Path | None = None
    tokens: Path | None = None

    @property
    def folders(self) -> set[Path]:
        return {each for each in (self.folder, self.tokens) if each is not None}
