"""From a request to a posed problem: names become positions, and everything that can be refused is refused here."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from app.adapters.constraints import read_constraints, written
from app.adapters.features import ModelFeature, as_sent
from app.adapters.formulas import FormulaLimits
from app.adapters.models import Model
from app.adapters.names import closest
from app.adapters.registries import Registry
from app.api.errors import ConflictingConstraints, FieldError
from app.api.pairs import REGISTRY, Pair, Pairs
from app.api.ranges import ChosenRange, Facts, choose_range, known_facts
from app.api.reading import Errors, check_known, read_instance, read_value, too_large
from app.api.schemas import CounterfactualsRequest
from app.api.targets import read_target
from app.core.conflicts import conflicting_items
from app.core.constraints import Item
from app.core.favourable import Favourable
from app.core.problem import Feature, Problem, pose
from app.core.ranges import MoveTo

NEAREST = MoveTo()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a request asks for, whoever it is about: the registry, what is favourable, and the constraints."""

    request: CounterfactualsRequest
    model: Model
    pair: Pair
    favourable: Favourable
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Standards:
    """What the values of a person are held against: a range for each feature, or a value to move to."""

    ranges: tuple[ChosenRange | None, ...]
    guide: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    """A request understood: the problem in positions, and what of the request the answer repeats."""

    model: Model
    pair: Pair
    texts: tuple[str, ...]
    ranges: tuple[ChosenRange | None, ...]
    favourable: Favourable
    problem: Problem
    unused_context: tuple[str, ...]


def understand(
    request: CounterfactualsRequest,
    model: Model,
    pairs: Pairs,
    limits: FormulaLimits,
    seconds_left: Callable[[], float],
    knows_all: bool = True,
) -> Question:
    """Pose the problem of a request, or raise `InvalidRequest` with all that is wrong.

    Whoever does not know all models is not told of registries that belong to others.
    """
    errors = Errors()
    values = read_instance(request.instance, model, "instance", errors)
    terms = read_terms(request, model, pairs, limits, errors, knows_all)
    errors.raise_any()
    pair = terms.pair
    standards = choose_standards(terms, known_facts(request, model, values) if pair.asked else {}, errors)
    errors.raise_any()
    problem = pose(features_of(terms, standards, values), terms.items)
    _check_targets(problem, model, standards.ranges, errors)
    errors.raise_any()
    _check_conflict(problem, request, pair.registry, seconds_left)
    texts = tuple(as_sent(request.instance[feature.name]) for feature in model.features)
    unused = tuple(key for key in request.context if key not in pair.asked)
    return Question(model, pair, texts, standards.ranges, terms.favourable, problem, unused)


def read_terms(
    request: CounterfactualsRequest,
    model: Model,
    pairs: Pairs,
    limits: FormulaLimits,
    errors: Errors,
    knows_all: bool = True,
) -> Terms:
    """All of a request that speaks of nobody in particular."""
    pair = _pair(request, model, pairs, knows_all, errors)
    favourable = read_target(request.target, model, errors)
    items = _items(request, model, pair, limits, errors)
    _check_names(request, model, errors)
    return Terms(request, model, pair, favourable, items)


def choose_standards(terms: Terms, facts: Facts, errors: Errors) -> Standards:
    """The ranges that hold for a person of whom this is known, and the guides for the rest."""
    own = terms.request.normal_ranges
    ranges = tuple(
        choose_range(feature, own.get(feature.name), known, facts, errors)
        for feature, known in zip(terms.model.features, terms.pair.ranges, strict=True)
    )
    return Standards(ranges, _guide(terms.request, terms.model, ranges, errors))


def features_of(terms: Terms, standards: Standards, values: Sequence[float]) -> tuple[Feature, ...]:
    """The values of a person, each beside what it is held against."""
    guide, weights = standards.guide, terms.request.weights
    return tuple(
        _feature(feature, value, chosen, guide.get(feature.name), weights)
        for feature, value, chosen in zip(terms.model.features, values, standards.ranges, strict=True)
    )


def _pair(request: CounterfactualsRequest, model: Model, pairs: Pairs, knows_all: bool, errors: Errors) -> Pair:
    name = request.registry if request.names_registry else model.registry
    if name is None:
        return pairs.pair(model, None)
    catalog = pairs.catalog
    registry = catalog.registries.get(name)
    flaws = () if registry is None else catalog.pairings[model.name, name].flaws
    if registry is None or (flaws and not knows_all):
        fitting = catalog.registries_for(model)
        hint = closest(name, fitting)
        errors.add("registry", f"is not known; {hint or 'for this model: ' + ', '.join(fitting)}")
    elif flaws:
        errors.add("registry", f"does not fit this model: {flaws[0].field}: {flaws[0].reason}")
    else:
        return pairs.pair(model, registry)
    return pairs.pair(model, None)


def _check_names(request: CounterfactualsRequest, model: Model, errors: Errors) -> None:
    check_known(request.normal_ranges, model.positions, "normal_ranges", errors)
    check_known(request.guide, model.positions, "guide", errors)
    check_known(request.weights, model.positions, "weights", errors)


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
        if feature.name in request.guide and chosen is not None:
            errors.add(field, "has a normal range; a guide is for features without one")
        elif feature.name in request.guide and raw is None:
            errors.add(field, "must not be missing")
        elif raw is not None:
            guide[feature.name] = read_value(raw, position, model, "guide", errors)
            if isnan(guide[feature.name]) and not errors.found:
                errors.add(field, "must not be missing")
    return guide


def _feature(
    feature: ModelFeature, value: float, chosen: ChosenRange | None, guide: float | None, weights: Mapping[str, float]
) -> Feature:
    return Feature(
        value=float(value),
        normal=None if chosen is None else chosen.normal,
        move_to=NEAREST if chosen is None else chosen.move_to,
        guide=guide,
        whole=feature.whole,
        weight=weights.get(feature.name, 1),
    )


def _items(
    request: CounterfactualsRequest, model: Model, pair: Pair, limits: FormulaLimits, errors: Errors
) -> tuple[Item, ...]:
    """What always holds where the ranges come from, and what the request adds to that."""
    own, mistakes = read_constraints(request.constraints, model.features, limits)
    for mistake in mistakes:
        errors.add(f"constraints.{mistake.field}".removesuffix("."), mistake.message, mistake.place)
    return (*pair.items, *own)


def _check_conflict(
    problem: Problem,
    request: CounterfactualsRequest,
    registry: Registry | None,
    seconds_left: Callable[[], float],
) -> None:
    conflict = []
    for item in conflicting_items(problem, seconds_left):
        path = item.path.removeprefix(REGISTRY)
        if registry is not None and path != item.path:
            conflict.append(FieldError(item.path, json.dumps(written(registry.constraints, path))))
        else:
            conflict.append(FieldError(f"constraints.{path}", json.dumps(written(request.constraints, path))))
    if conflict:
        raise ConflictingConstraints(conflict)


def _check_targets(problem: Problem, model: Model, ranges: tuple[ChosenRange | None, ...], errors: Errors) -> None:
    for move in problem.candidates:
        feature = model.features[move.position]
        where = "guide" if ranges[move.position] is None else "normal_ranges"
        if feature.missing_codes and feature.means_missing(move.target):
            errors.add(f"{where}.{feature.name}", "leads to a target that is one of the feature's missing codes")
        elif dtype := too_large(move.target, move.position, model):
            errors.add(f"{where}.{feature.name}", f"leads to a target that is too large for the model's {dtype} input")
