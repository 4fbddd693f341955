"""Bounds on a network's sums over boxes: sets of subsets in which some moves are decided, and the others are open.

The first layer's sums are affine in the moves, so their intervals are exact. Behind it, lines above and below each
activation turn bounds on its sums into bounds that are affine in the open moves: planes. They go forward through the
hidden layers, for their intervals; one pass backward from the margins then finds the plane that counts (such bounds
are known as CROWN). Everything works on many boxes at once, all with the same open moves.
"""

from typing import NamedTuple

import numpy as np

from app.core.subsets.masks import Indices
from app.core.through.networks.activations import Lines
from app.core.through.networks.person import Person
from app.core.through.view import Numbers


class Interval(NamedTuple):
    """The least and the largest that each unit's sum may be, a row for each box."""

    low: Numbers
    high: Numbers

    def within(self, other: "Interval") -> "Interval":
        """What both allow."""
        return Interval(np.maximum(self.low, other.low), np.minimum(self.high, other.high))

    def of(self, rows: Indices) -> "Interval":
        """The intervals of some boxes."""
        return Interval(self.low[rows], self.high[rows])


class Planes(NamedTuple):
    """For each box and each form an upper bound: `constant`, and for each open move made its coefficient."""

    constant: Numbers
    coefficients: Numbers

    def highest(self) -> Numbers:
        """The bound for the best choice of open moves."""
        highest: Numbers = self.constant + np.maximum(self.coefficients, 0.0).sum(axis=2)
        return highest


class Boxes:
    """Boxes of one person: the first layer's sums with only the decided moves made, and what the open moves add."""

    def __init__(self, person: Person, constants: Numbers, steps: Numbers) -> None:
        self._person = person
        self._layers = person.layers
        self._constants = constants
        self._steps = steps
        off = person.own_lost[0]
        low, high = np.minimum(steps, 0.0).sum(axis=0) - off, np.maximum(steps, 0.0).sum(axis=0) + off
        # Of every layer but the last, as far as they are known.
        self.intervals = [Interval(constants + low, constants + high)]

    def tighten(self, known: list[Interval] | None = None, with_planes: bool = True) -> None:
        """Find the intervals of all hidden layers, within those that are known already.

        Plain intervals are quick. Planes make them narrower, and take some ten times as long.
        """
        planes = _both(self._constants, self._steps) if with_planes else None
        for place in range(1, len(self._layers) - 1):
            interval = self._plain(place)
            if known is not None:
                interval = interval.within(known[place])
            if planes is not None:
                planes = self._forward(place, *planes)
                interval = interval.within(_range(*planes, off=self._person.own_lost[place]))
            self.intervals.append(interval)

    def _plain(self, place: int) -> Interval:
        before, layer = self.intervals[place - 1], self._layers[place - 1]
        low, high = layer.activation.values(before.low), layer.activation.values(before.high)
        affine, off = self._layers[place].affine, self._person.own_lost[place]
        middle = (low + high) / 2 @ affine.weights + affine.bias
        reach = (high - low) / 2 @ np.abs(affine.weights) + off
        return Interval(middle - reach, middle + reach)

    def _forward(self, place: int, upper: Numbers, lower: Numbers) -> tuple[Numbers, Numbers]:
        """Planes above and below the sums of a layer, from those of the layer before it."""
        lines = self._layers[place - 1].activation.lines(*self.intervals[place - 1])
        above, below = upper * lines.upper[:, None], lower * lines.lower[:, None]
        above[:, 0] += lines.upper_offset
        below[:, 0] += lines.lower_offset
        affine = self._layers[place].affine
        # A positive weight takes the same side, a negative one the other.
        crossed = times(above - below, np.maximum(affine.weights, 0.0))
        upper = times(below, affine.weights) + crossed
        lower = times(above, affine.weights) - crossed
        upper[:, 0] += affine.bias
        lower[:, 0] += affine.bias
        return upper, lower

    def planes(self, forms: Numbers) -> Planes:
        """Upper bounds on sums of the last layer's numbers: a row of `forms` for each."""
        last = self._layers[-1].affine
        constant = np.abs(forms) @ self._person.own_lost[-1] + forms @ last.bias
        slopes: Numbers = (forms @ last.weights.T)[None]
        for place in range(len(self._layers) - 2, -1, -1):
            layer = self._layers[place]
            slopes, added = backward(slopes, layer.activation.lines(*self.intervals[place]))
            constant = constant + added
            if place:
                constant = constant + slopes @ layer.affine.bias
                slopes = times(slopes, layer.affine.weights.T)
        constant = constant + np.matmul(slopes, self._constants[:, :, None])[:, :, 0]
        return Planes(constant, times(slopes, self._steps.T))


def _both(constants: Numbers, steps: Numbers) -> tuple[Numbers, Numbers]:
    """The first layer's sums as planes, which are exact: the constant first, then a row for each open move."""
    boxes, units = constants.shape
    planes = np.concatenate([constants[:, None], np.broadcast_to(steps, (boxes, len(steps), units))], axis=1)
    return planes, planes


def _range(upper: Numbers, lower: Numbers, off: Numbers) -> Interval:
    return Interval(
        lower[:, 0] + np.minimum(lower[:, 1:], 0.0).sum(axis=1) - off,
        upper[:, 0] + np.maximum(upper[:, 1:], 0.0).sum(axis=1) + off,
    )


def backward(slopes: Numbers, lines: Lines) -> tuple[Numbers, Numbers]:
    """Multiples of an activation's values as multiples of its sums: each takes the line that keeps the bound above."""
    rising, falling = np.maximum(slopes, 0.0), np.minimum(slopes, 0.0)
    added = rising * lines.upper_offset[:, None] + falling * lines.lower_offset[:, None]
    return rising * lines.upper[:, None] + falling * lines.lower[:, None], added.sum(axis=2)


def times(numbers: Numbers, matrix: Numbers) -> Numbers:
    """One product for all boxes."""
    boxes, rows, units = numbers.shape
    return (numbers.reshape(boxes * rows, units) @ matrix).reshape(boxes, rows, -1)
