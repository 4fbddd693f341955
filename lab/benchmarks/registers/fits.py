"""The fits in `fits.json`, which `fitting.py` makes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Column:
    """A feature, or a fact of the context; `values` where there are few, `texts` where they stand for texts."""

    name: str
    whole: bool
    decimals: int
    values: Values | None
    texts: tuple[str, ...] | None

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Column":
        values, texts = entry.get("values"), entry.get("texts")
        return cls(
            entry["name"],
            entry["whole"],
            entry["decimals"],
            None if values is None else np.array(values),
            None if texts is None else tuple(texts),
        )


@dataclass(frozen=True, slots=True)
class ClassFit:
    """The people of one class: the shares of the values of a column, or what it is at the normal scores."""

    scores: Values
    figures: tuple[Values, ...]
    correlations: Values

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "ClassFit":
        size = len(entry["correlations"])
        triangle = np.array([row + [0.0] * (size - len(row)) for row in entry["correlations"]])
        return cls(
            np.array(entry["scores"]),
            tuple(map(np.array, entry["columns"])),
            triangle + np.tril(triangle, -1).T,
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """A mixture of classes."""

    columns: tuple[Column, ...]
    classes: tuple[ClassFit, ...]
    shares: Values

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Fit":
        shares = np.array([group["share"] for group in entry["classes"]])
        return cls(
            tuple(map(Column.of, entry["columns"])),
            tuple(map(ClassFit.of, entry["classes"])),
            shares / shares.sum(),
        )


_FILE = Path(__file__).with_name("fits.json")
FITS = {name: Fit.of(entry) for name, entry in json.loads(_FILE.read_text(encoding="utf-8")).items()}
