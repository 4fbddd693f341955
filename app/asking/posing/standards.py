"""What the values of a person are held against."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import Model
from app.asking.posing.terms import Terms
from app.asking.ranges import ChosenRange, Facts, choose_range, own_if_missing
from app.asking.reading import Errors, read_value
from app.asking.schemas import CounterfactualsRequest
from app.core.findings import Feature
from app.core.ranges import IfMissing, MoveTo

NEAREST = MoveTo()


class Standards(NamedTuple):
    """What the values of a person are held against: a range for each feature, or a value to move to."""

    ranges: tuple[ChosenRange | None, ...]
    guide: Mapping[str, float]
    # What missing values would become, of features that have no range.
    if_missing: Mapping[str, IfMissing]


def choose_standards(terms: Terms, facts: Facts, errors: Errors) -> Standards:
    """The ranges that hold for a person with these facts, and the guides for the rest."""
    own, unused = terms.request.normal_ranges, terms.unused_context
    ranges = tuple(
        [
            choose_range(feature, own.get(feature.name), known, facts, errors, unused)
            for feature, known in zip(terms.model.features, terms.prepared.ranges, strict=True)
        ]
    )
    guide = _guide(terms.request, terms.model, ranges, errors)
    return Standards(ranges, guide, _if_missing(terms, ranges, guide, errors) if own else {})


def features_of(terms: Terms, standards: Standards, values: Sequence[float]) -> tuple[Feature, ...]:
    """The values of a person, each beside what it is held against."""
    weights, derived = terms.weights, terms.model.derived
    features = tuple(
        [
            _feature(feature, value, chosen, standards, weights)
            for feature, value, chosen in zip(terms.model.features, values, standards.ranges, strict=True)
        ]
    )
    if not derived:
        return features
    return tuple(feature._replace(derived=derived.get(place)) for place, feature in enumerate(features))


def _guide(
    request: CounterfactualsRequest, model: Model, ranges: tuple[ChosenRange | None, ...], errors: Errors
) -> dict[str, float]:
    """The values to move to where there is no range: the request's, or else the model's own prototype."""
    guide: dict[str, float] = {}
    if not request.guide and not model.prototype:
        return guide
    for position, (feature, chosen) in enumerate(zip(model.features, ranges, strict=True)):
        field = f"guide.{feature.name}"
        raw = request.guide.get(feature.name, model.prototype.get(feature.name) if chosen is None else None)
        if feature.name in request.guide and feature.derived is not None:
            errors.add(field, "is derived, so it cannot be guided: guide what it is computed from")
        elif feature.name in request.guide and chosen is not None:
            errors.add(field, "has a normal range; a guide is for features without one")
        elif feature.name in request.guide and raw is None:
            errors.add(field, "must not be missing")
        elif raw is not None:
            guide[feature.name] = read_value(raw, position, model, "guide", errors)
            if isnan(guide[feature.name]) and not errors.found:
                errors.add(field, "must not be missing")
    return guide


def _if_missing(
    terms: Terms, ranges: tuple[ChosenRange | None, ...], guide: Mapping[str, float], errors: Errors
) -> dict[str, IfMissing]:
    """What the request says of missing values where there is no range."""
    said: dict[str, IfMissing] = {}
    for position, (feature, chosen) in enumerate(zip(terms.model.features, ranges, strict=True)):
        own = terms.request.normal_ranges.get(feature.name)
        if chosen is not None or own is None or (become := own_if_missing(own, feature, errors)) is None:
            continue
        if become.value is None and feature.name not in guide and not terms.prepared.ranges[position]:
            reason = "has neither a range nor a guide that would lead to a target: give a value"
            errors.add(f"normal_ranges.{feature.name}.if_missing", reason)
        said[feature.name] = become
    return said


def _feature(
    feature: ModelFeature,
    value: float,
    chosen: ChosenRange | None,
    standards: Standards,
    weights: Mapping[str, float],
) -> Feature:
    name = feature.name
    guide, weight = standards.guide.get(name), weights.get(name, 1)
    if chosen is None:
        return Feature(float(value), None, NEAREST, guide, feature.whole, weight, standards.if_missing.get(name))
    return Feature(float(value), chosen.normal, chosen.move_to, guide, feature.whole, weight, chosen.if_missing)
