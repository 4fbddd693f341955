"""Moves whose effect has a certain sign: they never lower the margins, or never raise them, whatever else is made.

This is proved for the runtime's own arithmetic: products with constants, sums in a fixed order and comparisons keep
the order of numbers, rounding included. So signs of weights are followed from the margins back to the moves. Weights
that cancel each other, and activations that the runtime only approximates, prove nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.through.networks.margins import Margins
from app.core.through.networks.network import Affine
from app.core.through.networks.person import Person
from app.core.through.view import Numbers

# For each unit: 1 if the margins never fall with it, -1 if they never rise; both flags are off where neither is known.
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Signs:
    """Which moves never lower the margins, and which never raise them; those that do neither have no effect."""

    rising: Bools
    falling: Bools


def signs_of(person: Person, margins: Margins) -> Signs:
    unknown = np.zeros(len(person.steps), dtype=np.bool_)
    if len(margins.alternatives) > 1:
        return Signs(unknown, unknown)
    rises, falls = np.all(margins.forms >= 0, axis=0), np.all(margins.forms <= 0, axis=0)
    for place in range(len(person.layers) - 1, 0, -1):
        rises, falls = _before(person.layers[place].affine, rises, falls)
        if not person.layers[place - 1].activation.is_exact:
            return Signs(unknown, unknown)
    rising = np.array([_only(part, rises, falls) for part in person.parts], dtype=np.bool_)
    falling = np.array([_only(-part, rises, falls) for part in person.parts], dtype=np.bool_)
    return Signs(rising, falling)


def _before(affine: Affine, rises: Flags, falls: Flags) -> tuple[Flags, Flags]:
    """The same for the numbers that go into sums."""
    up = np.where(affine.weights > 0, rises, falls) & affine.plain | (affine.mass == 0)
    down = np.where(affine.weights > 0, falls, rises) & affine.plain | (affine.mass == 0)
    return np.all(up, axis=1), np.all(down, axis=1)


def _only(part: Numbers, rises: Flags, falls: Flags) -> bool:
    """Whether what a move adds to the first sums, column by column, can only raise the margins."""
    return bool(np.all(np.where(part > 0, rises, np.where(part < 0, falls, part == 0))))
