"""The people of a table as the served model reads them, and its scores for them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import Model
from app.adapters.graphs.onnx import ModelFailed
from app.cohorts.solving.values import encoded
from app.core.favourable import Bools, FavourableClasses, Floats
from app.core.following.arithmetic import result
from app.onboarding.failures import Unfit
from app.onboarding.reading.columns import Column
from app.onboarding.reading.table import Table

# Rows that are scored together.
BATCH = 4_096


@dataclass(frozen=True, slots=True)
class People:
    """The values of people in the model's order, and who of them can be scored."""

    values: Floats
    readable: Bools


def read_people(model: Model, table: Table, columns: Mapping[str, str]) -> People:
    """Everybody's values; `Unfit` if a feature has no column."""
    parts, readable = [], np.ones(table.kept, dtype=np.bool_)
    for feature in model.features:
        if feature.derived is not None:
            parts.append(np.full(table.kept, np.nan))
            continue
        column = table.column(columns.get(feature.name, feature.name), f"--column {feature.name}:")
        values, fine = _values(feature, column)
        parts.append(values)
        readable &= fine
    for position, arithmetic in model.derived.items():
        values = result(arithmetic, parts.__getitem__)
        parts[position] = np.broadcast_to(np.rint(values) if model.features[position].whole else values, table.kept)
        readable &= np.isfinite(parts[position]) | model.features[position].may_be_missing
    return People(np.column_stack(parts), readable)


def _values(feature: ModelFeature, column: Column) -> tuple[Floats, Bools]:
    missing = column.is_missing
    for code in feature.missing_codes:
        missing = missing | column.are(str(code))
    if feature.type == "category":
        values = np.full(len(missing), np.nan)
        for place, category in enumerate(feature.categories):
            values[column.are(category if isinstance(category, str) else repr(category))] = place
        fine = ~np.isnan(values)
    else:
        values, fine = column.numbers, np.isfinite(column.numbers)
        if feature.whole:
            fine = fine & (np.floor(values) == values)
    return np.where(missing, np.nan, values), fine | missing if feature.may_be_missing else fine & ~missing


def raw_scores(model: Model, values: Floats) -> Floats:
    """The scores of the served model, one for each class, or one value."""
    numbers = values.astype(np.float64)
    parts = [numbers[start : start + BATCH] for start in range(0, len(values), BATCH)]
    try:
        return np.concatenate([model.scorer(encoded(part, model)) for part in parts]).astype(np.float64)
    except ModelFailed as error:
        raise Unfit(f"the model fails on the people of the table: {error}") from None


def favourable_score(model: Model, scores: Floats) -> Floats:
    """The score that answers show: of the favourable side."""
    if isinstance(model.favourable, FavourableClasses):
        return np.asarray(scores[:, list(model.favourable.classes)].sum(axis=1))
    return np.asarray(scores[:, 0])
