"""Features drafted from columns: type, categories and codes, whole numbers, missing values, plausible bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

from app.adapters.files.names import counted
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.feeds import SCORES, TEXT
from app.adapters.graphs.said import BoundsEntry
from app.core.favourable import Floats
from app.onboarding.drafting.matching import Matched
from app.onboarding.failures import Unfit
from app.onboarding.reading.columns import Column

# A category of more values is hardly one.
MOST_CATEGORIES = 200


@dataclass(frozen=True, slots=True)
class Drafted:
    """A feature, the column that it was drafted from, and what a person should look at."""

    feature: ModelFeature
    column: Column
    notes: tuple[str, ...]

    def values(self) -> Floats:
        """The people's values as the core knows them: numbers, or places among the categories."""
        if self.feature.type != "category":
            return self.column.numbers
        places = np.array([self.feature.categories.index(word) for word in self.column.words] or [0], dtype=np.float64)
        return np.where(self.column.places >= 0, places[self.column.places], np.nan)


def draft(matched: Matched) -> Drafted:
    """What the column says of the feature; `Unfit` if no feature could have such values."""
    column = matched.column
    if column.number_count == column.word_count == 0:
        raise Unfit(f"{column.name}: holds no values; take it out, or name the features with --features")
    if column.number_count and column.word_count:
        raise Unfit(f"{column.name}: {column.not_numbers}; clean the column")
    return _category(matched) if column.is_text else _number(matched)


def _number(matched: Matched) -> Drafted:
    column = matched.column
    if matched.type == TEXT:
        raise Unfit(f"{column.name}: holds numbers, but the graph reads text there")
    whole = column.is_whole or matched.type not in SCORES
    if whole and not column.is_whole:
        raise Unfit(f"{column.name}: holds fractions, but the graph reads whole numbers ({matched.type}) there")
    largest = float(np.finfo(np.float32 if matched.type == SCORES[0] else np.float64).max) / 4
    if max(abs(column.least), abs(column.most)) > largest:
        raise Unfit(f"{column.name}: holds values too large for the graph, which reads {matched.type}")
    bounds = plausible_bounds(column)
    feature = ModelFeature(column.name, None, None, "integer" if whole else "number", bounds=bounds)
    notes = ["guessed: whole numbers only, as in the table"] if whole else []
    if column.least == column.most:
        notes.append("everybody in the table has the same value")
    return Drafted(feature, column, tuple(notes))


def _category(matched: Matched) -> Drafted:
    column = matched.column
    if column.is_spoilt and matched.type != TEXT and not matched.one_hot:
        raise Unfit(f"{column.name}: {column.not_numbers}")
    if len(column.words) > MOST_CATEGORIES:
        raise Unfit(f"{column.name}: has more than {MOST_CATEGORIES} different texts; it is no category")
    categories = tuple(sorted(column.words))
    if matched.one_hot:
        told = "one column for each category, sorted, as get_dummies and OneHotEncoder have them"
        feature = ModelFeature(
            column.name, None, None, "category", categories, one_hot=True, drop_first=matched.drop_first
        )
        return Drafted(feature, column, (f"guessed: {told}",))
    if matched.type == TEXT:
        return Drafted(ModelFeature(column.name, None, None, "category", categories), column, ())
    codes = tuple(float(place) for place in range(len(categories)))
    feature = ModelFeature(column.name, None, None, "category", categories, codes)
    return Drafted(feature, column, ("guessed: the codes are 0, 1, ... in the order of the letters",))


def with_missing(drafted: Drafted, takes_missing: bool) -> Drafted:
    """The same, for a column in which some values are missing."""
    column, feature = drafted.column, drafted.feature
    rows = f"{counted(column.missing_count, 'row')} without a value"
    if feature.one_hot:
        note = f"{rows}; guessed: noughts stand for it, as get_dummies writes it"
        codes = tuple(column.missing_words)
        return replace(
            drafted, feature=replace(feature, missing="zeros", missing_codes=codes), notes=(*drafted.notes, note)
        )
    if takes_missing:
        marked = replace(feature, takes_missing=True, missing_codes=tuple(column.missing_words))
        return replace(drafted, feature=marked, notes=(*drafted.notes, f"{rows}; the graph scores NaN"))
    instead = "" if column.is_text else f": default = {np.nanmedian(column.numbers):g} would put the median there"
    note = f"{rows}; the graph gives no score for a missing value{instead}"
    return replace(drafted, notes=(*drafted.notes, note))


def plausible_bounds(column: Column) -> BoundsEntry | None:
    """As far again beyond the smallest and the largest value as they are apart, and not below 0 if nobody is."""
    width = column.most - column.least
    if width == 0:
        return None
    low, high = column.least - width, column.most + width
    step = 10.0 ** floor(log10(max(abs(low), abs(high), width)) - 1)
    low, high = floor(low / step) * step, ceil(high / step) * step
    return BoundsEntry(low=_neat(max(low, 0.0) if column.least >= 0 else low), high=_neat(high))


def _neat(number: float) -> float:
    return float(f"{number:.6g}")


def graph_rows(features: Sequence[ModelFeature], values: Floats) -> NDArray[np.float64]:
    """The columns of the graph's input for many people; a category by its cells."""
    parts = []
    for feature, column in zip(features, values.T, strict=True):
        known = ~np.isnan(column)
        part = np.full((len(column), feature.width), 0.0)
        if feature.type == "category":
            table = np.array([feature.cells(float(place)) for place in range(len(feature.categories))])
            part[known] = table[column[known].astype(np.intp)]
        else:
            part[known, 0] = column[known]
        part[~known] = feature.cells(np.nan)
        parts.append(part)
    return np.hstack(parts)
