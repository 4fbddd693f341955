"""The first line of an answer."""

from typing import Any, Literal

from pydantic import Field

from app.api.describing.shared import (
    TARGET,
    Described,
    ModelIdentity,
    Prediction,
    RegistryIdentity,
    Value,
)
from app.core.facts import Engine
from app.core.findings import WhyNot
from app.core.ranges import Status
from app.core.robust.asked import More, Order


class ServiceIdentity(Described):
    """The service that answered."""

    name: Literal["flipset"]
    version: str


class RuleInForce(Described):
    """A rule that every answer satisfies."""

    item: str = Field(description="path in the constraints; the prefix model:, registry: or key: names another owner")
    rule: Any = Field(description="the rule as written there")


class UnmatchedContext(Described):
    """A key of the context with a value that no range knows."""

    key: str
    known: list[Any] = Field(description="what the ranges know: values, or intervals with low and high")


class LimitsApplied(Described):
    """The limits in force, after lowering them to what the server allows."""

    engine: Engine
    max_counterfactuals: int | None
    deadline_ms: int
    max_model_rows: int


class FeatureState(Described):
    """One value: its normal range, the target it would move to, and why it may not move."""

    name: str
    title: str | None
    value: Value
    filled: Value = Field(description="the default used for a missing value")
    unit: str | None
    low: float | None
    high: float | None
    allowed: list[Value] | None = Field(description="allowed values of a category; null for a number")
    when: dict[str, Any] | None = Field(description="the condition of the chosen range")
    status: Status
    target: Value
    movable: bool
    why_not: WhyNot | None
    hint: str | None = Field(default=None, description="how to let a missing value move; absent otherwise")
    steps: list[Value] | None = Field(
        default=None, description="the values that it may stop at, the nearest first; absent if there is one target"
    )
    any_of: list[Value] | None = Field(
        default=None, description="the values that it may move to, each a way of its own; absent otherwise"
    )
    warning: str | None = Field(
        default=None, description="that the value is outside of the bounds that the model gives; absent otherwise"
    )


class ObservationUsed(Described):
    """The Observation that a value is from."""

    feature: str
    observation: str | None = Field(description="reference to the Observation")
    effective: str | None = Field(description="when it was measured, as written there")
    unit: str | None = Field(description="the unit it came in; `value` of the feature is in the model's")
    range: Literal["observation", "registry"] | None = Field(description="whose range held; null: neither has one")


class RobustnessApplied(Described):
    """What the plans are held against."""

    noise: dict[str, Any] = Field(description="by feature: sd in its unit, or relative to its value")
    draws: int
    models: list[str]
    require: float | None
    more: More | None
    order: Order
    plans: int | None = Field(description="how many plans are judged at most; null: all")


class Start(Described):
    """The first line."""

    type: Literal["start"]
    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    prediction: Prediction
    target: dict[str, Any] = TARGET
    limits: LimitsApplied
    unused_context: list[str] = Field(description="keys of the context that no range uses")
    unmatched_context: list[UnmatchedContext] = Field(
        description="keys of the context with a value that no condition of a range knows, such as f for female"
    )
    features: list[FeatureState]
    service: ServiceIdentity
    rules: list[RuleInForce] = Field(
        description="all rules in force: the model's, the registry's, the key's and the request's"
    )
    conflicts_ruled_out: Literal[False] | None = Field(
        default=None, description="false if there was not enough time to rule out contradicting rules; absent otherwise"
    )
    robustness: RobustnessApplied | None = Field(
        default=None, description="what the plans are held against; absent where nothing is"
    )
    record: str | None = Field(
        default=None, description="the id of the record; null if there is no room for one; absent if none was asked for"
    )
    observations: list[ObservationUsed] | None = Field(
        default=None, description="where the values of a Bundle are from; absent otherwise"
    )
