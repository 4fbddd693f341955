"""The normal range that holds for each feature of a person: the request's own, or the registry's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from app.adapters.features import ModelFeature, Unreadable
from app.adapters.models import Model
from app.adapters.registries import Registry
from app.api.reading import Errors
from app.api.schemas import CounterfactualsRequest, RangeBody
from app.core.ranges import (
    Allowed,
    Condition,
    ContextLacks,
    ContextNotANumber,
    MoveTo,
    NormalRange,
    choose,
)

Facts = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ChosenRange:
    """The range and the target policy that hold for this person, and the condition that chose them."""

    normal: NormalRange | Allowed
    move_to: MoveTo
    when: Mapping[str, Condition]


def known_facts(request: CounterfactualsRequest, model: Model, values: Sequence[float]) -> Facts:
    """What conditions can look at: the context first, then the instance; a missing value is no fact."""
    known = {
        feature.name: request.instance[feature.name]
        for feature, value in zip(model.features, values, strict=True)
        if not isnan(value)
    }
    return {**known, **request.context}


def choose_range(
    feature: ModelFeature, request: CounterfactualsRequest, registry: Registry | None, facts: Facts, errors: Errors
) -> ChosenRange | None:
    known = registry.features.get(feature.name) if registry is not None else None
    own = request.normal_ranges.get(feature.name)
    if own is not None and feature.type == "category":
        return _own_categories(own, feature, errors)
    if own is not None:
        return _own_range(own, feature, known.move_to if known is not None else MoveTo(), errors)
    if known is None or registry is None:
        return None
    if known.allowed:
        return ChosenRange(_allowed(known.allowed, feature), MoveTo(), {})
    try:
        chosen = choose(known.ranges, facts)
    except ContextLacks as lack:
        errors.add(f"context.{lack.key}", f"is needed to choose the normal range of {feature.name}")
        return None
    except ContextNotANumber as lack:
        errors.add(f"context.{lack.key}", f"must be a number: the normal range of {feature.name} depends on it")
        return None
    return None if chosen is None else ChosenRange(chosen.normal, known.move_to, chosen.when)


def unused_context(request: CounterfactualsRequest, registry: Registry | None) -> tuple[str, ...]:
    """What the context says and no range asks for: a misspelt key, perhaps."""
    known = {} if registry is None else registry.features
    asked = {key for feature in known.values() for entry in feature.ranges for key in entry.when}
    return tuple(key for key in request.context if key not in asked)


def _allowed(values: Sequence[float | str], feature: ModelFeature) -> Allowed:
    return Allowed(tuple(feature.read(value) for value in values))


def _own_categories(own: RangeBody, feature: ModelFeature, errors: Errors) -> ChosenRange | None:
    field = f"normal_ranges.{feature.name}"
    if not own.allowed or own.low is not None or own.high is not None or own.move_to is not None:
        errors.add(field, "is a category: give it allowed values, and nothing else")
        return None
    try:
        return ChosenRange(_allowed(own.allowed, feature), MoveTo(), {})
    except Unreadable as error:
        errors.add(f"{field}.allowed", str(error))
        return None


def _own_range(own: RangeBody, feature: ModelFeature, usual: MoveTo, errors: Errors) -> ChosenRange:
    normal = NormalRange(own.low, own.high)
    move_to = usual if own.move_to is None else own.move_to
    field = f"normal_ranges.{feature.name}"
    if own.allowed is not None:
        errors.add(field, "is not a category: give it low, high or both")
    elif flaw := normal.flaw():
        errors.add(field, flaw)
    elif feature.whole and normal.whole().flaw():
        errors.add(field, "holds no whole number, and the feature is an integer")
    elif flaw := move_to.flaw(normal):
        given = "" if own.move_to is not None else "; the registry moves it so: give a move_to of your own"
        errors.add(f"{field}.move_to", f"{flaw}{given}")
    return ChosenRange(normal, move_to, {})
