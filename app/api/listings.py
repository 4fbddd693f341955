"""What is served, for callers who look before they ask."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from app.adapters.catalog import Catalog
from app.adapters.graphs.models import Model
from app.adapters.graphs.said import BoundsEntry, WordsEntry
from app.adapters.keys.key import Key
from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.rules.constraints import ConstraintsEntry
from app.adapters.rules.policies import PolicyEntry
from app.adapters.rules.registries import KnownFeature, ReasonEntry, Registry
from app.asking.callers import Caller
from app.asking.policies import offered_registries
from app.core.findings import SEVERAL
from app.core.ranges import MoveTo, Policy
from app.core.through.view import Kind
from app.writing.json_pieces import model_identity, target_json, when_json


class ModelListing(BaseModel):
    """A model in the list of all."""

    name: str
    title: str
    version: str
    sha256: str | None
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
    bounds: BoundsEntry | None = Field(
        description="what a person may plausibly have; beyond it the page asks, and an answer warns or is refused"
    )
    categories: list[str | float]
    may_be_missing: bool
    default: str | float | None
    move_to: str | dict[str, Any] | None
    allowed: list[str | float]
    ranges: list[RangeListing]
    if_missing: str | dict[str, str | float] | None
    noise: dict[str, str | float] | None = Field(
        description="the error of a measurement: sd or relative, and its source"
    )
    reason: ReasonEntry | None = Field(description="how a notice states the feature as a reason, and by which code")
    loinc: list[str] = Field(description="the codes of an Observation of it")
    ucum: str | None = Field(description="its unit in UCUM")
    derived: str | None = Field(
        description="how it is computed from others, which are sent in its place; null: it is sent"
    )


class KeyListing(BaseModel):
    """What holds for callers with this key: all of these policies, and these constraints."""

    policies: list[PolicyEntry]
    constraints: ConstraintsEntry


class StructureListing(BaseModel):
    """What was read in a model's graph."""

    kind: Kind = Field(description="`opaque`: the model is not seen through")
    why: str | None = Field(description="why it is opaque; null if it is not")


class ModelDetails(ModelListing):
    """Everything about one model."""

    classes: list[str]
    target: dict[str, Any]
    features: list[FeatureListing]
    normal_ranges: str | None
    registries: list[str]
    examples: list[str]
    structure: StructureListing = Field(description="how far Flipset sees through the model")
    prototype: dict[str, float | str]
    training: dict[str, Any]
    words: WordsEntry = Field(description="what the person, the decision and a range are called in the model's field")
    constraints: ConstraintsEntry
    protected: list[str] = Field(description="features that are never stated as a reason")
    policy: PolicyEntry
    key: KeyListing | None = Field(description="what the rules of the key add to that, where one was sent")


class RegistryFeature(BaseModel):
    """What a registry says of one feature."""

    unit: str | None
    move_to: str | dict[str, Any]
    allowed: list[str | float]
    ranges: list[RangeListing]
    if_missing: str | dict[str, str | float] | None
    noise: dict[str, str | float] | None = Field(
        description="the error of a measurement: sd or relative, and its source"
    )
    reason: ReasonEntry | None = Field(description="how a notice states the feature as a reason, and by which code")


class RegistryDetails(BaseModel):
    """One registry."""

    name: str
    title: str
    version: str
    source: str | None
    features: dict[str, RegistryFeature]
    constraints: ConstraintsEntry
    weights: dict[str, float] = Field(description="how hard changes are, where a request does not say")
    sha256: str


class Example(BaseModel):
    """A request that shows the model at work."""

    name: str
    request: dict[str, Any]


class ExampleList(BaseModel):
    """The examples of a model."""

    examples: list[Example]


NOTHING_SAID: dict[str, Any] = {
    **dict.fromkeys(("move_to", "if_missing", "noise", "reason")),
    "allowed": [],
    "ranges": [],
}


