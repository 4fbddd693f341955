"""Errors of measurement: how large they are, and the draws of them that every row of a request gets."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.problem import Move
from app.core.search.oracle import Scorer

Draws = NDArray[np.float64]


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

    def measured(self, value: float, draws: int) -> Draws:
        """The value as each draw measures it."""
        found = value + self.noise.sd(value) * standard_errors(self.name, draws)
        return np.rint(found) if self.whole else found


@lru_cache(maxsize=4096)
def standard_errors(name: str, draws: int) -> Draws:
    """The errors of a feature in standard deviations, one a draw.

    They depend on the name alone: the same request gets the same ones on any machine, with any version of NumPy, and
    in whatever order the features come. Fewer draws are the first ones of more.
    """
    words = hashlib.shake_256(name.encode()).digest(8 * draws)
    normal = NormalDist()
    # 53 bits each, in the middle of their step: never nought, never one.
    shares = ((np.frombuffer(words, dtype="<u8") >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    errors = np.array([normal.inv_cdf(share) for share in np.clip(shares, 2.0**-54, 1 - 2.0**-53).tolist()])
    errors.flags.writeable = False
    return errors


@dataclass(frozen=True, slots=True)
class _NoisyColumn:
    """A column of the model's rows: what it holds in each draw, as the feature is now and as its move makes it."""

    column: int
    now: NDArray[Any]
    move: int | None
    then: NDArray[Any]


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
        made = {move.position: index for index, move in enumerate(moves)}
        self._columns: list[_NoisyColumn] = []
        for position, feature in noisy.items():
            (column,) = scorer.columns(position)
            move = made.get(position)
            now = _cells(scorer, position, feature, instance[position], draws)
            then = now if move is None else _cells(scorer, position, feature, moves[move].target, draws)
            self._columns.append(_NoisyColumn(column, now, move, then))

    def rows(self, unmeasured: NDArray[Any], made: Bools, draws: slice) -> NDArray[Any]:
        """Rows of some draws, those of one set together. `made` tells for each set and move whether it is made."""
        count = len(range(*draws.indices(self.draws)))
        rows = np.repeat(unmeasured, count, axis=0)
        for column in self._columns:
            now = column.now[None, draws]
            found = now if column.move is None else np.where(made[:, column.move, None], column.then[None, draws], now)
            rows[:, column.column] = np.broadcast_to(found, (len(unmeasured), count)).reshape(-1)
        return rows


def _cells(scorer: Scorer, position: int, feature: NoisyFeature, value: float, draws: int) -> NDArray[Any]:
    """What the column of the feature holds in each draw. What is missing stays missing."""
    with np.errstate(over="ignore"):
        if isnan(value):
            return np.full(draws, scorer.cells(position, value)[0]).astype(scorer.dtype)
        # A number is its own cell.
        return feature.measured(value, draws).astype(scorer.dtype)
