"""The values of many people as the core uses them, and which rows are plain; others are read again, one by one."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.adapters.files.numbers import NumberType
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import Model
from app.adapters.graphs.scorer import ModelScorer
from app.asking.posing.terms import Terms
from app.cohorts.reading.cells import Cells, Rows
from app.cohorts.reading.columns import Columns
from app.core.crowd.posed import Values
from app.core.favourable import Bools
from app.core.ranges import Equals


def words_of(terms: Terms, columns: Columns) -> dict[str, frozenset[str]]:
    """The texts with a meaning in each column: categories, missing codes, and texts that ranges name."""
    found: dict[str, set[str]] = {}
    for feature in terms.model.features:
        if feature.name not in columns.features:
            continue
        known = (*feature.categories, *feature.missing_codes)
        found.setdefault(columns.features[feature.name], set()).update(word for word in known if isinstance(word, str))
    for choices in terms.prepared.ranges:
        for key, condition in (pair for entry in choices for pair in entry.when.items()):
            if isinstance(condition, Equals) and isinstance(condition.value, str):
                for column in (columns.context.get(key), columns.features.get(key)):
                    found.setdefault(column or "", set()).add(condition.value)
    return {column: frozenset(words) for column, words in found.items() if words}


def read_values(rows: Rows, model: Model, columns: Columns) -> tuple[Values, Bools]:
    """The values (a row per person, a column per feature), and which rows the service would accept unchanged."""
    values = np.full((rows.count, len(model.features)), np.nan)
    plain = np.ones(rows.count, dtype=np.bool_)
    plain[list(rows.flaws)] = False
    for place, feature in enumerate(model.features):
        if place in model.derived:
            # The service works it out.
            continue
        cells = rows.cells.get(columns.features[feature.name])
        if cells is None:
            plain[:] = False
            continue
        values[:, place], accepted = _column(cells, feature, model.types[place])
        plain &= accepted
    # An absent key is not the same as null.
    plain[[row for row, names in rows.absent.items() if names & {*columns.features.values()}]] = False
    return values, plain


def _column(cells: Cells, feature: ModelFeature, read_as: NumberType) -> tuple[Values, Bools]:
    values, accepted = _places(cells, feature) if feature.type == "category" else _numbers(cells, feature, read_as)
    missing = cells.nulls()
    if feature.may_be_missing:
        missing = missing | _is_missing(cells, feature)
        return np.where(missing, np.nan, values), accepted | missing
    return values, accepted & ~missing


def _numbers(cells: Cells, feature: ModelFeature, read_as: NumberType) -> tuple[Values, Bools]:
    values, are = cells.numbers()
    with np.errstate(invalid="ignore"):
        accepted = are & (np.abs(values) <= read_as.most)
        if feature.whole or read_as.kind != "f":
            accepted &= values == np.floor(values)
    if read_as.kind == "b":
        accepted &= (values == 0) | (values == 1)
    return values, accepted & _plausible(values, feature)


def _plausible(values: Values, feature: ModelFeature) -> Bools:
    """Which numbers are not refused for lying outside of the feature's bounds."""
    bounds = feature.bounds
    if bounds is None or bounds.outside == "warn":
        return np.ones(len(values), dtype=np.bool_)
    low = -np.inf if bounds.low is None else bounds.low
    high = np.inf if bounds.high is None else bounds.high
    return np.asarray((values >= low) & (values <= high))


def _places(cells: Cells, feature: ModelFeature) -> tuple[Values, Bools]:
    """Which category each value is."""
    texts, are_texts = cells.texts()
    numbers, are_numbers = cells.numbers()
    named = pa.array([each if isinstance(each, str) else None for each in feature.categories], pa.string())
    found = pc.index_in(texts, value_set=named, skip_nulls=True)
    places = np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.float64)
    places[~are_texts] = -1
    for place, category in enumerate(feature.categories):
        if not isinstance(category, str):
            places[are_numbers & (numbers == category)] = place
    return places, places >= 0


def _is_missing(cells: Cells, feature: ModelFeature) -> Bools:
    """Which values are missing codes."""
    texts, _ = cells.texts()
    numbers, are_numbers = cells.numbers()
    codes = feature.missing_codes
    missing = np.zeros(len(numbers), dtype=np.bool_)
    if words := [code for code in codes if isinstance(code, str)]:
        missing |= np.asarray(pc.is_in(texts, value_set=pa.array(words, pa.string())).to_numpy(zero_copy_only=False))
    for code in codes:
        if not isinstance(code, str):
            missing |= are_numbers & (numbers == code)
    return missing


def encoded(values: Values, model: Model) -> NDArray[Any]:
    """The values as rows for the model: `scorer.cells` for many people."""
    scorer: ModelScorer = model.scorer
    if all(feature.type != "category" for feature in model.features) and not np.isnan(values).any():
        # Nearly everybody: each value is its own cell.
        return values.astype(scorer.dtype)
    width = sum(feature.width for feature in model.features)
    rows = np.empty((len(values), width), dtype=scorer.dtype)
    for place, feature in enumerate(model.features):
        column, known = np.array(scorer.columns(place)), ~np.isnan(values[:, place])
        if feature.type == "category":
            table = np.array([feature.cells(float(each)) for each in range(len(feature.categories))])
            rows[np.ix_(known, column)] = table[values[known, place].astype(np.intp)]
        else:
            rows[known, column[0]] = values[known, place]
        if not known.all():
            rows[np.ix_(~known, column)] = feature.cells(np.nan)
    return rows
