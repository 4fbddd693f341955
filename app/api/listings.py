"""What is served, written out for whoever wants to know before asking."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from app.adapters.catalog import Catalog
from app.adapters.graphs.models import Model
from app.adapters.keys.key import Key
from app.adapters.rules.constraints import ConstraintsEntry
from app.adapters.rules.policies import PolicyEntry
from app.adapters.rules.registries import KnownFeature, Registry
from app.asking.callers import Caller
from app.asking.policies import offered_registries
from app.core.ranges import MoveTo, Policy
from app.core.through.view import Kind
from app.writing.json_pieces import model_identity, target_json, when_json


class ModelListing(BaseModel):
    """A model in the list of all."""

    name: str
    title: str
    version: str
    sha256: str
    description_sha256: str


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
    short: str | None
    unit: str | None
    type: str
    categories: list[str | float]
    may_be_missing: bool
    default: str | float | None
    move_to: str | dict[str, float] | None
    allowed: list[str | float]
    ranges: list[RangeListing]
    if_missing: str | dict[str, str | float] | None
    noise: dict[str, str | float] | None = Field(
        description="the error of a measurement: sd or relative, and its source"
    )


class KeyListing(BaseModel):
    """What holds for whoever asks with the key: all of these policies, and these constraints."""

    policies: list[PolicyEntry]
    constraints: ConstraintsEntry


class StructureListing(BaseModel):
    """What was read in a model's graph."""

    kind: Kind = Field(description="`opaque`: the model is not seen through")
    why: str | None = Field(description="why it is opaque; null if it is not")


class ModelDetails(ModelListing):
    """All that is said of one model."""

    classes: list[str]
    target: dict[str, Any]
    features: list[FeatureListing]
    normal_ranges: str | None
    registries: list[str]
    examples: list[str]
    structure: StructureListing = Field(description="how far Flipset sees through the model")
    prototype: dict[str, float | str]
    training: dict[str, Any]
    constraints: ConstraintsEntry
    policy: PolicyEntry
    key: KeyListing | None = Field(description="what the rules of the key add to that, where one was sent")


class RegistryFeature(BaseModel):
    """What a registry says of one feature."""

    unit: str | None
    move_to: str | dict[str, float]
    allowed: list[str | float]
    ranges: list[RangeListing]
    if_missing: str | dict[str, str | float] | None
    noise: dict[str, str | float] | None = Field(
        description="the error of a measurement: sd or relative, and its source"
    )


class RegistryDetails(BaseModel):
    """One registry."""

    name: str
    title: str
    version: str
    source: str | None
    features: dict[str, RegistryFeature]
    constraints: ConstraintsEntry
    sha256: str


class Example(BaseModel):
    """A request that shows the model at work."""

    name: str
    request: dict[str, Any]


class ExampleList(BaseModel):
    """The examples of a model."""

    examples: list[Example]


NOTHING_SAID: dict[str, Any] = {"move_to": None, "if_missing": None, "noise": None, "allowed": [], "ranges": []}


def list_models(models: Iterable[Model]) -> ModelList:
    return ModelList(models=[ModelListing(**_identity(model)) for model in models])


def describe_model(model: Model, catalog: Catalog, key: Key | None = None) -> ModelDetails:
    registry = None if model.registry is None else catalog.registries[model.registry]
    caller = Caller.of(key, model.name)
    return ModelDetails(
        **_identity(model),
        classes=list(model.classes),
        target=target_json(model.favourable, model),
        features=_features(model, registry),
        normal_ranges=model.registry,
        registries=offered_registries(model, catalog, caller.policies),
        examples=list(model.examples),
        structure=StructureListing(kind=model.structure.kind, why=model.structure.why),
        prototype=dict(model.prototype),
        training=dict(model.training),
        constraints=model.constraints,
        policy=model.policy,
        key=None if key is None else _of_key(caller),
    )


def _of_key(caller: Caller) -> KeyListing:
    return KeyListing(policies=[policy.entry for policy in caller.policies], constraints=caller.constraints)


def describe_registry(registry: Registry) -> RegistryDetails:
    return RegistryDetails(
        name=registry.name,
        title=registry.title,
        version=registry.version,
        source=registry.source,
        features={
            name: RegistryFeature(unit=known.unit, **_said_of(known)) for name, known in registry.features.items()
        },
        constraints=registry.constraints,
        sha256=registry.sha256,
    )


def list_examples(model: Model) -> ExampleList:
    return ExampleList(examples=[Example(name=name, request=request) for name, request in model.examples.items()])


def _identity(model: Model) -> dict[str, str]:
    return {"title": model.title, **model_identity(model)}


def _features(model: Model, registry: Registry | None) -> list[FeatureListing]:
    known = {} if registry is None else registry.features
    return [
        FeatureListing(
            name=feature.name,
            title=feature.title,
            short=feature.short,
            unit=feature.unit,
            type=feature.type,
            categories=list(feature.categories),
            may_be_missing=feature.may_be_missing,
            default=feature.default,
            **(_said_of(known[feature.name]) if feature.name in known else NOTHING_SAID),
        )
        for feature in model.features
    ]


def _said_of(known: KnownFeature) -> dict[str, Any]:
    """What a registry says of a feature, whatever the model."""
    ranges = [
        RangeListing(low=entry.normal.low, high=entry.normal.high, when=when_json(entry.when), source=entry.source)
        for entry in known.ranges
    ]
    moves = {"move_to": _move_to(known.move_to), "if_missing": _if_missing(known), "noise": _noise(known)}
    return {**moves, "allowed": list(known.allowed), "ranges": ranges}


def _noise(known: KnownFeature) -> dict[str, str | float] | None:
    if known.noise is None:
        return None
    noise, source = known.noise
    return {"relative" if noise.is_relative else "sd": noise.amount, "source": source}


def _if_missing(known: KnownFeature) -> str | dict[str, str | float] | None:
    if known.if_missing is None or known.if_missing.value is None:
        return None if known.if_missing is None else "target"
    return {"value": known.if_missing.value}


def _move_to(move_to: MoveTo) -> str | dict[str, float]:
    if move_to.policy in (Policy.MARGIN, Policy.VALUE):
        return {move_to.policy.value: move_to.amount}
    return move_to.policy.value
