"""From a request to a posed problem: names become positions, and everything that can be refused is refused here."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

import numpy as np

from app.adapters.catalog import Catalog, mismatches
from app.adapters.constraints import read_constraints, written
from app.adapters.features import ModelFeature, Unreadable, as_sent
from app.adapters.formulas import FormulaLimits
from app.adapters.models import Model, favourable_classes
from app.adapters.names import LONGEST_NAME, closest, suggestion
from app.adapters.registries import Registry
from app.api.errors import MOST_ERRORS, ConflictingConstraints, FieldError, InvalidRequest
from app.api.schemas import (
    CounterfactualsRequest,
    Instance,
    RangeBody,
    TargetBody,
)
from app.core.conflicts import conflicting_items
from app.core.constraints import Item
from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.problem import Feature, Problem, pose
from app.core.ranges import (
    Allowed,
    Condition,
    ContextLacks,
    ContextNotANumber,
    MoveTo,
    NormalRange,
    choose,
)

# Before the path of an item that comes from the registry.
REGISTRY = "registry:"


@dataclass(slots=True)
class Errors:
    """Collects what is wrong, so that a person can mend all of it at once."""

    found: list[FieldError] = field(default_factory=list)

    def add(self, field: str, message: str) -> None:
        self.found.append(FieldError(field, message))

    @property
    def suffice(self) -> bool:
        """Whether so much is wrong that nobody would read on."""
        return len(self.found) >= MOST_ERRORS

    def raise_any(self) -> None:
        if self.found:
            raise InvalidRequest(self.found)


@dataclass(frozen=True, slots=True)
class ChosenRange:
    """The range and the target policy that hold for this person, and the condition that chose them."""

    normal: NormalRange | Allowed
    move_to: MoveTo
    when: Mapping[str, Condition]


@dataclass(frozen=True, slots=True)
class Question:
    """A request understood: the problem in positions, and what of the request the answer repeats."""

    model: Model
    registry: Registry | None
    texts: tuple[str, ...]
    ranges: tuple[ChosenRange | None, ...]
    favourable: Favourable
    problem: Problem
    unused_context: tuple[str, ...]


def understand(request: CounterfactualsRequest, model: Model, catalog: Catalog, limits: FormulaLimits) -> Question:
    """Pose the problem of a request, or raise `InvalidRequest` with all that is wrong."""
    errors = Errors()
    values = read_instance(request.instance, model, "instance", errors)
    registry = _registry(request, model, catalog, errors)
    favourable = read_target(request.target, model, errors)
    items = _items(request, model, registry, limits, errors)
    _check_names(request, model, errors)
    errors.raise_any()
    ranges = tuple(_range(feature, request, registry, errors) for feature in model.features)
    guide = _guide(request, model, ranges, errors)
    errors.raise_any()
    features = tuple(
        _feature(feature, value, chosen, guide.get(feature.name), request.weights)
        for feature, value, chosen in zip(model.features, values, ranges, strict=True)
    )
    problem = pose(features, items)
    _check_targets(problem, model, ranges, errors)
    errors.raise_any()
    _check_conflict(problem, request, registry)
    texts = tuple(as_sent(request.instance[feature.name]) for feature in model.features)
    return Question(model, registry, texts, ranges, favourable, problem, _unused(request, registry))


def read_instance(instance: Instance, model: Model, field: str, errors: Errors) -> tuple[float, ...]:
    """The values in the model's order; every feature is needed, and no other."""
    _check_known(instance, [feature.name for feature in model.features], field, errors)
    return tuple(
        _read(instance[feature.name], feature, model, f"{field}.{feature.name}", errors)
        if feature.name in instance
        else _absent(feature, f"{field}.{feature.name}", errors)
        for feature in model.features
    )


def _absent(feature: ModelFeature, field: str, errors: Errors) -> float:
    hint = "; send null for a value that is not known" if feature.may_be_missing else ""
    errors.add(field, f"is missing{hint}")
    return nan


