"""The features of a model: what a request may send for them, and what the graph reads in their place."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from app.adapters.codes import loinc, ucum
from app.adapters.files.fields import MissingEntry
from app.adapters.files.numbers import check_number, number_text
from app.adapters.files.toml_files import Entry, Finite
from app.adapters.graphs.said import BoundsEntry
from app.core.ranges import IfMissing

Raw = float | str | bool | None
Category = str | float


def _listed(value: Any) -> Any:
    """One code may stand alone."""
    return [value] if isinstance(value, str) else value


class FeatureEntry(Entry):
    """One feature of a `model.toml`."""

    name: str = Field(min_length=1)
    title: str | None = None
    # What a sentence calls it, where the title is too long for one.
    short: str | None = Field(default=None, min_length=1)
    unit: str | None = None
    bounds: BoundsEntry | None = None
    type: Literal["number", "integer", "category"] = "number"
    categories: list[str | Finite] = []
    codes: list[Finite] = []
    one_hot: bool = False
    default: Finite | str | None = None
    takes_missing: bool = False
    missing_codes: list[Finite | str] = []
    # Of a one-hot group: what its columns hold for a missing value, and whether the first category has none.
    missing: Literal["zeros", "nan"] | None = None
    drop_first: bool = False
    # What an Observation of it is coded as, in which unit the model wants it, and grams a mole.
    loinc: Annotated[list[str], BeforeValidator(_listed)] = []
    ucum: str | None = None
    molar_mass: Finite | None = Field(default=None, gt=0)
    # How it is computed from other features, which are sent in its place.
    derived: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _fits_its_type(self) -> "FeatureEntry":
        flaw = self._category_flaw() if self.type == "category" else self._number_flaw()
        if flaw := flaw or self._code_flaw() or self._derived_flaw():
            raise ValueError(flaw)
        return self

    def _code_flaw(self) -> str | None:
        for code in self.loinc:
            if flaw := loinc.flaw_of(code):
                return f"loinc {code!r} {flaw}"
        if self.ucum is not None and not ucum.is_known(self.ucum):
            return f"ucum {self.ucum!r} is not a unit that Flipset can convert"
        if self.loinc and self.ucum is None and self.type != "category":
            return 'loinc needs the unit of the numbers too: write ucum = "..."'
        return None

    def _derived_flaw(self) -> str | None:
        if self.derived and (self.type == "category" or self.missing_codes or self.loinc or self.bounds):
            return "a derived feature is a number that is not sent: it has no missing_codes, no loinc and no bounds"
        return None

    def _category_flaw(self) -> str | None:
        if self.bounds is not None:
            return "a category has no bounds"
        if not self.categories or len(set(self.categories)) < len(self.categories):
            return "categories must name at least one category, each once"
        if self.codes and (len(self.codes) != len(self.categories) or self.one_hot):
            return "codes must give one number for each category, and cannot be combined with one_hot"
        if (self.missing or self.drop_first) and not self.one_hot:
            return "missing and drop_first belong to one_hot = true"
        if self.drop_first and len(self.categories) < 2:
            return "drop_first leaves no column: list the dropped category too, as the first"
        if self.default is not None and self.default not in self.categories:
            return "default is not one of the categories"
        return self._missing_flaw()

    def _number_flaw(self) -> str | None:
        if self.categories or self.codes or self.one_hot or self.missing or self.drop_first:
            return "categories, codes, one_hot, missing and drop_first belong to a category"
        if isinstance(self.default, str):
            return "default must be a number"
        if self.type == "integer" and self.default is not None and not float(self.default).is_integer():
            return "default must be a whole number"
        return self._missing_flaw()

    def _missing_flaw(self) -> str | None:
        if self.default is not None and self.default in self.missing_codes:
            return "default is itself one of the missing_codes"
        if self.default is not None and self.missing:
            return "default and missing both replace a missing value: give only one of them"
        if self.missing_codes and self.default is None and not self.takes_missing and not self.missing:
            return "missing_codes need a default, or takes_missing = true"
        return None


SEND_NULL = "send null, not NaN,"
NEVER_MISSING = "the model does not accept a missing value"


class Unreadable(Exception):
    """What was sent for a feature is not one of its values; the text says how to fix it."""


@dataclass(frozen=True, slots=True)
class ModelFeature:
    """A feature of a model. In the core, the value of a category is its index among the categories."""

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
    short: str | None = None
    bounds: BoundsEntry | None = None
    missing: Literal["zeros", "nan"] | None = None
    drop_first: bool = False
    loinc: tuple[str, ...] = ()
    ucum: str | None = None
    molar_mass: float | None = None
    derived: str | None = None

    @classmethod
    def of(cls, entry: FeatureEntry) -> "ModelFeature":
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry}
        return cls(**values)

    @property
    def spoken(self) -> str:
        """What a sentence calls it."""
        return self.short or self.title or self.name

    @property
    def is_plain(self) -> bool:
        """Whether every number is a value of it and means itself."""
        return self.type == "number" and not self.missing_codes and not self._refuses and self.derived is None

    @property
    def _refuses(self) -> bool:
        """Whether numbers outside of its bounds are no values of it."""
        return self.bounds is not None and self.bounds.outside == "refuse"

    @property
    def whole(self) -> bool:
        return self.type == "integer"

    @property
    def width(self) -> int:
        """How many columns of the graph's input it takes."""
        return len(self.categories) - self.drop_first if self.one_hot else 1

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that the graph reads in its column; none where it reads numbers."""
        textual = self.type == "category" and not self.codes and not self.one_hot
        return tuple(str(category) for category in self.categories) if textual and self._has_text else ()

    @property
    def _has_text(self) -> bool:
        return any(isinstance(category, str) for category in self.categories)

    def read(self, raw: Raw) -> float:
        """The value that was sent, as the core uses it, NaN if it is missing; `Unreadable` if it is no value."""
        if raw is None or (not isinstance(raw, bool) and raw in self.missing_codes):
            if not self.may_be_missing:
                raise Unreadable(f"must not be missing: {NEVER_MISSING}")
            return nan
        if isinstance(raw, float) and isnan(raw):
            instead = f"; {SEND_NULL} for a value that is not known" if self.may_be_missing else f": {NEVER_MISSING}"
            raise Unreadable(f"must be a finite number{instead}")
        return self._place(raw) if self.type == "category" else self._number(raw)

    def _number(self, raw: Raw) -> float:
        try:
            number = check_number(raw)
        except ValueError as error:
            raise Unreadable(str(error)) from None
        if self.whole and not float(number).is_integer():
            raise Unreadable("must be a whole number")
        if self._refuses and (flaw := self.beyond(number)):
            raise Unreadable(flaw)
        return number

    def beyond(self, number: float) -> str | None:
        """Why a number is no plausible value, whatever is done with such; None for a plausible one."""
        low, high = (None, None) if self.bounds is None else (self.bounds.low, self.bounds.high)
        if (low is None or number >= low) and (high is None or number <= high):
            return None
        if low is None or high is None:
            plausible = f"at most {number_text(high)}" if high is not None else f"at least {number_text(low or 0)}"
        else:
            plausible = f"{number_text(low)} to {number_text(high)}"
        unit = "" if self.unit in (None, "1") else f" {self.unit}"
        return f"is not plausible: {plausible}{unit} is. Check the value and its unit"

    def _place(self, raw: Raw) -> float:
        # True == 1 in Python, but not in a list of categories.
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

    def if_missing(self, entry: MissingEntry) -> IfMissing:
        """What a missing value would become, as the core uses it; `Unreadable` if it is no value of the feature."""
        return IfMissing(None if entry.value is None else self.read_known(entry.value))

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
        """What the columns might hold for a made-up person."""
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
        return self.takes_missing or self.default is not None or self.missing is not None

    @property
    def sees_missing(self) -> bool:
        """Whether the graph gets NaN for a missing value."""
        return self.may_be_missing and self.default is None and self.missing != "zeros"

    def cells(self, value: float) -> tuple[float, ...]:
        """What the columns of the graph's input hold for a value."""
        if isnan(value):
            if self.default is None:
                return (nan if self.sees_missing else 0.0,) * self.width
            value = self.read(self.default)
        if self.one_hot:
            return tuple(float(place == value) for place in range(self.drop_first, len(self.categories)))
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
