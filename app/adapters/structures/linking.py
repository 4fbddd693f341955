"""The link under construction: sums that it takes, and the steps that follow."""

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from app.adapters.structures.values import Linked, Places, Shape, Sum
from app.core.through.links import Exp, Link, Shares, Sigmoid, Softmax, Step
from app.core.through.steps import Added, Clipped, Inverse, Joined, Multiplied, Picked, Scaled, Size
from app.core.through.view import Numbers


@dataclass(frozen=True, slots=True)
class Taken:
    """A sum that the link takes. With groups: only the differences between the elements of a group matter."""

    sum: Sum
    groups: Places | None


@dataclass(slots=True)
class Linking:
    """Collects steps. A sum goes by a number below nought, a step by its place."""

    taken: list[Taken] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def link(self, value: Sum | Linked) -> Link:
        """The whole link, which ends at this value; the sums come first."""
        if isinstance(value, Sum):
            self.taken = [Taken(value, None)]
            return Link(())
        count = len(self.taken)
        numbered = [_renumbered(step, count) for step in self.steps]
        return Link(tuple(numbered[: value.step + 1]))

    def number(self, value: Sum | Linked) -> int:
        if isinstance(value, Linked):
            return value.step
        return self._take(Taken(value, None))

    def _take(self, taken: Taken) -> int:
        for place, each in enumerate(self.taken):
            if each.sum is taken.sum and (each.groups is None) == (taken.groups is None):
                return -1 - place
        self.taken.append(taken)
        return -len(self.taken)

    def _step(self, step: Any, shape: Shape, dtype: str) -> Linked:
        self.steps.append(step)
        return Linked(shape, len(self.steps) - 1, dtype)

    def sigmoid(self, value: Sum | Linked) -> Linked:
        return self._step(Sigmoid((self.number(value),), value.dtype), value.shape, value.dtype)

    def exp(self, value: Sum | Linked) -> Linked:
        return self._step(Exp((self.number(value),), value.dtype), value.shape, value.dtype)

    def clipped(self, value: Sum | Linked, least: float, most: float) -> Linked:
        return self._step(Clipped((self.number(value),), least, most), value.shape, value.dtype)

    def softmax(self, value: Sum | Linked, axis: int = -1) -> Linked:
        groups = groups_of(value.shape, axis)
        number = self._take(Taken(value, groups)) if isinstance(value, Sum) else value.step
        return self._step(Softmax((number,), groups, value.dtype), value.shape, value.dtype)

    def shares(self, value: Sum | Linked) -> Linked:
        groups = groups_of(value.shape, -1)
        return self._step(Shares((self.number(value),), groups, value.dtype), value.shape, value.dtype)

    def picked(self, value: Linked, places: Places, shape: Shape) -> Linked:
        return self._step(Picked((value.step,), places), shape, value.dtype)

    def joined(self, values: list[Sum | Linked], places: Places, shape: Shape) -> Linked:
        numbers = tuple(map(self.number, values))
        return self._step(Joined(numbers, places), shape, values[0].dtype)

    def scaled(self, value: Linked, factor: Numbers, offset: Numbers) -> Linked:
        return self._step(Scaled((value.step,), factor, offset, value.dtype), value.shape, value.dtype)

    def added(self, one: Sum | Linked, other: Sum | Linked) -> Linked:
        return self._step(Added((self.number(one), self.number(other)), one.dtype), one.shape, one.dtype)

    def multiplied(self, one: Sum | Linked, other: Sum | Linked) -> Linked:
        return self._step(Multiplied((self.number(one), self.number(other)), one.dtype), one.shape, one.dtype)

    def inverse(self, value: Sum | Linked, numerator: Numbers) -> Linked:
        return self._step(Inverse((self.number(value),), numerator, value.dtype), value.shape, value.dtype)

    def size(self, value: Sum | Linked) -> Linked:
        return self._step(Size((self.number(value),)), value.shape, value.dtype)

    def cast(self, value: Linked, dtype: str) -> Linked:
        count = prod(value.shape)
        narrow = "float32" if "float32" in (dtype, value.dtype) else dtype
        return self._step(Scaled((value.step,), np.ones(count), np.zeros(count), narrow), value.shape, dtype)


def groups_of(shape: Shape, axis: int) -> Places:
    """For each element, all elements that differ from it along this axis of a row only, itself among them."""
    numbers = np.arange(prod(shape)).reshape(shape)
    lines = np.moveaxis(numbers, axis, -1)
    groups = np.empty((numbers.size, lines.shape[-1]), dtype=np.intp)
    for line in lines.reshape(-1, lines.shape[-1]):
        groups[line] = line
    return groups


def _renumbered(step: Any, sums: int) -> Step:
    """The same step with its sources counted from the first sum on."""
    sources = tuple(sums + source if source >= 0 else -1 - source for source in step.sources)
    fields = {name: getattr(step, name) for name in step.__dataclass_fields__}
    renumbered: Step = type(step)(**{**fields, "sources": sources})
    return renumbered
