"""The features of a model: what a request may send for them, and what the graph reads in their place."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from app.adapters.numbers import check_number, number_text
from app.adapters.toml_files import Entry, Finite

Raw = float | str | bool | None
Category = str | float


class FeatureEntry(Entry):
    """One feature of a `model.toml`."""

    name: str = Field(min_length=1)
    title: str | None = None
    unit: str | None = None
    type: Literal["number", "integer", "category"] = "number"
    categories: list[str | Finite] = []
    codes: list[Finite] = []
    one_hot: bool = False
    default: Finite | str | None = None
    takes_missing: bool = False
    missing_codes: list[Finite | str] = []

    @model_validator(mode="after")
    def _fits_its_type(self) -> "FeatureEntry":
        flaw = self._category_flaw() if self.type == "category" else self._number_flaw()
        if flaw:
            raise ValueError(flaw)
        return self

    def _category_flaw(self) -> str | None:
        if not self.categories or len(set(self.categories)) < len(self.categories):
            return "categories must name at least one category, each once"
        if self.codes and (len(self.codes) != len(self.categories) or self.one_hot):
            return "codes must give one number for each category, and do not go with one_hot"
        if self.default is not None and self.default not in self.categories:
            return "default is not one of the categories"
        return self._missing_flaw()

    def _number_flaw(self) -> str | None:
        if self.categories or self.codes or self.one_hot:
            return "categories, codes and one_hot belong to a category"
        if isinstance(self.default, str):
            return "default must be a number"
        if self.type == "integer" and self.default is not None and not float(self.default).is_integer():
            return "default must be a whole number"
        return self._missing_flaw()

    def _missing_flaw(self) -> str | None:
        if self.default is not None and self.default in self.missing_codes:
            return "default is itself one of the missing_codes"
        if self.missing_codes and self.default is None and not self.takes_missing:
            return "missing_codes need a default, or takes_missing = true"
        return None


class Unreadable(Exception):
    """What was sent for a feature is nothing that the feature can be; says how to mend it."""


@dataclass(frozen=True, slots=True)
class ModelFeature:
    """A feature as its model names it. Inside, a category is the place of its value among the categories."""

    name: str
    title: str | None
    unit: str | None
    type: Literal["number", "integer", "category"]
    categories: tuple[Category, ...] = ()
    codes: tuple[float, ...] = ()
    one_hot: bool = False
    default: Category | None = None
    takes_missing: bool = False
    missing_codes: tuple[Category, ...] = ()

    @classmethod
    def of(cls, entry: FeatureEntry) -> "ModelFeature":
        return cls(
            entry.name,
            entry.title,
            entry.unit,
            entry.type,
            tuple(entry.categories),
            tuple(entry.codes),
            entry.one_hot,
            entry.default,
            entry.takes_missing,
            tuple(entry.missing_codes),
        )

    @property
    def is_plain(self) -> bool:
        """Whether any number is a value of it, and is read as it is."""
        return self.type == "number" and not self.missing_codes

    @property
    def whole(self) -> bool:
        return self.type == "integer"

    @property
    def width(self) -> int:
        """How many columns of the graph's input it takes."""
        return len(self.categories) if self.one_hot else 1

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that the graph reads in its column; none where it reads numbers."""
        textual = self.type == "category" and not self.codes and not self.one_hot
        return tuple(str(category) for category in self.categories) if textual and self._has_text else ()

    @property
    def _has_text(self) -> bool:
        return any(isinstance(category, str) for category in self.categories)

    def read(self, raw: Raw) -> float:
        """The value that was sent, as the core knows it; not a number where it is missing."""
        if raw is None or (not isinstance(raw, bool) and raw in self.missing_codes):
            if not self.may_be_missing:
                raise Unreadable("must not be missing: the model gives it no default")
            return nan
        return self._place(raw) if self.type == "category" else self._number(raw)

    def _number(self, raw: Raw) -> float:
        try:
            number = check_number(raw)
        except ValueError as error:
            raise Unreadable(str(error)) from None
        if self.whole and not float(number).is_integer():
            raise Unreadable("must be a whole number")
        return number

    def _place(self, raw: Raw) -> float:
        # True == 1 in Python, but not to whoever lists the categories.
        if isinstance(raw, bool) or raw not in self.categories:
            offered = ", ".join(json.dumps(category, ensure_ascii=False) for category in self.categories[:MOST_LISTED])
            raise Unreadable(f"must be one of: {offered}")
        return float(self.categories.index(raw))

    def read_known(self, raw: Raw) -> float:
        """The same for what must not be missing: a value to move to."""
        value = self.read(raw)
        if isnan(value):
            raise Unreadable("must not be missing")
        return value

    def means_missing(self, value: float) -> bool:
        """Whether a value, printed and sent again, would be taken for a missing one."""
        shown = self.categories[int(value)] if self.type == "category" else value
        return shown in self.missing_codes

    def written_numbers(self) -> list[float]:
        """The numbers that the description itself gives to the graph."""
        if self.one_hot or self.texts:
            return []
        if self.type == "category":
            return [cell for place in range(len(self.categories)) for cell in self.cells(float(place))]
        return [] if self.default is None else list(self.cells(nan))

    def some_cells(self, rng: np.random.Generator) -> tuple[float, ...]:
        """What the columns might hold for somebody."""
        if self.type == "category":
            return self.cells(float(rng.integers(0, len(self.categories))))
        number = rng.normal() * 10 ** rng.uniform(-1, 2)
        return self.cells(float(round(number)) if self.whole else float(number))

    def text(self, value: float) -> str:
        """A value as JSON."""
        if isnan(value):
            return "null"
        return as_sent(self.categories[int(value)]) if self.type == "category" else number_text(value)

    @property
    def may_be_missing(self) -> bool:
        return self.takes_missing or self.default is not None

    @property
    def sees_missing(self) -> bool:
        """Whether the graph is shown that a value is missing, for want of a default."""
        return self.takes_missing and self.default is None

    def cells(self, value: float) -> tuple[float, ...]:
        """What the columns of the graph's input hold for a value."""
        if isnan(value):
            if self.default is None:
                return (nan,) * self.width
            value = self.read(self.default)
        if self.one_hot:
            return tuple(float(place == value) for place in range(self.width))
        if self.codes:
            return (self.codes[int(value)],)
        if self.type == "category" and not self._has_text:
            return (float(self.categories[int(value)]),)
        return (value,)


MOST_LISTED = 30


def placed(features: Sequence[ModelFeature]) -> tuple[tuple[int, ...], ...]:
    """The columns of each feature, one feature after the other."""
    columns, taken = [], 0
    for feature in features:
        columns.append(tuple(range(taken, taken + feature.width)))
        taken += feature.width
    return tuple(columns)


def as_sent(raw: Any) -> str:
    """A value as JSON, with the digits that it was sent with."""
    if raw is None:
        return "null"
    return json.dumps(raw, ensure_ascii=False) if isinstance(raw, str) else number_text(raw)
