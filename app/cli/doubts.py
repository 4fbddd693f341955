"""Warnings of `flipset validate` about files that can be served, but are probably not what their owner meant."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil, floor, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.files.flaws import Flaw
from app.adapters.files.names import listed
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.inspecting import OPEN, drafted_classes, drafted_name
from app.adapters.graphs.models import Model
from app.adapters.graphs.onnx import ModelFailed
from app.adapters.graphs.scorer import TRIED
from app.adapters.rules.registries import KnownFeature, Registry
from app.answering.service import Service
from app.asking.schemas import CounterfactualsRequest
from app.core.favourable import FavourableInterval
from app.core.findings import Feature, target_of
from app.core.ranges import Status
from app.core.search.oracle import encoded_row

Doubts = Iterator[tuple[str, str]]

# The number of made-up people, and how certain it must be that being in range is worse for them.
PEOPLE = 300
DEVIATIONS = 5


def doubts(service: Service) -> Iterator[Flaw]:
    """Everything that looks wrong with the loaded models and registries."""
    for model in service.catalog.models.values():
        about = (_unfilled(model), _encoding(model), _activation(model), _threshold(model), _order(service, model))
        yield from (Flaw(model.file, field, reason) for found in about for field, reason in found)
    for registry in service.catalog.registries.values():
        useless = [*_never_provided(registry), *_never_missing(service, registry)]
        yield from (Flaw(registry.file, field, reason) for field, reason in useless)


def _unfilled(model: Model) -> Doubts:
    if model.title == OPEN:
        yield "title", "is still that of the draft"
    if list(model.classes) == drafted_classes(len(model.classes)) != []:
        yield "output.classes", f"are still those of the draft: {', '.join(model.classes)}"
    inputs, count = model.scorer.inputs, len(model.features)
    drafted = {drafted_name(table, place) for table in inputs for place in range(count)} - set(inputs)
    if names := [feature.name for feature in model.features if feature.name in drafted]:
        yield (
            "features",
            f"still have the names of the draft: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}",
        )
    for index, feature in enumerate(model.features):
        if feature.categories == (OPEN,):
            yield f"features[{index}].categories", "are still those of the draft"


def _encoding(model: Model) -> Doubts:
    for index, feature in enumerate(model.features):
        if feature.one_hot and feature.sees_missing and feature.missing is None:
            reason = "null becomes NaN in all columns of the group, but encoders write zeros: "
            yield f"features[{index}].missing", f'{reason}set missing = "zeros", or "nan" if you mean NaN'


def _never_provided(registry: Registry) -> Doubts:
    """Features with `if_missing` that a direction or a step keeps from moving."""
    rules = registry.constraints
    for name, known in registry.features.items():
        bound = [kind for kind in ("directions", "max_step") if name in getattr(rules, kind)]
        if known.if_missing is not None and (bound or name in rules.immutable):
            rule = f"constraints.{bound[0]}.{name}" if bound else "constraints.immutable"
            yield f"features.{name}.if_missing", f"has no effect: {rule} forbids a move from a missing value"


def _never_missing(service: Service, registry: Registry) -> Doubts:
    """Features with `if_missing` that no model that the registry fits accepts a missing value of."""
    models = service.catalog.models.values()
    fitting = [model for model in models if registry.name in service.catalog.registries_for(model)]
    for name, known in registry.features.items():
        features = [model.features[model.positions[name]] for model in fitting]
        if known.if_missing is not None and features and not any(feature.may_be_missing for feature in features):
            named = listed([repr(model.name) for model in fitting], "or")
            reason = f"has no effect: a missing value is not accepted by model {named}"
            yield f"features.{name}.if_missing", f"{reason}; give the feature a default or takes_missing = true there"


def _activation(model: Model) -> Doubts:
    activation, trial = model.scorer.activation, model.scorer.trial
    if activation != "none" and trial is not None and _between_0_and_1(trial.raw):
        reason = f"{activation} on scores that are probabilities already: in a trial with {TRIED} made-up rows all lie"
        yield "output.activation", f'{reason} between 0 and 1; did you mean activation = "none"?'


def _threshold(model: Model) -> Doubts:
    """A threshold outside of 0 to 1, if the scores look like probabilities but are not known to be."""
    trial, target = model.scorer.trial, model.favourable
    if trial is None or isinstance(target, FavourableInterval) or 0 <= (target.threshold or 0) <= 1:
        return
    if _between_0_and_1(target.score(model.scorer.scores(trial.raw))):
        reason = f"lies outside of 0 to 1, where all scores of a trial with {TRIED} made-up rows lie"
        yield "output.threshold", reason


def _between_0_and_1(scores: NDArray[Any]) -> bool:
    return bool(np.all((scores >= 0) & (scores <= 1)))


def _order(service: Service, model: Model) -> Doubts:
    """Signs that the favourable side is the wrong one: the graph's labels, the examples, or made-up people."""
    if labels := _other_labels(model):
        yield "output.classes", f"are swapped: in this order the graph calls them {', '.join(labels)}"
        return
    shifts = [_shift(service, model, request) for request in model.examples.values() if "target" not in request]
    falls, rises = sum(shift < 0 for shift in shifts), sum(shift > 0 for shift in shifts)
    if falls > rises:
        who, on_average = f"{falls} of {len(shifts)} examples", ""
    elif not rises and model.registry is not None and _fall(model, service.catalog.registries[model.registry]):
        who, on_average = f"{PEOPLE} made-up people", " on average"
    else:
        return
    if isinstance(model.favourable, FavourableInterval):
        reason = f"for {who}, bringing values into range led away from it{on_average}"
        yield "output.favourable", f"may be the wrong side: {reason}"
    else:
        wanted = listed([repr(model.classes[place]) for place in model.favourable.classes], "or")
        reason = f"for {who}, bringing values into range made {wanted} less likely{on_average}"
        yield "output", f"classes or favourable may be the wrong way round: {reason}"


