"""Drawing people: block by block, each with a seed of its own, so that nobody depends on how many are drawn."""

from collections.abc import Iterator
from itertools import count
from statistics import NormalDist

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lab.benchmarks.registers.fits import FITS, ClassFit, Column, Fit

# People are drawn so many at a time, however many are wanted.
BLOCK = 4_096
# How far a column goes on beyond its outermost figures, in normal scores.
BEYOND = 0.5
SYNTHETIC = ("A", "B", "C", "D")
MODELS = (*FITS, "synthetic")
REGIONS = ("north", "south", "east", "west")

Values = NDArray[np.float64]
Columns = dict[str, pa.Array]


def blocks(model: str, seed: int) -> Iterator[pa.RecordBatch]:
    """People without end, the same ones every time."""
    for block in count():
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, block))))
        first = block * BLOCK + 1
        people: Columns = {"person": pa.array([f"{model}-{number:07}" for number in range(first, first + BLOCK)])}
        if model == "synthetic":
            people |= _standard_normal(rng)
        else:
            people |= _drawn(FITS[model], rng)
        if model == "mortgage":
            # Made up, and independent of all else: whoever compares regions should find nothing.
            people["region"] = pa.array(rng.choice(REGIONS, BLOCK).tolist())
        yield pa.RecordBatch.from_pydict(people)


def _standard_normal(rng: np.random.Generator) -> Columns:
    values = rng.standard_normal((BLOCK, len(SYNTHETIC))).round(6)
    return {name: pa.array(column) for name, column in zip(SYNTHETIC, values.T, strict=True)}


def _drawn(fit: Fit, rng: np.random.Generator) -> Columns:
    """Of each person first the class, then normal scores that hang together as they do there, then the values."""
    classes = rng.choice(len(fit.classes), BLOCK, p=fit.shares)
    noise = rng.standard_normal((BLOCK, len(fit.columns)))
    values = np.empty_like(noise)
    for place, group in enumerate(fit.classes):
        members = classes == place
        scores = noise[members] @ np.linalg.cholesky(group.correlations).T
        for index, column in enumerate(fit.columns):
            values[members, index] = _values(scores[:, index], column, group, index)
    return {column.name: _array(values[:, index], column) for index, column in enumerate(fit.columns)}


def _values(scores: Values, column: Column, group: ClassFit, index: int) -> Values:
    """What a column is at these normal scores."""
    figures = group.figures[index]
    if column.values is not None:
        borders = [NormalDist().inv_cdf(share) for share in np.cumsum(figures)[:-1].clip(1e-9, 1 - 1e-9)]
        return column.values[np.searchsorted(borders, scores)]
    values = np.interp(scores, *_extended(group.scores, figures)).round(column.decimals)
    # What is above nought is not rounded down to it.
    return values.clip(min=10.0**-column.decimals) if figures[0] > 0 else values


def _extended(scores: Values, figures: Values) -> tuple[Values, Values]:
    """One more figure at each end, on the line through the last two; none that is not positive where all others are."""
    low, high = np.diff(figures)[[0, -1]] / np.diff(scores)[[0, -1]] * BEYOND
    lowest = max(figures[0] - low, figures[0] / 2)
    return (
        np.array([scores[0] - BEYOND, *scores, scores[-1] + BEYOND]),
        np.array([lowest, *figures, figures[-1] + high]),
    )


def _array(values: Values, column: Column) -> pa.Array:
    if column.texts is not None:
        return pa.array([column.texts[int(value)] for value in values])
    return pa.array(values.astype(np.int64) if column.whole else values)
