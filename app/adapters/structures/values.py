"""What a tensor of a graph is, as far as it is understood: columns before any sum, sums, or what is made of sums.

A tensor has a row for each person; `shape` is that of one row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.through.view import Numbers

Shape = tuple[int, ...]
Places = NDArray[np.intp]

# The unit of rounding of each type: no rounding loses a larger share.
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}


@dataclass(frozen=True, slots=True)
class Columns:
    """A tensor that the runtime computes exactly, whatever else is asked together with a row.

    `needs` has, for each element, the features that it depends on: a bit for each.
    """

    name: str
    needs: NDArray[np.object_]
    dtype: str

    @property
    def shape(self) -> Shape:
        return self.needs.shape


class Term(NamedTuple):
    """What an addend contributes: a row for each of its own columns, a column for each element of the sum.

    `sizes` is the same with every constant replaced by its absolute value.
    """

    weights: Numbers
    sizes: Numbers


@dataclass(frozen=True, slots=True)
class Sum:
    """A tensor whose elements are weighted sums of addends, by name, plus a bias.

    The runtime rounds on the way: relative to the sum of absolute values it loses at most `rounding`, and `slop`
    besides, for each element.
    """

    shape: Shape
    terms: Mapping[str, Term]
    bias: Numbers
    bias_size: Numbers
    slop: Numbers
    rounding: float
    dtype: str

    def picked(self, places: Places, shape: Shape) -> "Sum":
        """Some of its elements, in any order."""
        terms = {name: Term(term.weights[:, places], term.sizes[:, places]) for name, term in self.terms.items()}
        return replace(
            self,
            shape=shape,
            terms=terms,
            bias=self.bias[places],
            bias_size=self.bias_size[places],
            slop=self.slop[places],
        )

    def scaled(self, factor: Numbers) -> "Sum":
        size = np.abs(factor)
        return replace(
            self,
            terms={name: Term(term.weights * factor, term.sizes * size) for name, term in self.terms.items()},
            bias=self.bias * factor,
            bias_size=self.bias_size * size,
            slop=self.slop * size,
            rounding=self.rounding + 2 * UNIT[self.dtype],
        )

    def shifted(self, offset: Numbers) -> "Sum":
        return replace(
            self,
            bias=self.bias + offset,
            bias_size=self.bias_size + np.abs(offset),
            rounding=self.rounding + 2 * UNIT[self.dtype],
        )

    def plus(self, other: "Sum") -> "Sum":
        """The two together, element by element."""
        return replace(
            self,
            terms={name: _added(self.terms.get(name), other.terms.get(name)) for name in {**self.terms, **other.terms}},
            bias=self.bias + other.bias,
            bias_size=self.bias_size + other.bias_size,
            slop=self.slop + other.slop,
            rounding=max(self.rounding, other.rounding) + 2 * UNIT[self.dtype],
        )

    def mixed(self, matrix: Numbers, shape: Shape) -> "Sum":
        """Weighted sums of its elements: a column of the matrix for each."""
        size = np.abs(matrix)
        return replace(
            self,
            shape=shape,
            terms={name: Term(term.weights @ matrix, term.sizes @ size) for name, term in self.terms.items()},
            bias=self.bias @ matrix,
            bias_size=self.bias_size @ size,
            slop=self.slop @ size,
            rounding=self.rounding + (len(matrix) + 2) * UNIT[self.dtype],
        )

    def cast(self, dtype: str) -> "Sum":
        return replace(self, dtype=dtype, rounding=self.rounding + 2 * UNIT[dtype])


def _added(one: Term | None, other: Term | None) -> Term:
    if one is None or other is None:
        found = one or other
        assert found is not None
        return found
    return Term(one.weights + other.weights, one.sizes + other.sizes)


def joined(sums: list[Sum]) -> Sum:
    """The elements of several sums, side by side."""
    names = {name for each in sums for name in each.terms}
    terms = {name: _side_by_side(name, sums) for name in sorted(names)}
    count = sum(prod(each.shape) for each in sums)
    return Sum(
        (count,),
        terms,
        np.concatenate([each.bias for each in sums]),
        np.concatenate([each.bias_size for each in sums]),
        np.concatenate([each.slop for each in sums]),
        max(each.rounding for each in sums),
        sums[0].dtype,
    )


def _side_by_side(name: str, sums: list[Sum]) -> Term:
    rows = next(len(each.terms[name].weights) for each in sums if name in each.terms)
    none = [Term(np.zeros((rows, len(each.bias))), np.zeros((rows, len(each.bias)))) for each in sums]
    parts = [each.terms.get(name, nothing) for each, nothing in zip(sums, none, strict=True)]
    return Term(np.hstack([part.weights for part in parts]), np.hstack([part.sizes for part in parts]))


def sum_of(name: str, weights: Numbers, bias: Numbers, rounding: float, dtype: str) -> Sum:
    """The sum of one addend's columns with these weights."""
    return Sum(
        (weights.shape[1],),
        {name: Term(weights, np.abs(weights))},
        bias,
        np.abs(bias),
        np.zeros_like(bias),
        rounding,
        dtype,
    )


@dataclass(frozen=True, slots=True)
class Linked:
    """What steps make of sums: the number of the step that gives it."""

    shape: Shape
    step: int
    dtype: str


Value = Columns | Sum | Linked
