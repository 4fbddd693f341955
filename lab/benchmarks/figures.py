"""A figure: what is asked for, what was measured, and whether it is reached."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal


@dataclass(frozen=True)
class Figure:
    """One line of the table. `details` holds the raw medians behind it."""

    name: str
    title: str
    bound: Literal["at least", "at most"]
    asked: float
    measured: float
    unit: str
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_json(cls, content: dict[str, Any]) -> "Figure":
        return cls(**{name: value for name, value in content.items() if name != "reached"})

    @property
    def group(self) -> str:
        return self.name.partition(".")[0]

    @property
    def reached(self) -> bool:
        return self.measured >= self.asked if self.bound == "at least" else self.measured <= self.asked

    @property
    def margin(self) -> float:
        """How many times better than asked for; below 1 where the figure is not reached."""
        if self.bound == "at least":
            return self.measured / self.asked
        # A thousandth of what is allowed is as good as nothing, and can be drawn.
        return self.asked / max(self.measured, self.asked / 1000)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "reached": self.reached}


class Disagreement(Exception):
    """Two sides that must give the same answers do not: no figure of theirs is worth anything."""


def agreed(holds: bool, what: str) -> None:
    if not holds:
        raise Disagreement(what)


def milliseconds(seconds: Sequence[float]) -> float:
    """The median, for the details."""
    return round(median(seconds) * 1000, 4)
