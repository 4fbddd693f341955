"""What is served, written out for whoever wants to know before asking."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from app.adapters.catalog import Catalog
from app.adapters.constraints import ConstraintsEntry
from app.adapters.models import Model
from app.adapters.registries import KnownFeature, Registry
from app.api.json_pieces import target_json, when_json
from app.core.ranges import MoveTo, Policy


class ModelListing(BaseModel):
    """A model in the list of all."""

    name: str
    title: str
    version: str
    sha256: str


class ModelList(BaseModel):
    """All models."""

    models: list[ModelListing]


class RangeListing(BaseModel):
    """One normal range, and those for whom it holds."""

    low: float | None
    high: float | None
    when: dict[str, Any]
    source: str | None


class FeatureListing(BaseModel):
    """A feature of a model, with what its own registry says of it."""

    name: str
    title: str | None
    unit: str | None
    type: str
    categories: list[str | float]
    may_be_missing: bool
    default: str | float | None
    move_to: str | dict[str, float] | None
    allowed: list[str | float]
    ranges: list[RangeListing]


class ModelDetails(ModelListing):
    """All that is said of one model."""

    classes: list[str]
    target: dict[str, Any]
    features: list[FeatureListing]
    normal_ranges: str | None
    registries: list[str]
    examples: list[str]
    prototype: dict[str, float | str]
    training: dict[str, Any]


class RegistryFeature(BaseModel):
    """What a registry says of one feature."""

    unit: str | None
    move_to: str | dict[str, float]
    allowed: list[str | float]
    ranges: list[RangeListing]


class RegistryDetails(BaseModel):
    """One registry."""

    name: str
    title: str
    version: str
    source: str | None
    features: dict[str, RegistryFeature]
    constraints: ConstraintsEntry


class Example(BaseModel):
    """A request that shows the model at work."""

    name: str
    request: dict[str, Any]


class ExampleList(BaseModel):
    """The examples of a model."""

    examples: list[Example]


def list_models(models: Iterable[Model]) -> ModelList:
    return ModelList(models=[ModelListing(**_identity(model)) for model in models])


def describe_model(model: Model, catalog: Catalog) -> ModelDetails:
    registry = None if model.registry is None else catalog.registries[model.registry]
    return ModelDetails(
        **_identity(model),
        classes=list(model.classes),
        target=target_json(model.favourable, model.classes),
        features=_features(model, registry),
        normal_ranges=model.registry,
        registries=catalog.registries_for(model),
        examples=list(model.examples),
        prototype=dict(model.prototype),
        training=dict(model.training),
    )


def describe_registry(registry: Registry) -> RegistryDetails:
    return RegistryDetails(
        name=registry.name,
        title=registry.title,
        version=registry.version,
        source=registry.source,
        features={name: _registry_feature(known) for name, known in registry.features.items()},
        constraints=registry.constraints,
    )


def _registry_feature(known: KnownFeature) -> RegistryFeature:
    return RegistryFeature(
        unit=known.unit, move_to=_move_to(known.move_to), allowed=list(known.allowed), ranges=_ranges(known)
    )


def list_examples(model: Model) -> ExampleList:
    return ExampleList(examples=[Example(name=name, request=request) for name, request in model.examples.items()])


def _identity(model: Model) -> dict[str, str]:
    return {"name": model.name, "title": model.title, "version": model.version, "sha256": model.sha256}


def _features(model: Model, registry: Registry | None) -> list[FeatureListing]:
    known = {} if registry is None else registry.features
    return [
        FeatureListing(
            name=feature.name,
            title=feature.title,
            unit=feature.unit,
            type=feature.type,
            categories=list(feature.categories),
            may_be_missing=feature.may_be_missing,
            default=feature.default,
            move_to=_move_to(known[feature.name].move_to) if feature.name in known else None,
            allowed=list(known[feature.name].allowed) if feature.name in known else [],
            ranges=_ranges(known[feature.name]) if feature.name in known else [],
        )
        for feature in model.features
    ]


def _ranges(known: KnownFeature) -> list[RangeListing]:
    return [
        RangeListing(low=entry.normal.low, high=entry.normal.high, when=when_json(entry.when), source=entry.source)
        for entry in known.ranges
    ]


def _move_to(move_to: MoveTo) -> str | dict[str, float]:
    if move_to.policy in (Policy.MARGIN, Policy.VALUE):
        return {move_to.policy.value: move_to.amount}
    return move_to.policy.value