def _read(raw: Any, feature: ModelFeature, model: Model, field: str, errors: Errors) -> float:
    try:
        value = feature.read(raw)
    except Unreadable as error:
        errors.add(field, str(error))
        return nan
    if not isnan(value) and not all(_fits(cell, model.scorer.dtype) for cell in feature.cells(value)):
        errors.add(field, f"is too large for the model's {model.scorer.dtype} input")
    return value


def read_target(target: TargetBody, model: Model, errors: Errors) -> Favourable:
    """What the request, or else the model, calls favourable."""
    usual = model.favourable
    if isinstance(usual, FavourableInterval):
        return _interval(target, usual, errors)
    for side in ("low", "high"):
        if getattr(target, side) is not None:
            errors.add(f"target.{side}", "belongs to a regression; this model has classes")
    threshold = target.threshold
    if threshold is not None and model.probabilities and not 0 <= threshold <= 1:
        errors.add("target.threshold", "must lie between 0 and 1")
    elif threshold is not None and not _fits(threshold, np.dtype(np.float32)):
        errors.add("target.threshold", "is too large for any score")
    return _classes(target, usual, threshold, model, errors)


def _classes(
    target: TargetBody, usual: FavourableClasses, threshold: float | None, model: Model, errors: Errors
) -> FavourableClasses:
    chosen = target.classes
    if chosen is None:
        return FavourableClasses(usual.classes, usual.others, usual.threshold if threshold is None else threshold)
    _check_list(chosen, model.classes, "target.classes", "class", errors)
    if not chosen or set(chosen) >= set(model.classes):
        errors.add("target.classes", f"must name some but not all of: {', '.join(model.classes)}")
    if errors.found:
        return usual
    favourable = favourable_classes(model.classes, chosen, threshold)
    # The model's own threshold goes with the model's own classes only.
    return usual if threshold is None and favourable.classes == usual.classes else favourable


def _interval(target: TargetBody, usual: FavourableInterval, errors: Errors) -> FavourableInterval:
    for name in ("classes", "threshold"):
        if getattr(target, name) is not None:
            errors.add(f"target.{name}", "belongs to a classification; this model gives one value")
    if target.low is None and target.high is None:
        return usual
    if flaw := NormalRange(target.low, target.high).flaw():
        errors.add("target", flaw)
    for name, end in (("low", target.low), ("high", target.high)):
        if end is not None and not _fits(end, np.dtype(np.float32)):
            errors.add(f"target.{name}", "is too large for any value of the model")
    return FavourableInterval(target.low, target.high)


def _registry(request: CounterfactualsRequest, model: Model, catalog: Catalog, errors: Errors) -> Registry | None:
    name = request.registry if request.names_registry else model.registry
    if name is None:
        return None
    registry = catalog.registries.get(name)
    if registry is None:
        hint = closest(name, catalog.registries)
        errors.add("registry", f"is not known; {hint or 'for this model: ' + ', '.join(catalog.registries_for(model))}")
    elif flaws := mismatches(model, registry):
        errors.add("registry", f"does not fit this model: {flaws[0].field}: {flaws[0].reason}")
    return registry


def _check_names(request: CounterfactualsRequest, model: Model, errors: Errors) -> None:
    names = [feature.name for feature in model.features]
    _check_known(request.normal_ranges, names, "normal_ranges", errors)
    _check_known(request.guide, names, "guide", errors)
    _check_known(request.weights, names, "weights", errors)


def _check_known(given: Iterable[str], known: list[str], field: str, errors: Errors) -> None:
    for name in given:
        if name not in known and not errors.suffice:
            errors.add(f"{field}.{name[:LONGEST_NAME]}", f"is not a feature of this model; {suggestion(name, known)}")


def _check_list(given: list[str], known: Iterable[str], field: str, what: str, errors: Errors) -> None:
    seen: set[str] = set()
    for index, name in enumerate(given):
        if errors.suffice:
            return
        if name not in known:
            errors.add(f"{field}[{index}]", f"is not a {what} of this model; {suggestion(name, known)}")
        elif name in seen:
            errors.add(f"{field}[{index}]", f"names a {what} a second time")
        seen.add(name)