def list_models(models: Iterable[Model], language: Language = IN_ENGLISH) -> ModelList:
    return ModelList(models=[ModelListing(**_identity(model, language)) for model in models])


def describe_model(
    model: Model, catalog: Catalog, key: Key | None = None, language: Language = IN_ENGLISH
) -> ModelDetails:
    registry = None if model.registry is None else catalog.registries[model.registry]
    caller = Caller.of(key, model.name)
    return ModelDetails(
        **_identity(model, language),
        classes=list(model.classes),
        target=target_json(model.favourable, model),
        features=_features(model, registry, language),
        normal_ranges=model.registry,
        registries=offered_registries(model, catalog, caller.policies),
        examples=list(model.examples),
        structure=StructureListing(kind=model.structure.kind, why=model.structure.why),
        prototype=dict(model.prototype),
        training=dict(model.training),
        words=model.words,
        constraints=model.constraints,
        protected=list(model.protected),
        policy=model.policy,
        key=None if key is None else _of_key(caller),
    )


def _of_key(caller: Caller) -> KeyListing:
    return KeyListing(policies=[policy.entry for policy in caller.policies], constraints=caller.constraints)


def describe_registry(registry: Registry, language: Language = IN_ENGLISH) -> RegistryDetails:
    return RegistryDetails(
        name=registry.name,
        title=language.registry_title(registry),
        version=registry.version,
        source=registry.source,
        features={
            name: RegistryFeature(unit=known.unit, **_said_of(registry, name, language))
            for name, known in registry.features.items()
        },
        constraints=registry.constraints,
        weights=dict(registry.weights),
        sha256=registry.sha256,
    )


def list_examples(model: Model) -> ExampleList:
    return ExampleList(examples=[Example(name=name, request=request) for name, request in model.examples.items()])


def _identity(model: Model, language: Language) -> dict[str, Any]:
    return {"title": language.title(model), **model_identity(model)}


def _features(model: Model, registry: Registry | None, language: Language) -> list[FeatureListing]:
    return [
        FeatureListing(
            name=feature.name,
            title=feature.title,
            short=feature.short,
            unit=feature.unit,
            type=feature.type,
            bounds=feature.bounds,
            categories=list(feature.categories),
            may_be_missing=feature.may_be_missing,
            default=feature.default,
            loinc=list(feature.loinc),
            ucum=feature.ucum,
            derived=feature.derived,
            **_said_of(registry, feature.name, language),
        )
        for feature in language.features(model)
    ]


def _said_of(registry: Registry | None, feature: str, language: Language) -> dict[str, Any]:
    """What a registry says of a feature, whatever the model."""
    if registry is None or feature not in registry.features:
        return NOTHING_SAID
    known = registry.features[feature]
    ranges = [
        RangeListing(low=entry.normal.low, high=entry.normal.high, when=when_json(entry.when), source=entry.source)
        for entry in known.ranges
    ]
    moves = {"move_to": _move_to(known.move_to), "if_missing": _if_missing(known), "noise": _noise(known)}
    return {**moves, "allowed": list(known.allowed), "ranges": ranges, "reason": language.reason(registry, feature)}


def _noise(known: KnownFeature) -> dict[str, str | float] | None:
    if known.noise is None:
        return None
    noise, source = known.noise
    return {"relative" if noise.is_relative else "sd": noise.amount, "source": source}


def _if_missing(known: KnownFeature) -> str | dict[str, str | float] | None:
    if known.if_missing is None or known.if_missing.value is None:
        return None if known.if_missing is None else "target"
    return {"value": known.if_missing.value}


def _move_to(move_to: MoveTo) -> str | dict[str, Any]:
    if move_to.policy in SEVERAL:
        return {move_to.policy.value: list(move_to.steps) or move_to.count}
    if move_to.policy in (Policy.MARGIN, Policy.VALUE):
        return {move_to.policy.value: move_to.amount}
    return move_to.policy.value
