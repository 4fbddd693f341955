"""What must hold for a favourable decision, as lower limits of sums of the last layer's numbers.

The limits are necessary, not sufficient: they leave room for what the runtime's sigmoid and softmax are off. The model
itself is asked about everything that they allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools, Favourable, FavourableClasses, FavourableInterval, Floats
from app.core.through.networks.network import Ending, Network
from app.core.through.networks.rounding import UNIT
from app.core.through.view import Numbers

# What the runtime's sigmoid and softmax are off, in units of rounding; softmax loses more with more classes.
SIGMOID_OFF = 16
SOFTMAX_OFF = 32


@dataclass(frozen=True, slots=True)
class Limit:
    """A row of multipliers of the last sums; what they add up to must not be lower than `least`."""

    form: tuple[float, ...]
    least: float


@dataclass(frozen=True, slots=True)
class Margins:
    """Forms of the last sums. A favourable decision needs all forms of at least one alternative to be 0 or more."""

    forms: Numbers
    offsets: Numbers
    alternatives: tuple[tuple[int, ...], ...]

    def possible(self, margins: Floats) -> Bools:
        """Whether a decision can be favourable, given upper bounds on the margins: the last axis is the forms."""
        enough = margins >= 0.0
        if len(self.alternatives) == 1:
            return enough[..., 0] if enough.shape[-1] == 1 else np.all(enough, axis=-1)
        ways = [np.all(enough[..., list(each)], axis=-1) for each in self.alternatives]
        return np.asarray(np.stack(ways).any(axis=0), dtype=np.bool_)

    def least(self, needed: NDArray[np.intp]) -> NDArray[np.intp]:
        """How many moves a favourable decision needs, given how many each form needs: the last axis is the forms."""
        ways = [needed[..., list(each)].max(axis=-1) for each in self.alternatives]
        least: NDArray[np.intp] = np.min(ways, axis=0)
        return least


def margins_of(
    favourable: Favourable, network: Network, dtype: np.dtype[np.floating], lost: Numbers, largest: Numbers
) -> Margins | None:
    """The margins of a decision; None where no limit follows from it.

    `lost` is what the runtime's last sums are off, `largest` the largest that they get, absolutely. `dtype` is the
    type of the outputs.
    """
    limits = _Limits(network, dtype, len(lost), largest)
    alternatives = limits.interval(favourable) if isinstance(favourable, FavourableInterval) else limits.of(favourable)
    if not alternatives or not all(alternatives):
        return None
    forms = np.array([limit.form for each in alternatives for limit in each])
    least = np.array([limit.least for each in alternatives for limit in each])
    ends = np.cumsum([len(each) for each in alternatives]).tolist()
    places = tuple(tuple(range(end - len(each), end)) for end, each in zip(ends, alternatives, strict=True))
    return Margins(forms, np.abs(forms) @ lost - least, places)


class _Limits:
    """The limits for one kind of ending: for each way to a favourable decision, all that must hold."""

    def __init__(self, network: Network, dtype: np.dtype[np.floating], sums: int, largest: Numbers) -> None:
        self._ending = network.ending
        self._dtype = dtype
        self._sums = sums
        self._largest = largest
        # What is computed in float32 stays as coarse if the graph then writes it as float64.
        self._unit = max(UNIT[dtype.name], UNIT[network.dtype])

    def interval(self, favourable: FavourableInterval) -> list[list[Limit]]:
        ends = [(1.0, favourable.low), (-1.0, favourable.high)]
        limits = [self._end(sign, self._number(end)) for sign, end in ends if end is not None]
        return [[limit for limit in limits if limit.least > -inf]]

    def _end(self, sign: float, end: float) -> Limit:
        if self._ending is Ending.NONE:
            return Limit(self._form({0: sign}), sign * end)
        share = end if sign > 0 else 1.0 - end
        return Limit(self._form({0: sign}), _log_odds(share - SIGMOID_OFF * self._unit))

    def of(self, favourable: FavourableClasses) -> list[list[Limit]]:
        threshold = None if favourable.threshold is None else self._number(favourable.threshold)
        match self._ending:
            case Ending.TWO_SIDED:
                return self._two_sided(favourable.classes[0], 0.5 if threshold is None else threshold)
            case Ending.SIGMOID:
                return [] if threshold is None else self._sigmoids(favourable.classes, threshold)
            case Ending.SOFTMAX if threshold is not None:
                return self._shares(favourable, threshold)
            case Ending.NONE if threshold is not None:
                return self._total(favourable.classes, threshold)
        slack = 0.0 if self._ending is Ending.NONE else self._softmax_off
        return [
            [Limit(self._form({own: 1.0, other: -1.0}), -slack) for other in favourable.others]
            for own in favourable.classes
        ]

    @property
    def _softmax_off(self) -> float:
        return (SOFTMAX_OFF + 4 * self._sums) * self._unit

    def _two_sided(self, own: int, threshold: float) -> list[list[Limit]]:
        least = _log_odds(threshold - SIGMOID_OFF * self._unit)
        return [[Limit((1.0,) if own == 1 else (-1.0,), least)]] if least > -inf else []

    def _sigmoids(self, classes: Sequence[int], threshold: float) -> list[list[Limit]]:
        """One of several must reach its part of the threshold."""
        share = (threshold - len(classes) * SIGMOID_OFF * self._unit) / len(classes)
        least = _log_odds(share)
        return [[Limit(self._form({own: 1.0}), least)] for own in classes] if least > -inf else []

    def _total(self, classes: Sequence[int], threshold: float) -> list[list[Limit]]:
        slack = len(classes) * self._unit * float(self._largest[list(classes)].sum())
        return [[Limit(self._form(dict.fromkeys(classes, 1.0)), threshold - slack)]]

    def _shares(self, favourable: FavourableClasses, threshold: float) -> list[list[Limit]]:
        """The best of the favourable classes against each other class, and against their mean."""
        own, others = favourable.classes, favourable.others
        odds = _log_odds(threshold - len(own) * self._softmax_off)
        if odds == -inf:
            return []
        least = odds - log(len(own))
        return [
            [
                *(Limit(self._form({each: 1.0, other: -1.0}), least) for other in others),
                Limit(self._form({each: 1.0, **dict.fromkeys(others, -1 / len(others))}), least + log(len(others))),
            ][: 1 if len(others) == 1 else None]
            for each in own
        ]

    def _form(self, multipliers: dict[int, float]) -> tuple[float, ...]:
        return tuple(multipliers.get(place, 0.0) for place in range(self._sums))

    def _number(self, number: float) -> float:
        """As the decision compares it, in the type of the outputs."""
        return float(self._dtype.type(number))


def _log_odds(share: float) -> float:
    """The sum from which on the sigmoid reaches a share, and a little less; what is above every share asks for 1."""
    if share <= 0:
        return -inf
    share = min(share, 1.0 - 2.0**-30)
    odds = log(share / (1.0 - share))
    return odds - 1e-9 * (1.0 + abs(odds))
