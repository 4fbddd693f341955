"""A network as one person sees it, with what its last sums become: the model's outputs."""

from dataclasses import dataclass

import numpy as np

from app.core.favourable import Bools
from app.core.through.networks.activations import Activation, Shape
from app.core.through.networks.margins import SIGMOID_OFF, SOFTMAX_OFF
from app.core.through.networks.network import Ending, Network
from app.core.through.networks.person import Person
from app.core.through.networks.rounding import OWN_SHARE, UNIT
from app.core.through.view import Kind, Numbers

SIGMOID = Activation(Shape.SIGMOID)


@dataclass(frozen=True, slots=True)
class NetworkView:
    """What a search is given that sees through a network."""

    network: Network
    person: Person
    kind: Kind = Kind.NETWORK

    @property
    def largest(self) -> Numbers:
        """The largest that the last sums get, absolutely."""
        return self.person.own_lost[-1] / OWN_SHARE

    def outputs_of(self, made: Bools) -> tuple[Numbers, Numbers]:
        """Bounds on the model's outputs for subsets of the moves, a row of truths for each."""
        sums = self.person.sums(made.astype(np.float64))
        off = self.person.lost + self.person.own_lost[-1]
        return outputs_between(sums - off, sums + off, self.network)


def outputs_between(low: Numbers, high: Numbers, network: Network) -> tuple[Numbers, Numbers]:
    """Bounds on the model's outputs, from bounds on the last sums."""
    unit = UNIT[network.dtype]
    match network.ending:
        case Ending.NONE:
            return low, high
        case Ending.SIGMOID:
            return SIGMOID.values(low) - SIGMOID_OFF * unit, SIGMOID.values(high) + SIGMOID_OFF * unit
        case Ending.TWO_SIDED:
            low, high = SIGMOID.values(low) - SIGMOID_OFF * unit, SIGMOID.values(high) + SIGMOID_OFF * unit
            return np.hstack([1 - high, low]), np.hstack([1 - low, high])
        case Ending.SOFTMAX:
            off = (SOFTMAX_OFF + 4 * low.shape[1]) * unit
            return _shares(low, high) - off, _shares(high, low) + off


def _shares(own: Numbers, others: Numbers) -> Numbers:
    """The share of each class, with the others at their other end."""
    gaps = others[:, None, :] - own[:, :, None]
    gaps[:, np.arange(own.shape[1]), np.arange(own.shape[1])] = 0.0
    with np.errstate(over="ignore"):
        shares: Numbers = 1.0 / np.exp(gaps).sum(axis=2)
    return shares
