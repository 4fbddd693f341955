"""A network as one person sees it: the first layer's sums are affine in the moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np

from app.core.through.networks.network import Layer, Network, beyond
from app.core.through.networks.rounding import losses, own_losses
from app.core.through.view import Numbers, Unseen


class Cells(NamedTuple):
    """The columns of a row that a move changes, and what they then hold."""

    columns: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """The first layer's sums are `start`, and each move made adds its row of `steps`.

    `lost` bounds what the runtime's last sums are off; `own_lost` what bounds computed here are off, layer by layer.
    """

    start: Numbers
    steps: Numbers
    layers: tuple[Layer, ...]
    lost: Numbers
    own_lost: tuple[Numbers, ...]
    # What each column adds to the first layer's sums, for each move: columns that one move changes come apart. Where
    # weights cancelled it is NaN: rounding may leave anything of them.
    parts: tuple[Numbers, ...]

    @property
    def widest(self) -> int:
        """The most units of a layer."""
        return max(layer.units for layer in self.layers)

    def sums(self, truths: Numbers) -> Numbers:
        """The last sums for subsets, as rows of noughts and ones."""
        return beyond(self.layers, self.start + truths @ self.steps)


def seen_by(network: Network, row: Numbers, moves: Sequence[Cells]) -> Person:
    """The network as the person of this row sees it; `Unseen` if the row has gaps, or if the runtime may overflow.

    `row` and the cells hold what the first layer reads, as the runtime makes it.
    """
    if not np.isfinite(row).all() or not all(isfinite(value) for move in moves for value in move.values):
        raise Unseen("a value is missing, or not finite, where the model adds values up")
    first, largest = network.layers[0].affine, np.abs(row)
    parts, steps = [], np.zeros((len(moves), len(first.bias)))
    for place, move in enumerate(moves):
        columns, values = list(move.columns), np.array(move.values)
        largest[columns] = np.maximum(largest[columns], np.abs(values))
        change = (values - row[columns])[:, None]
        part = change * first.weights[columns]
        steps[place] = part.sum(axis=0)
        parts.append(np.where(first.plain[columns] | (change == 0), part, np.nan))
    start = row @ first.weights + first.bias
    return Person(start, steps, network.layers, losses(network, largest), own_losses(network, largest), tuple(parts))
