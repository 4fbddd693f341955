"""What a request asks about stability, and what an answer says without being asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from app.adapters.catalog import Catalog
from app.adapters.files.fields import parse_noise
from app.adapters.files.names import LONGEST_NAME, suggestion
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import Model
from app.asking.callers import Caller
from app.asking.prepared import PreparedModel
from app.asking.reading import Errors, check_known
from app.asking.schemas import FROM_REGISTRY, RobustnessBody
from app.core.robust.asked import More, Order
from app.core.robust.holding import Conditions, OtherModel
from app.core.robust.noise import NoisyFeature

# Draws where a request does not say how many, and the most that it may ask for.
USUAL_DRAWS = 100
MOST_DRAWS = 10_000
MOST_MODELS = 20


@dataclass(frozen=True, slots=True)
class Robustness:
    """What is asked, and how many `plans` are judged at most; None for all."""

    conditions: Conditions
    models: tuple[Model, ...] = ()
    more: More | None = None
    order: Order = Order.SIZE
    plans: int | None = None

    @property
    def is_asked(self) -> bool:
        """Whether the request asks for it; otherwise only some plans are judged."""
        return self.plans is None

    @property
    def is_required(self) -> bool:
        """Whether a favourable plan must hold, by the draws or the other models."""
        return self.conditions.require is not None

    @property
    def is_required_in_any_way(self) -> bool:
        """The same, or whatever else improves."""
        return self.is_required or self.more is More.REQUIRE


def usual(prepared: PreparedModel, plans: int) -> Robustness | None:
    """What an answer says unasked if the registry knows how exact its measurements are."""
    if not prepared.noisy or not plans:
        return None
    return Robustness(Conditions(prepared.noisy, USUAL_DRAWS), plans=plans)


def read_robustness(
    body: RobustnessBody,
    prepared: PreparedModel,
    values: tuple[float, ...],
    catalog: Catalog,
    caller: Caller,
    errors: Errors,
) -> Robustness:
    """What the request asks for, with all that is wrong with it added to `errors`."""
    model = prepared.model
    noisy = _noisy(body, prepared, errors)
    models = _models(body, model, values, catalog, caller, errors)
    if body.require is not None and not 0 < body.require <= 1:
        errors.add("robustness.require", "must be a share above 0 and at most 1")
    elif body.require is not None and not noisy and not models:
        errors.add("robustness.require", "asks for nothing: name noise or models too")
    if body.draws is not None and body.draws > MOST_DRAWS:
        errors.add("robustness.draws", f"must be {MOST_DRAWS:,} at the most")
    if body.order is Order.STABILITY and not noisy:
        errors.add("robustness.order", "cannot be stability: there is no noise")
    others = tuple(_other(each, model) for each in models)
    conditions = Conditions(noisy, body.draws or USUAL_DRAWS, others, body.require)
    return Robustness(conditions, tuple(models), body.more, body.order)


def _noisy(body: RobustnessBody, prepared: PreparedModel, errors: Errors) -> Mapping[int, NoisyFeature]:
    if body.noise is None:
        return prepared.noisy
    if body.noise == FROM_REGISTRY:
        if not prepared.noisy:
            errors.add("robustness.noise", "is not in the registry; name the features, each with sd or relative")
        return prepared.noisy
    assert isinstance(body.noise, dict)
    model = prepared.model
    check_known(body.noise, model.positions, "robustness.noise", errors)
    given = {model.positions[name]: said for name, said in body.noise.items() if name in model.positions}
    read = {place: _feature(model.features[place], given[place], errors) for place in sorted(given)}
    return {place: noisy for place, noisy in read.items() if noisy is not None}


def _feature(feature: ModelFeature, said: Any, errors: Errors) -> NoisyFeature | None:
    field = f"robustness.noise.{feature.name}"
    if feature.type == "category":
        errors.add(field, "is a category, and categories have no noise; leave it out")
        return None
    try:
        return NoisyFeature(feature.name, parse_noise(said), feature.whole)
    except ValueError as error:
        errors.add(field, str(error))
        return None


def _models(
    body: RobustnessBody, model: Model, values: tuple[float, ...], catalog: Catalog, caller: Caller, errors: Errors
) -> list[Model]:
    if len(body.models) > MOST_MODELS:
        errors.add("robustness.models", f"must name {MOST_MODELS} at the most")
        return []
    found: list[Model] = []
    offered = [name for name in catalog.models if name != model.name and caller.may_use(name)]
    for index, name in enumerate(body.models):
        field = f"robustness.models[{index}]"
        if name not in offered:
            why = "is the model that is asked" if name == model.name else "is not known"
            errors.add(field, f"{why}; {suggestion(name, offered)}" if offered else why)
        elif flaw := _unlike(catalog.models[name], model, values):
            errors.add(field, flaw)
        elif catalog.models[name] in found:
            errors.add(field, f"names {name[:LONGEST_NAME]!r} twice")
        else:
            found.append(catalog.models[name])
    return found


def _unlike(other: Model, model: Model, values: tuple[float, ...]) -> str | None:
    """Why another model cannot judge the rows of this one."""
    if other.positions.keys() != model.positions.keys():
        name = min(other.positions.keys() ^ model.positions.keys())
        return f"must have the same features: only one of the two models has {name!r}"
    if other.derived:
        return f"must be sent all its features: {other.features[next(iter(other.derived))].name!r} is derived"
    for feature, value in zip(model.features, values, strict=True):
        own = other.features[other.positions[feature.name]]
        if (own.type, own.categories, own.unit) != (feature.type, feature.categories, feature.unit):
            return f"must have the same features: {feature.name!r} has another type, unit or categories"
        if isnan(value) and feature.may_be_missing and not own.may_be_missing:
            return f"does not accept a missing value of {feature.name!r}"
    return None


def _other(other: Model, model: Model) -> OtherModel:
    positions = tuple(other.positions[feature.name] for feature in model.features)
    return OtherModel(other.name, other.scorer, other.favourable, positions)
