"""The normal range that holds for each feature of a person: the request's own, or the registry's."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

from app.adapters.features import ModelFeature, Unreadable
from app.adapters.models import Model
from app.adapters.numbers import number_text
from app.adapters.registries import KnownFeature
from app.api.json_pieces import encoded, when_json
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


class ChosenRange(NamedTuple):
    """The range and the target policy that hold for this person, the condition that chose them, and how it is told."""

    normal: NormalRange | Allowed
    move_to: MoveTo
    when: Mapping[str, Condition]
    text: str


NO_RANGE = '"low":null,"high":null,"allowed":null,"when":null'


def known_ranges(feature: ModelFeature, known: KnownFeature | None) -> tuple[ChosenRange, ...]:
    """What a registry knows of a feature, in the order that it is chosen from."""
    if known is None:
        return ()
    if known.allowed:
        return (_allowed(known.allowed, feature),)
    return tuple(_range(entry.normal, known.move_to, entry.when) for entry in known.ranges)


def known_facts(request: CounterfactualsRequest, model: Model, values: Sequence[float]) -> Facts:
    """What conditions can look at: the context first, then the instance; a missing value is no fact."""
    known = {
        feature.name: request.instance[feature.name]
        for feature, value in zip(model.features, values, strict=True)
        if not isnan(value)
    }
    return {**known, **request.context}


def choose_range(
    feature: ModelFeature, own: RangeBody | None, known: Sequence[ChosenRange], facts: Facts, errors: Errors
) -> ChosenRange | None:
    if own is not None and feature.type == "category":
        return _own_categories(own, feature, errors)
    if own is not None:
        return _own_range(own, feature, known[0].move_to if known else MoveTo(), errors)
    try:
        return choose(known, facts)
    except ContextLacks as lack:
        errors.add(f"context.{lack.key}", f"is needed to choose the normal range of {feature.name}")
    except ContextNotANumber as lack:
        errors.add(f"context.{lack.key}", f"must be a number: the normal range of {feature.name} depends on it")
    return None


def _range(normal: NormalRange, move_to: MoveTo, when: Mapping[str, Condition]) -> ChosenRange:
    low, high = ("null" if end is None else number_text(end) for end in (normal.low, normal.high))
    text = f'"low":{low},"high":{high},"allowed":null,"when":{encoded(when_json(when))}'
    return ChosenRange(normal, move_to, when, text)


def _allowed(values: Sequence[float | str], feature: ModelFeature) -> ChosenRange:
    codes = tuple(feature.read(value) for value in values)
    text = f'"low":null,"high":null,"allowed":[{",".join(map(feature.text, codes))}],"when":{{}}'
    return ChosenRange(Allowed(codes), MoveTo(), {}, text)


def _own_categories(own: RangeBody, feature: ModelFeature, errors: Errors) -> ChosenRange | None:
    field = f"normal_ranges.{feature.name}"
    if not own.allowed or own.low is not None or own.high is not None or own.move_to is not None:
        errors.add(field, "is a category: give it allowed values, and nothing else")
        return None
    try:
        return _allowed(own.allowed, feature)
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
    return _range(normal, move_to, {})
