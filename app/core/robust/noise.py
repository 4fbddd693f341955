"""Errors of measurement: how large they are, and the draws of them that every row of a request gets."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from math import isnan, nan
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.problem import Move
from app.core.search.oracle import Scorer
from app.core.subsets.masks import Indices

Draws = NDArray[np.float64]

# No draw is so many standard deviations away.
LARGEST_ERROR = 10.0


class Noise(NamedTuple):
    """A normal error: its standard deviation, in the unit of the feature or relative to its value."""

    amount: float
    is_relative: bool = False

    def sd(self, value: float) -> float:
        return self.amount * abs(value) if self.is_relative else self.amount


class NoisyFeature(NamedTuple):
    """A feature that is measured with an error. A whole number stays whole."""

    name: str
    noise: Noise
    whole: bool = False


@lru_cache(maxsize=1024)
def _first_errors(name: str, draws: int) -> Draws:
    words = hashlib.shake_256(name.encode()).digest(8 * draws)
    normal = NormalDist()
    # 53 bits each, in the middle of their step: never nought, never one.
    shares = ((np.frombuffer(words, dtype="<u8") >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    errors = np.array([normal.inv_cdf(share) for share in np.clip(shares, 2.0**-54, 1 - 2.0**-53).tolist()])
    errors.flags.writeable = False
    return errors


def standard_errors(name: str, draws: int) -> Draws:
    """The errors of a feature in standard deviations, one a draw.

    They depend on the name alone: the same request gets the same ones on any machine, with any version of NumPy, and
    in whatever order the features come. Fewer draws are the first ones of more, so only a few lengths are remembered.
    """
    return _first_errors(name, next(length for length in (100, 1_000, max(10_000, draws)) if length >= draws))[:draws]


@lru_cache(maxsize=16)
def _errors(names: tuple[str, ...], draws: int) -> Draws:
    """The errors of several features: a row for each draw, a column for each feature."""
    errors = np.stack([standard_errors(name, draws) for name in names], axis=1)
    errors.flags.writeable = False
    return errors


class NoisyRows:
    """The rows of a person as they may be measured: for each set of moves as many as there are draws."""

    def __init__(
        self,
        scorer: Scorer,
        instance: Sequence[float],
        moves: Sequence[Move],
        noisy: Mapping[int, NoisyFeature],
        draws: int,
    ) -> None:
        self.draws = draws
        self._scorer = scorer
        self.features = list(noisy.values())
        self.positions = list(noisy)
        self.columns = [scorer.columns(position)[0] for position in noisy]
        # All values that are measured, and the place of their feature: each as it stands, then the target of each move.
        self.values = [instance[position] for position in noisy]
        self.places = list(range(len(noisy)))
        places = {position: place for place, position in enumerate(noisy)}
        # For each move of a noisy feature: the place of the feature, and of its value among those.
        self._targets: dict[int, tuple[int, int]] = {}
        for index, move in enumerate(moves):
            if (place := places.get(move.position)) is not None:
                self._targets[index] = place, len(self.values)
                self.values.append(move.target)
                self.places.append(place)

    @cached_property
    def _cells(self) -> NDArray[Any]:
        """The cells of every value in every draw. What is missing stays missing."""
        measured = list(zip([self.features[place] for place in self.places], self.values, strict=True))
        sds = np.array([feature.noise.sd(value) for feature, value in measured])
        errors = _errors(tuple(feature.name for feature in self.features), self.draws)
        with np.errstate(over="ignore"):
            found = np.array(self.values) + sds * errors[:, self.places]
            if whole := [place for place, (feature, _) in enumerate(measured) if feature.whole]:
                found[:, whole] = np.rint(found[:, whole])
            # A number is its own cell.
            cells: NDArray[Any] = found.astype(self._scorer.dtype)
        for place, value in enumerate(self.values):
            if isnan(value):
                cells[:, place] = self._scorer.cells(self.positions[self.places[place]], nan)[0]
        return cells

    def values_of(self, plans: Sequence[Sequence[int]]) -> Indices:
        """Which values the noisy features of each plan have, by their places among all that are measured."""
        found = [list(range(len(self.positions))) for _ in plans]
        for chosen, plan in zip(found, plans, strict=True):
            # The moves of a feature come in order, the farthest last.
            for move in plan:
                if move in self._targets:
                    place, value = self._targets[move]
                    chosen[place] = value
        return np.array(found)

    def values_where(self, made: Bools) -> Indices:
        """The same of many plans, given by whether each makes each move."""
        found = np.tile(np.arange(len(self.positions)), (len(made), 1))
        for move, (place, value) in self._targets.items():
            found[made[:, move], place] = value
        return found

    def rows(self, unmeasured: NDArray[Any], values: Indices, draws: slice) -> NDArray[Any]:
        """Rows of some draws, those of one plan together, from the rows and the values of the plans."""
        cells = self._cells[draws][:, values]
        rows = np.repeat(unmeasured, len(cells), axis=0)
        rows.reshape(len(values), len(cells), -1)[:, :, self.columns] = cells.transpose(1, 0, 2)
        return rows
