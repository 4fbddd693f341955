"""The moves in the order of their influence, and subsets translated from one order into the other."""

import numpy as np

from app.core.subsets.masks import Indices, Masks, as_bytes, single
from app.core.through.networks.margins import Margins
from app.core.through.networks.person import Person
from app.core.through.view import Numbers

# The average is taken over so many subsets, the same for the same number of moves.
SAMPLED = 128
BYTE = 8


def by_influence(person: Person, margins: Margins) -> Indices:
    """The moves in falling order of how much they change the margins, on average over some subsets."""
    truths = np.random.default_rng(0).integers(0, 2, (SAMPLED, len(person.steps))).astype(np.float64)
    sums = [person.start + truths @ person.steps]
    for before, layer in zip(person.layers, person.layers[1:], strict=False):
        sums.append(before.activation.values(sums[-1]) @ layer.affine.weights + layer.affine.bias)
    total = sum(np.abs(_slopes(person, form, sums) @ person.steps.T).mean(axis=0) for form in margins.forms)
    return np.argsort(-np.asarray(total), kind="stable")


def _slopes(person: Person, form: Numbers, sums: list[Numbers]) -> Numbers:
    """How a form changes with the first layer's sums, at each of some subsets."""
    slopes = np.repeat(form[None], len(sums[0]), axis=0)
    for place in range(len(sums) - 1, 0, -1):
        slopes = slopes @ person.layers[place].affine.weights.T
        slopes *= person.layers[place - 1].activation.slopes(sums[place - 1])
    return slopes


class Reordered:
    """Subsets of moves in another order, which says for each place which of `moves` moves stands there."""

    def __init__(self, order: Indices, moves: int) -> None:
        there = np.zeros(moves, dtype=np.uint64)
        there[order] = single(len(order))
        self._there = _tables(there)
        self._back = _tables(single(moves)[order])

    def there(self, masks: Masks) -> Masks:
        """Into the new order."""
        return _looked_up(self._there, masks)

    def back(self, masks: Masks) -> Masks:
        """Into the order of the problem."""
        return _looked_up(self._back, masks)


def _tables(singles: Masks) -> list[Masks]:
    """For each byte of a subset what each of its values becomes."""
    padded = np.concatenate([singles, np.zeros(-len(singles) % BYTE, dtype=np.uint64)])
    return [unions(padded[start : start + BYTE]) for start in range(0, len(padded), BYTE)]


def _looked_up(tables: list[Masks], masks: Masks) -> Masks:
    values = as_bytes(masks)
    moved = np.zeros(len(masks), dtype=np.uint64)
    for place, table in enumerate(tables):
        moved |= table[values[:, place]]
    return moved


def unions(singles: Masks) -> Masks:
    """All subsets of these moves, by their number: one bit a move, the first highest."""
    masks = np.zeros(1, dtype=np.uint64)
    for each in singles[::-1]:
        masks = np.concatenate([masks, masks | each])
    return masks
