"""The small facts that an engine yields while it searches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from app.core.budget import StoppedBy


class Engine(StrEnum):
    """Which search a request asks for, and which one answered."""

    AUTO = "auto"
    LATTICE = "lattice"
    CEMSP = "cemsp"


class Guarantee(StrEnum):
    """How far a search that ended by itself can be trusted to have found every answer."""

    EXACT = "exact"
    ASSUMES_MONOTONE = "assumes_monotone"


class Found(NamedTuple):
    """One minimal answer: the moves it makes (by their index in the problem), and what the model then says."""

    moves: tuple[int, ...]
    cost: float
    score: np.floating[Any]
    label: int


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers that were found together, in the order that they are sent in; each is put together when it is told of."""

    moves: Sequence[tuple[int, ...]]
    costs: Sequence[float]
    scores: Sequence[np.floating[Any]]
    labels: Sequence[int]

    @classmethod
    def of(cls, found: Sequence[Found]) -> "Answers":
        return cls(*zip(*found, strict=True))

    def __len__(self) -> int:
        return len(self.moves)

    def __iter__(self) -> Iterator[Found]:
        return map(Found, self.moves, self.costs, self.scores, self.labels)

    def first(self, count: int) -> "Answers":
        return Answers(self.moves[:count], self.costs[:count], self.scores[:count], self.labels[:count])


@dataclass(frozen=True, slots=True)
class Best:
    """The subset that came closest to a favourable answer so far."""

    moves: tuple[int, ...]
    cost: float
    merit: float
    score: np.floating[Any]
    label: int


class Reason(StrEnum):
    """What stands in the way."""

    CONSTRAINTS = "constraints"
    RANGES = "ranges"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Items (by index) that are in the way together: without them there is a way, and this subset is one."""

    items: tuple[int, ...]
    found: Found


@dataclass(slots=True)
class Explanation:
    """The ways that giving up constraints would open, smallest first. `complete` if every subset was looked at."""

    relaxations: list[Relaxation] = field(default_factory=list)
    complete: bool = False

    @property
    def reason(self) -> Reason | None:
        """Not known where nothing was found in the part that could be looked at."""
        if self.relaxations:
            return Reason.CONSTRAINTS
        return Reason.RANGES if self.complete else None


@dataclass(frozen=True, slots=True)
class LevelFinished:
    """Every minimal answer of at most `size` changes has been yielded."""

    size: int


@dataclass(frozen=True, slots=True)
class Working:
    """A batch was judged and there is nothing else to say: a moment to look at the clock."""


@dataclass(frozen=True, slots=True)
class Explained:
    """Why there is no way out, and the subset of the candidates that comes closest."""

    explanation: Explanation
    best: Best


@dataclass(frozen=True, slots=True)
class Finished:
    """The last fact of every search."""

    engine: Engine
    guarantee: Guarantee
    complete_up_to: int
    stopped_by: StoppedBy | None

    @property
    def complete(self) -> bool:
        return self.stopped_by is None


Fact = Answers | LevelFinished | Working | Explained | Finished
