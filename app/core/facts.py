"""The facts that an engine yields while it searches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from app.core.budget import StoppedBy
from app.core.memory import Waiting


class Engine(StrEnum):
    """The search that a request asks for, or that answered."""

    AUTO = "auto"
    LATTICE = "lattice"
    CEMSP = "cemsp"
    THROUGH = "through"


class Guarantee(StrEnum):
    """Whether a search is exact for any model, or assumes that the model is monotone."""

    EXACT = "exact"
    ASSUMES_MONOTONE = "assumes_monotone"


class Found(NamedTuple):
    """One minimal answer: its moves (by index in the problem), its cost, and the model's score and label."""

    moves: tuple[int, ...]
    cost: float
    score: np.floating[Any]
    label: int


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers that were found together, in the order of sending. Iterating makes each `Found` when it is needed."""

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
    """The subset that came closest to a favourable decision so far, by the indices of its moves."""

    moves: tuple[int, ...]
    cost: float
    merit: float
    score: np.floating[Any]
    label: int


class Reason(StrEnum):
    """Why there is no answer."""

    CONSTRAINTS = "constraints"
    RANGES = "ranges"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Items (by index) to give up together, and an answer that this opens."""

    items: tuple[int, ...]
    found: Found


@dataclass(slots=True)
class Explanation:
    """Which constraints to give up for an answer, smallest sets first; `complete` if every subset was checked.

    All subsets of at most `size` candidates were checked. `answers` satisfy every constraint: the search missed them
    because it assumed a monotone model.
    """

    relaxations: list[Relaxation] = field(default_factory=list)
    answers: list[Found] = field(default_factory=list)
    size: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class LevelFinished:
    """Every minimal answer of at most `size` changes has been yielded."""

    size: int


@dataclass(frozen=True, slots=True)
class Working:
    """A batch was judged, with no news: the caller may check the clock."""


@dataclass(frozen=True, slots=True)
class Explained:
    """Why nothing was found, and the subsets of the candidates that come closest.

    `proved`: there is no answer. `best` satisfies the rules; `best_without_rules` is set only if it comes closer.
    Each is None if no such subset was judged.
    """

    explanation: Explanation
    proved: bool
    best: Best | None
    best_without_rules: Best | None

    @property
    def reason(self) -> Reason | None:
        """None if it is not proved that there is no answer, or if too few subsets were checked."""
        if not self.proved:
            return None
        if self.explanation.relaxations:
            return Reason.CONSTRAINTS
        return Reason.RANGES if self.explanation.complete else None


class ProvedBy(StrEnum):
    """What a proof rests on: rows that the model scored, or what was read in its graph."""

    ROWS = "rows"
    LINEAR = "linear"
    TREES = "trees"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Proof:
    """Why a result holds for this model: how many sets were looked at, and the moves that no answer can need."""

    by: ProvedBy
    nodes: int
    inert: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """The last fact of every search. It has a proof if what it says is proved for this model."""

    engine: Engine
    guarantee: Guarantee
    complete_up_to: int
    stopped_by: StoppedBy | None
    proof: Proof | None = None

    @property
    def complete(self) -> bool:
        """Whether it is proved for this model that every answer was yielded."""
        return self.stopped_by is None and self.guarantee is Guarantee.EXACT


# Yielded between two steps of the work, so that other searches can run.
Moment = Working | Waiting
Fact = Answers | LevelFinished | Moment | Explained | Finished
