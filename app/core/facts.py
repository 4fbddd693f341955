"""The small facts that an engine yields while it searches."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Found:
    """One minimal answer: the moves it makes (by their index in the problem), and what the model then says."""

    moves: tuple[int, ...]
    cost: float
    score: np.floating[Any]
    label: int


@dataclass(frozen=True, slots=True)
class LevelFinished:
    """Every minimal answer of at most `size` changes has been yielded."""

    size: int


@dataclass(frozen=True, slots=True)
class Working:
    """A batch was judged and there is nothing else to say: a moment to look at the clock."""


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


Fact = Found | LevelFinished | Working | Finished
