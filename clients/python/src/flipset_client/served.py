"""What the service lists and judges in one piece: models, registries, examples, predictions, subsets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from flipset_client.lines import Json, ModelIdentity, Prediction, RegistryIdentity, Value

MoveTo: TypeAlias = str | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ModelListing:
    """A model in the list of all."""

    name: str
    title: str
    version: str
    sha256: str
    description_sha256: str


@dataclass(frozen=True, slots=True)
class RangeListing:
    """One normal range, and those for whom it holds."""

    low: float | None
    high: float | None
    when: Mapping[str, Json]
    source: str | None


@dataclass(frozen=True, slots=True)
class FeatureListing:
    """A feature of a model, with what its own registry says of it."""

    name: str
    title: str | None
    short: str | None
    unit: str | None
    type: str
    categories: tuple[Value, ...]
    may_be_missing: bool
    default: Value
    move_to: MoveTo | None
    allowed: tuple[Value, ...]
    ranges: tuple[RangeListing, ...]
    if_missing: str | Mapping[str, Value] | None
    noise: Mapping[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class StructureListing:
    """What was read in a model's graph; `why` says why it is opaque."""

    kind: str
    why: str | None


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """All that is said of one model."""

    name: str
    title: str
    version: str
    sha256: str
    description_sha256: str
    classes: tuple[str, ...]
    target: Mapping[str, Json]
    features: tuple[FeatureListing, ...]
    normal_ranges: str | None
    registries: tuple[str, ...]
    examples: tuple[str, ...]
    prototype: Mapping[str, Value]
    training: Mapping[str, Json]
    constraints: Mapping[str, Json]
    policy: Mapping[str, Json]
    key: Mapping[str, Json] | None
    structure: StructureListing | None = None


@dataclass(frozen=True, slots=True)
class RegistryFeature:
    """What a registry says of one feature."""

    unit: str | None
    move_to: MoveTo
    allowed: tuple[Value, ...]
    ranges: tuple[RangeListing, ...]
    if_missing: str | Mapping[str, Value] | None
    noise: Mapping[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class RegistryDetails:
    """One registry of normal ranges."""

    name: str
    title: str
    version: str
    source: str | None
    features: Mapping[str, RegistryFeature]
    constraints: Mapping[str, Json]
    sha256: str


@dataclass(frozen=True, slots=True)
class Example:
    """A request that shows a model at work: `flipset.counterfactuals(model, example)`."""

    name: str
    request: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SinglePrediction:
    """What the model says of one instance."""

    model: ModelIdentity
    target: Mapping[str, Json]
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class SeveralPredictions:
    """What the model says of several instances, in their order."""

    model: ModelIdentity
    target: Mapping[str, Json]
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class SubsetShown:
    """A subset of the movable features, moved to their targets; `role` is `minimal` or `maximal_failing`, or None."""

    features: tuple[str, ...]
    score: float | None
    favourable: bool
    allowed: bool
    role: str | None


@dataclass(frozen=True, slots=True)
class Subsets:
    """All subsets of the movable features; the first is the instance as it stands."""

    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    target: Mapping[str, Json]
    features: tuple[str, ...]
    subsets: tuple[SubsetShown, ...]
