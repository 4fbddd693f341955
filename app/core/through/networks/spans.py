"""Bounds on a network's outputs over boxes of its columns, by the same lines that the searches use (CROWN)."""

from typing import NamedTuple

import numpy as np

from app.core.favourable import Favourable, FavourableClasses
from app.core.through.networks.bounds import Interval, backward, times
from app.core.through.networks.network import Ending, Network
from app.core.through.networks.rounding import losses, own_losses
from app.core.through.networks.view import outputs_between
from app.core.through.view import Numbers, Unseen


class Spans(NamedTuple):
    """For each box bounds on the model's outputs, and how much each column contributes to their distance."""

    low: Numbers
    high: Numbers
    pulls: Numbers


def spans(network: Network, low: Numbers, high: Numbers, favourable: Favourable) -> Spans:
    """The outputs for all rows of columns between `low` and `high`, a row of each for a box; or `Unseen`."""
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise Unseen("a value is missing, or not finite, where the model adds values up")
    boxes, forms = _Boxes(network, low, high), _forms(network, favourable)
    highest, pulls = boxes.highest(len(network.layers) - 1, forms)
    lowest, other_pulls = boxes.highest(len(network.layers) - 1, -forms)
    off = np.abs(forms) @ losses(network, boxes.largest)
    least, most = outputs_between(-lowest - off, highest + off, network)
    return Spans(least, most, np.maximum(pulls, other_pulls).max(axis=1))


def _forms(network: Network, favourable: Favourable) -> Numbers:
    """What is bounded: the last sums or, as only differences matter to a softmax, what each is ahead of one of them."""
    forms = np.eye(len(network.layers[-1].affine.bias))
    if network.ending is not Ending.SOFTMAX or not isinstance(favourable, FavourableClasses):
        return forms
    forms[:, favourable.classes[0]] -= 1.0
    return forms


class _Boxes:
    """Boxes, with the intervals of every hidden layer's sums."""

    def __init__(self, network: Network, low: Numbers, high: Numbers) -> None:
        self._layers = network.layers
        self.largest = np.maximum(np.abs(low), np.abs(high)).max(axis=0)
        self._own_lost = own_losses(network, self.largest)
        first = network.layers[0].affine
        self._reach = (high - low) / 2
        self._start = (low + high) / 2 @ first.weights + first.bias
        reach = self._reach @ np.abs(first.weights) + self._own_lost[0]
        self._intervals = [Interval(self._start - reach, self._start + reach)]
        for place in range(1, len(network.layers) - 1):
            units = np.eye(network.layers[place].units)
            highest, lowest = self.highest(place, units)[0], -self.highest(place, -units)[0]
            # What the lines cross by is lost to rounding.
            self._intervals.append(Interval(np.minimum(lowest, highest), np.maximum(lowest, highest)))

    def highest(self, place: int, forms: Numbers) -> tuple[Numbers, Numbers]:
        """Upper bounds on sums of a layer's numbers, a row of `forms` for each; and what each column adds to them."""
        affine = self._layers[place].affine
        constant = np.abs(forms) @ self._own_lost[place] + forms @ affine.bias
        slopes: Numbers = np.broadcast_to(forms @ affine.weights.T, (len(self._start), len(forms), len(affine.weights)))
        for before in range(place - 1, -1, -1):
            layer = self._layers[before]
            slopes, added = backward(slopes, layer.activation.lines(*self._intervals[before]))
            constant = constant + added
            if before:
                constant = constant + slopes @ layer.affine.bias
                slopes = times(slopes, layer.affine.weights.T)
        constant = constant + np.matmul(slopes, self._start[:, :, None])[:, :, 0]
        pulls = np.abs(times(slopes, self._layers[0].affine.weights.T)) * self._reach[:, None]
        return constant + pulls.sum(axis=2), pulls
