"""What the service says in one piece: listings, examples, predictions, subsets, reasons, records."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from flipset_client.lines import Change, Json, ModelIdentity, Prediction, RegistryIdentity, Value

MoveTo: TypeAlias = str | Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ModelListing:
    """A model in the list of all."""

    name: str
    title: str
    version: str
    sha256: str | None
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
    reason: Mapping[str, Json] | None = None
    loinc: tuple[str, ...] = ()
    ucum: str | None = None
    bounds: Mapping[str, Value] | None = None
    # How it is computed from others, which are sent in its place.
    derived: str | None = None


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
    sha256: str | None
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
    protected: tuple[str, ...] = ()
    words: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RegistryFeature:
    """What a registry says of one feature."""

    unit: str | None
    move_to: MoveTo
    allowed: tuple[Value, ...]
    ranges: tuple[RangeListing, ...]
    if_missing: str | Mapping[str, Value] | None
    noise: Mapping[str, Value] | None = None
    reason: Mapping[str, Json] | None = None


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
    weights: Mapping[str, float] | None = None


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


@dataclass(frozen=True, slots=True)
class Necessity:
    """How many of the minimal sets hold a feature; `holds` is `all` if nothing turns the decision without it."""

    share: float
    sets: int
    holds: str


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """How little has to change beside a feature."""

    smallest_set: int
    alone: bool


@dataclass(frozen=True, slots=True)
class Variation:
    """Other values that would have led to another result."""

    sentence: str
    changes: tuple[Change, ...]
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class ReasonStated:
    """A feature that a decision rests on; `text` and `code` are what the registry says a notice should state."""

    rank: int
    feature: str
    title: str | None
    value: Value
    unit: str | None
    low: float | None
    high: float | None
    allowed: tuple[Value, ...] | None
    when: Mapping[str, Json] | None
    status: str
    text: str | None
    code: str | None
    source: str | None
    necessity: Necessity
    sufficiency: Sufficiency
    variation: Variation


@dataclass(frozen=True, slots=True)
class NotConsidered:
    """A feature that could not become a reason: it has no range, is missing, or is protected."""

    feature: str
    why: str


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a decision rests on: at most four reasons, the most necessary first."""

    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    target: Mapping[str, Json]
    prediction: Prediction
    outcome: str
    reasons: tuple[ReasonStated, ...]
    more: int
    minimal_sets: int | None
    without_effect: tuple[str, ...]
    not_considered: tuple[NotConsidered, ...]
    set_aside: tuple[str, ...]
    complete: bool
    stopped_by: str | None
    guarantee: str
    engine: str
    model_rows: int
    elapsed_ms: float
    explanation: str
    note: str
    # Only of an answer that is recorded: the id of its record, and false if that may be missing.
    record: str | None = None
    recorded: bool | None = None


@dataclass(frozen=True, slots=True)
class FeedbackKept:
    """What became of a plan; `at` is when it was first said."""

    record: str
    plan: int
    outcome: str
    reason: str | None
    at: str


@dataclass(frozen=True, slots=True)
class RecordDetails:
    """One record: what was asked, and what was said, as it was sent. What is personal is None once it was erased."""

    id: str
    state: str
    at: str
    model: str
    seq: int | None
    hash: str | None
    outcome: str | None
    sealed: Mapping[str, Json] | None
    terms: Mapping[str, Json] | None
    subject: str | None
    salt: str | None
    request: Mapping[str, Json] | None
    start: Mapping[str, Json] | None
    plans: tuple[Mapping[str, Json], ...] | None
    summary: Mapping[str, Json] | None
    erased_at: str | None
    feedback: tuple[FeedbackKept, ...]


@dataclass(frozen=True, slots=True)
class RecordList:
    """Records of a subject, the oldest first; ask again with `after` for more, unless it is None."""

    records: tuple[RecordDetails, ...]
    after: int | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What proves a record, signed with Ed25519."""

    receipt: str
    salt: str | None

    @property
    def text(self) -> str:
        """The receipt to the last byte, as `flipset verify` reads it from a file."""
        return json.dumps({"receipt": self.receipt, "salt": self.salt}, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """Where a replayed answer differs, such as `summary.count`."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Whether the same question still gets the same answer; `same` is None if it could not be asked again."""

    same: bool | None
    differences: tuple[ReplayDifference, ...]
    compared: str | None


@dataclass(frozen=True, slots=True)
class Erasure:
    """How many records were erased."""

    records: int
