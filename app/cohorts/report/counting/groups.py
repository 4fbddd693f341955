"""Groups of people by a column: one for each value, or numbers cut into a few at round places."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MOST_GROUPS = 20
MOST_CUT_GROUPS = 5

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Grouping:
    """A column, and the groups that it makes; the last label, None, is of those for whom the column has no value."""

    column: str
    labels: tuple[str | None, ...]
    # How numbers were cut into groups; empty where each value is a group.
    cutting: str = ""

    def codes(self, values: pa.Array) -> Codes:
        """For each value the position of its group."""
        raise NotImplementedError


@dataclass(frozen=True)
class Values(Grouping):
    """Each value is a group."""

    def codes(self, values: pa.Array) -> Codes:
        known = pa.array(self.labels[:-1], pa.string())
        found = pc.index_in(as_text(values), value_set=known)
        return np.asarray(found.fill_null(len(known)), dtype=np.int64)


@dataclass(frozen=True)
class Cuts(Grouping):
    """Numbers, cut into groups; one that lies on a cut belongs to the group above."""

    edges: tuple[float, ...] = ()

    def codes(self, values: pa.Array) -> Codes:
        numbers = as_numbers(values)
        found = np.searchsorted(np.asarray(self.edges), numbers, side="right")
        return np.where(np.isnan(numbers), len(self.labels) - 1, found).astype(np.int64)


@dataclass(frozen=True)
class Everyone(Grouping):
    """One group of all people."""

    column: str = ""
    labels: tuple[str | None, ...] = ("everyone", None)

    def codes(self, values: pa.Array) -> Codes:
        return np.zeros(len(values), np.int64)


def value_groups(column: str, values: Sequence[str]) -> Values:
    return Values(column, (*values, None))


def cut_groups(column: str, sample: npt.NDArray[np.float64]) -> Cuts:
    """At most five groups of about as many people, with round numbers between them."""
    edges = round_cuts(sample)
    labels = _labels(edges)
    how = f"{column} is a number: it is cut into {len(labels)} groups, at round numbers near its fifths."
    return Cuts(column, (*labels, None), how, edges)


def round_cuts(sample: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Round numbers near the fifths of a sample, none of them twice, and each with somebody below it."""
    fifths = np.quantile(sample, np.arange(1, MOST_CUT_GROUPS) / MOST_CUT_GROUPS)
    step = _round_step(float(fifths[-1] - fifths[0]) or float(np.ptp(sample)))
    # Counting in steps keeps 0.30000000000000004 away.
    rounded = {float(f"{step * round(float(fifth) / step):.12g}") for fifth in fifths}
    lowest, highest = float(sample.min()), float(sample.max())
    return tuple(sorted(edge for edge in rounded if lowest < edge <= highest))


def as_text(values: pa.Array) -> pa.Array:
    """Values as the names of groups; a number that is none has no name."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    return values.cast(pa.string())


def as_numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    """Values as numbers, NaN where there is none. pyarrow raises an error for text that is not a number."""
    if not is_number(values.type):
        texts = pc.utf8_trim_whitespace(as_text(values))
        values = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    numbers: npt.NDArray[np.float64] = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def are_numbers(values: pa.Array) -> bool:
    """Whether texts are numbers: a CSV file knows no others. What begins with 0 is rather a code, as of a place."""
    try:
        as_numbers(values)
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.match_substring_regex(as_text(values), r"^\s*[+-]?0\d")).as_py()


def is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _round_step(spread: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... that goes into the spread six times or more."""
    rough = spread / 6
    if rough < sys.float_info.min:
        # No spread, or one too small to be divided.
        return 1.0
    power: float = 10.0 ** floor(log10(rough))
    return next((factor * power for factor in (5, 2) if factor * power <= rough), power)


def _labels(edges: Sequence[float]) -> list[str]:
    if not edges:
        return ["any value"]
    names = [f"{edge:,.12g}" for edge in edges]
    between = [f"{low} to under {high}" for low, high in pairwise(names)]
    return [f"under {names[0]}", *between, f"{names[-1]} and over"]
