"""The lines of an answer, and what they hold. A key that this version does not know is passed over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union

# What JSON can hold.
Json = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007  # names itself
# A value of a feature: a number, a category, or None if it is missing.
Value: TypeAlias = float | str | None


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answered, to the last bit: `sha256` is of model.onnx, `description_sha256` of model.toml.

    `sha256` is None where the model lives elsewhere.
    """

    name: str
    version: str
    sha256: str | None
    description_sha256: str


@dataclass(frozen=True, slots=True)
class RegistryIdentity:
    """Which registry of normal ranges answered."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ServiceIdentity:
    """Which service answered."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """The decision, and the score of the favourable side."""

    label: str | None
    score: float
    favourable: bool


@dataclass(frozen=True, slots=True)
class LimitsApplied:
    """The limits in force."""

    engine: str
    max_counterfactuals: int | None
    deadline_ms: int
    max_model_rows: int


@dataclass(frozen=True, slots=True)
class RuleInForce:
    """A rule that every answer satisfies; `item` is its path, with the owner in front if that is not the request."""

    item: str
    rule: Json


@dataclass(frozen=True, slots=True)
class FeatureState:
    """One value: its normal range, the target it would move to, and why it may not move."""

    name: str
    title: str | None
    value: Value
    filled: Value
    unit: str | None
    low: float | None
    high: float | None
    allowed: tuple[Value, ...] | None
    when: Mapping[str, Json] | None
    status: str
    target: Value
    movable: bool
    why_not: str | None
    hint: str | None = None
    # The values that it may stop at, the nearest first, or that it may move to, each a way of its own.
    steps: tuple[Value, ...] | None = None
    any_of: tuple[Value, ...] | None = None
    # What is odd about the value: it lies outside the bounds that the model's file calls plausible.
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class UnmatchedContext:
    """A key of the context with a value that no range knows, and what the ranges know."""

    key: str
    known: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class ObservationUsed:
    """The Observation of a Bundle that a value is from; `range` says whose range held."""

    feature: str
    observation: str | None
    effective: str | None
    unit: str | None
    range: str | None


@dataclass(frozen=True, slots=True)
class RobustnessApplied:
    """What the plans are held against; `plans` is of how many it is told at the most, None for all."""

    noise: Mapping[str, Json]
    draws: int
    models: tuple[str, ...]
    require: float | None
    more: str | None
    order: str
    plans: int | None


@dataclass(frozen=True, slots=True)
class Start:
    """The first line: the decision as it stands, and where each value stands."""

    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    prediction: Prediction
    target: Mapping[str, Json]
    limits: LimitsApplied
    unused_context: tuple[str, ...]
    features: tuple[FeatureState, ...]
    service: ServiceIdentity
    rules: tuple[RuleInForce, ...]
    conflicts_ruled_out: bool | None = None
    unmatched_context: tuple[UnmatchedContext, ...] = ()
    robustness: RobustnessApplied | None = None
    # The id of the record, if one is kept.
    record: str | None = None
    observations: tuple[ObservationUsed, ...] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One feature moved to its target; `from_` is `from` on the wire."""

    feature: str
    title: str | None
    from_: Value
    to: Value
    unit: str | None
    direction: str | None
    # Which of the feature's steps, and of how many; None if it has one target.
    step: int | None = None
    steps: int | None = None
    # Where the decision turns if the other changes stay, and how often it was seen to turn on the way.
    enough: float | None = None
    turns: int | None = None


@dataclass(frozen=True, slots=True)
class Consequence:
    """A value that follows from the changes; `from_` is `from` on the wire."""

    feature: str
    title: str | None
    from_: Value
    to: Value
    unit: str | None
    # What it follows from directly, as far as that has moved.
    because_of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherModelSays:
    """What another model says of the changed row, by its own target."""

    name: str
    label: str | None
    score: float
    favourable: bool


@dataclass(frozen=True, slots=True)
class FurtherChanges:
    """Whether a plan holds if further features come into range too; `breaks_with` are the fewest that undo it."""

    holds: bool
    breaks_with: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class BreakingMeasurement:
    """A measurement within three standard deviations that breaks a plan; features that are not named are as planned."""

    measured: Mapping[str, float]
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class Stability:
    """Whether a plan holds: in which share of repeated measurements, for other models, with further changes."""

    share: float | None
    draws: int
    certified: bool | None
    models: tuple[OtherModelSays, ...]
    more: FurtherChanges | None
    counterexample: BreakingMeasurement | None = None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """One plan: a minimal set of changes, and what the model says of the changed row."""

    rank: int
    sentence: str
    changes: tuple[Change, ...]
    cost: float
    prediction: Prediction
    instance: Mapping[str, Value]
    stability: Stability | None = None
    # What follows from the changes; None where nothing can follow.
    consequences: tuple[Consequence, ...] | None = None

    @property
    def score(self) -> float:
        return self.prediction.score

    @property
    def label(self) -> str | None:
        return self.prediction.label


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the search is."""

    complete_up_to: int
    model_rows: int
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Milliseconds in total, in the search, in the model and in the solver."""

    total: float
    search: float
    model: float
    solver: float


@dataclass(frozen=True, slots=True)
class Unsent:
    """A set of changes that is not an answer: a rule forbids it, or it does not turn the decision."""

    sentence: str
    changes: tuple[Change, ...]
    cost: float
    prediction: Prediction
    instance: Mapping[str, Value]
    stability: Stability | None = None
    consequences: tuple[Consequence, ...] | None = None


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Rules to give up together, and one answer that this would open."""

    items: tuple[str, ...]
    counterfactual: Unsent


@dataclass(frozen=True, slots=True)
class NoRecourse:
    """Why nothing was found, and what comes closest."""

    reason: str | None
    complete: bool
    relax: tuple[Relaxation, ...]
    more: int
    best: Unsent | None
    best_without_rules: Unsent | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Proof:
    """Why the answer holds for this model; `inert` are movable features that no answer can need."""

    by: str
    nodes: int
    inert: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StabilityTold:
    """Of how many plans it was told whether they hold, and the rows that the model scored for that."""

    plans: int
    model_rows: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The last line: what was found, and whether that is proved to be all."""

    outcome: str
    count: int
    complete: bool
    complete_up_to: int
    stopped_by: str | None
    guarantee: str
    engine: str
    model_rows: int
    model_calls: int
    solver_checks: int
    elapsed_ms: Elapsed
    changed_in: Mapping[str, int]
    no_recourse: NoRecourse | None
    proof: Proof | None = None
    stability: StabilityTold | None = None
    # False if a record was to be kept and may be missing.
    recorded: bool | None = None


@dataclass(frozen=True, slots=True)
class ProblemField:
    """A field that was refused, and how to fix it; `line` and `column` are those of a mistake in a formula."""

    field: str
    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request was refused, or an answer failed (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: tuple[ProblemField, ...] = ()
    instance: str | None = None

    @property
    def kind(self) -> str:
        """The last part of `type`, such as `invalid-request`."""
        return self.type.rpartition(":")[2]


Line: TypeAlias = Start | Counterfactual | Progress | Summary