def _other_labels(model: Model) -> list[str]:
    """What the graph calls the classes, in the order of ours, if it names the same ones in another order."""
    trial = model.scorer.trial
    if trial is None or not trial.labels:
        return []
    best = model.scorer.scores(trial.raw[: len(trial.labels)]).argmax(axis=1)
    by_place: dict[int, Counter[str]] = {}
    for place, label in zip(best.tolist(), trial.labels, strict=True):
        by_place.setdefault(place, Counter())[label] += 1
    # The most frequent: a graph may draw the line between its labels elsewhere.
    said = {place: counts.most_common(1)[0][0] for place, counts in by_place.items()}
    ours = [name.casefold() for name in model.classes]
    same = all(label.casefold() in ours for label in said.values())
    if not same or all(ours[place] == label.casefold() for place, label in said.items()):
        return []
    return [said.get(place, "?") for place in range(len(ours))]


def _shift(service: Service, model: Model, request: dict[str, Any]) -> float:
    """How much better the person of an example stands with every value at its target."""
    with service.answering(CounterfactualsRequest.model_validate(request), service.model(model.name)) as answer:
        problem = answer.question.problem
    standing = zip(problem.instance, problem.findings, strict=True)
    moved = [value if finding.target is None else finding.target for value, finding in standing]
    before, after = (_merit(model, [values])[0] for values in (problem.instance, moved))
    return float(after - before)


def _fall(model: Model, registry: Registry) -> bool:
    """Whether made-up people score worse, beyond chance, with all values in range than with all outside."""
    rng = np.random.default_rng(0)
    drawn = [
        [_values(rng, feature, registry.features.get(feature.name)) for feature in model.features]
        for _ in range(PEOPLE)
    ]
    outside, inside = ([[pair[side] for pair in person] for person in drawn] for side in (0, 1))
    try:
        shifts = _merit(model, inside) - _merit(model, outside)
    except ModelFailed:
        return False
    shifts = shifts[np.isfinite(shifts)]
    mean = shifts.mean() if len(shifts) else 0.0
    return bool(mean < 0 and mean * sqrt(len(shifts)) <= -DEVIATIONS * shifts.std())


def _merit(model: Model, people: Sequence[Sequence[float]]) -> NDArray[Any]:
    rows = np.array([encoded_row(model.scorer, values) for values in people], dtype=model.scorer.dtype)
    merit = model.favourable.merit(model.favourable.score(model.scorer(rows)))
    return np.asarray(merit, dtype=np.float64)


def _values(rng: np.random.Generator, feature: ModelFeature, known: KnownFeature | None) -> tuple[float, float]:
    """An abnormal value and its target; without a range, the same made-up value twice."""
    if known is None:
        return (0.0, 0.0) if feature.default is None else (feature.read(feature.default),) * 2
    if known.allowed:
        allowed = [feature.read(value) for value in known.allowed]
        others = [float(place) for place in range(len(feature.categories)) if place not in allowed]
        return (float(rng.choice(others)) if others else allowed[0]), allowed[0]
    normal = known.ranges[rng.integers(len(known.ranges))].normal
    low, high = normal.low, normal.high
    width = high - low if low is not None and high is not None else 0.0
    is_low = low is not None and (high is None or rng.random() < 0.5)
    end = low if low is not None and is_low else high or 0.0
    distance = rng.random() * (width or max(abs(end), 1.0))
    value = end - distance if is_low else end + distance
    if feature.whole:
        value = floor(value) if is_low else ceil(value)
    known_feature = Feature(0.0, normal, known.move_to, whole=feature.whole)
    return float(value), target_of(known_feature, Status.LOW if is_low else Status.HIGH)
