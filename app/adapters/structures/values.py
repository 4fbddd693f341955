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
# Nothing counts as smaller, but nought: a unit of it is more than float32 loses where its numbers run out.
LEAST = 2.0**-100


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

    `sizes` is the same with every constant replaced by its absolute value. `peaks` has, for each column, the largest
    of these that was met on the way: later factors may have made it small again.
    """

    weights: Numbers
    sizes: Numbers
    peaks: Numbers

    def then(self, weights: Numbers, sizes: Numbers) -> "Term":
        """The same after one more operator."""
        return _term(weights, sizes, self.peaks)


@dataclass(frozen=True, slots=True)
class Sum:
    """A tensor whose elements are weighted sums of addends, by name, plus a bias.

    The runtime rounds on the way: relative to the sum of absolute values it loses at most `rounding`. `bias_peak` is
    the largest absolute bias on the way.
    """

    shape: Shape
    terms: Mapping[str, Term]
    bias: Numbers
    bias_size: Numbers
    bias_peak: float
    rounding: float
    dtype: str

    def picked(self, places: Places, shape: Shape) -> "Sum":
        """Some of its elements, in any order."""
        terms = {name: term.then(term.weights[:, places], term.sizes[:, places]) for name, term in self.terms.items()}
        return replace(self, shape=shape, terms=terms, bias=self.bias[places], bias_size=self.bias_size[places])

    def scaled(self, factor: Numbers) -> "Sum":
        size = _sizes(factor)
        terms = {name: term.then(term.weights * factor, term.sizes * size) for name, term in self.terms.items()}
        return self._then(terms, self.bias * factor, self.bias_size * size, 2)

    def shifted(self, offset: Numbers) -> "Sum":
        return self._then(self.terms, self.bias + offset, self.bias_size + np.abs(offset), 2)

    def plus(self, other: "Sum") -> "Sum":
        """The two together, element by element."""
        terms = {name: _added(self.terms.get(name), other.terms.get(name)) for name in {**self.terms, **other.terms}}
        worse = self if self.rounding >= other.rounding else other
        peaked = replace(worse, dtype=self.dtype, bias_peak=max(self.bias_peak, other.bias_peak))
        return peaked._then(terms, self.bias + other.bias, self.bias_size + other.bias_size, 2)

    def mixed(self, matrix: Numbers, shape: Shape) -> "Sum":
        """Weighted sums of its elements: a column of the matrix for each."""
        size = _sizes(matrix)
        terms = {name: term.then(term.weights @ matrix, term.sizes @ size) for name, term in self.terms.items()}
        mixed = self._then(terms, self.bias @ matrix, self.bias_size @ size, len(matrix) + 2)
        return replace(mixed, shape=shape)

    def cast(self, dtype: str) -> "Sum":
        return replace(self, dtype=dtype, rounding=self.rounding + 2 * UNIT[dtype])

    def _then(self, terms: Mapping[str, Term], bias: Numbers, bias_size: Numbers, roundings: int) -> "Sum":
        """The same after one more operator, which rounds so many times."""
        return replace(
            self,
            terms=terms,
            bias=bias,
            bias_size=np.maximum(bias_size, LEAST),
            bias_peak=max(self.bias_peak, float(bias_size.max(initial=0.0))),
            rounding=self.rounding + roundings * UNIT[self.dtype],
        )


def _sizes(numbers: Numbers) -> Numbers:
    """The absolute values, none of them too small but nought."""
    sizes: Numbers = np.where(numbers == 0, 0.0, np.maximum(np.abs(numbers), LEAST))
    return sizes


def _term(weights: Numbers, sizes: Numbers, peaks: Numbers) -> Term:
    return Term(weights, _sizes(sizes), np.maximum(peaks, sizes.max(axis=1, initial=0.0)))


def _added(one: Term | None, other: Term | None) -> Term:
    if one is None or other is None:
        found = one or other
        assert found is not None
        return found
    return _term(one.weights + other.weights, one.sizes + other.sizes, np.maximum(one.peaks, other.peaks))


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
        max(each.bias_peak for each in sums),
        max(each.rounding for each in sums),
        sums[0].dtype,
    )


def _side_by_side(name: str, sums: list[Sum]) -> Term:
    rows = next(len(each.terms[name].weights) for each in sums if name in each.terms)
    none = [np.zeros((rows, len(each.bias))) for each in sums]
    parts = [each.terms.get(name, _term(zeros, zeros, zeros[:, 0])) for each, zeros in zip(sums, none, strict=True)]
    peaks = np.maximum.reduce([part.peaks for part in parts])
    return _term(np.hstack([part.weights for part in parts]), np.hstack([part.sizes for part in parts]), peaks)


def sum_of(name: str, weights: Numbers, bias: Numbers, rounding: float, dtype: str) -> Sum:
    """The sum of one addend's columns with these weights."""
    return Sum(
        (weights.shape[1],),
        {name: _term(weights, _sizes(weights), np.zeros(len(weights)))},
        bias,
        np.maximum(np.abs(bias), LEAST),
        float(np.abs(bias).max(initial=0.0)),
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