def _range(
    feature: ModelFeature, request: CounterfactualsRequest, registry: Registry | None, errors: Errors
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
    # The context is looked in first, then the instance.
    facts: dict[str, Any] = {**request.instance, **request.context}
    try:
        chosen = choose(known.ranges, facts)
    except ContextLacks as lack:
        errors.add(f"context.{lack.key}", f"is needed to choose the normal range of {feature.name}")
        return None
    except ContextNotANumber as lack:
        errors.add(f"context.{lack.key}", f"must be a number: the normal range of {feature.name} depends on it")
        return None
    return None if chosen is None else ChosenRange(chosen.normal, known.move_to, chosen.when)


def _unused(request: CounterfactualsRequest, registry: Registry | None) -> tuple[str, ...]:
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


def _guide(
    request: CounterfactualsRequest, model: Model, ranges: tuple[ChosenRange | None, ...], errors: Errors
) -> dict[str, float]:
    """The values to move to where there is no range: the request's, or else the model's own prototype."""
    guide = {}
    for feature, chosen in zip(model.features, ranges, strict=True):
        field = f"guide.{feature.name}"
        raw = request.guide.get(feature.name, model.prototype.get(feature.name) if chosen is None else None)
        if feature.name in request.guide and chosen is not None:
            errors.add(field, "has a normal range; a guide is for features without one")
        elif feature.name in request.guide and raw is None:
            errors.add(field, "must not be missing")
        elif raw is not None:
            guide[feature.name] = _read(raw, feature, model, field, errors)
    return guide


def _feature(
    feature: ModelFeature, value: float, chosen: ChosenRange | None, guide: float | None, weights: Mapping[str, float]
) -> Feature:
    return Feature(
        value=float(value),
        normal=None if chosen is None else chosen.normal,
        move_to=MoveTo() if chosen is None else chosen.move_to,
        guide=guide,
        whole=feature.whole,
        weight=weights.get(feature.name, 1),
    )


def _items(
    request: CounterfactualsRequest, model: Model, registry: Registry | None, limits: FormulaLimits, errors: Errors
) -> tuple[Item, ...]:
    """What always holds where the ranges come from, and what the request adds to that."""
    own, mistakes = read_constraints(request.constraints, model.features, limits)
    for mistake in mistakes:
        errors.add(f"constraints.{mistake.field}", mistake.message)
    if registry is None or errors.found:
        return own
    always, _ = read_constraints(registry.constraints, model.features, FormulaLimits())
    return (*(Item(f"{REGISTRY}{item.path}", item.statement) for item in always), *own)


def _check_conflict(problem: Problem, request: CounterfactualsRequest, registry: Registry | None) -> None:
    conflict = []
    for item in conflicting_items(problem):
        ours = item.path.startswith(REGISTRY) and registry is not None
        entry = registry.constraints if ours and registry is not None else request.constraints
        field = item.path if ours else f"constraints.{item.path}"
        conflict.append(FieldError(field, json.dumps(written(entry, item.path.removeprefix(REGISTRY)))))
    if conflict:
        raise ConflictingConstraints(conflict)


def _check_targets(problem: Problem, model: Model, ranges: tuple[ChosenRange | None, ...], errors: Errors) -> None:
    for move in problem.candidates:
        feature = model.features[move.position]
        if not all(_fits(cell, model.scorer.dtype) for cell in feature.cells(move.target)):
            where = "guide" if ranges[move.position] is None else "normal_ranges"
            reason = f"leads to a target that is too large for the model's {model.scorer.dtype} input"
            errors.add(f"{where}.{feature.name}", reason)


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    """Whether the type can hold the number, give or take its last digits."""
    if dtype.kind == "i":
        return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)
    return abs(value) <= float(np.finfo(dtype).max)
