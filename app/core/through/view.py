"""The model as one person sees it: each movable feature has two values, so it is a function of which moves are made."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class Kind(StrEnum):
    """What was read in a model's graph."""

    LINEAR = "linear"
    TREES = "trees"
    NETWORK = "network"
    OPAQUE = "opaque"


class Table(NamedTuple):
    """One addend: the moves that it depends on, rising, and a row of values for each subset of them.

    A subset of these moves goes by its number: one bit a move, the first move highest.
    """

    moves: tuple[int, ...]
    values: Numbers


class Ways(NamedTuple):
    """Every way to a leaf of a tree: the moves that a set must make to take it, and those that it must leave out.

    A row for each way, a column for each move.
    """

    made: NDArray[np.bool_]
    left: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sums:
    """For each subset of the moves a row of numbers, the forms: `constant`, and what each table adds to it.

    Where nothing but leaves of trees is added up, `ways` tells which: sets with the same ways have the same outputs.
    """

    constant: Numbers
    tables: tuple[Table, ...]
    ways: Callable[[], Ways] | None = None


class View(Protocol):
    """A model whose outputs follow from sums of tables: trees, and linear models."""

    @property
    def kind(self) -> Kind: ...

    @property
    def sums(self) -> Sums: ...

    @property
    def rising(self) -> tuple[bool, ...] | None:
        """With one form: whether each output rises with it (or else falls). None if that is not known."""
        ...

    def outputs(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Bounds on the model's own outputs, given bounds on the forms, both as one row for each subset or set of them.

        The bounds hold for what the runtime computes, in its own type and order. They account for rounding, that of
        adding the tables in float64 included. Equal bounds on the forms give the narrowest bounds on the outputs.
        """
        ...


class Unseen(Exception):
    """The model is not seen through for this person; the text says why, and holds no value of theirs."""
