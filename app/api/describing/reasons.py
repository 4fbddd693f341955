"""The reasons for a decision, as they are sent."""

from typing import Any, Literal

from pydantic import Field

from app.answering.reasons import Outcome
from app.api.describing.lines import Change
from app.api.describing.shared import TARGET, Described, ModelIdentity, Prediction, RegistryIdentity, Value
from app.core.budget import StoppedBy
from app.core.facts import Engine, Guarantee
from app.core.ranges import Status


class Necessity(Described):
    """How many of the minimal sets hold the feature."""

    share: float = Field(description="share of all minimal sets, rounded to four digits")
    sets: int
    holds: Literal["all", "some"] = Field(description="all: nothing turns the decision without this feature")


class Sufficiency(Described):
    """How little has to change beside the feature."""

    smallest_set: int = Field(description="size of the smallest minimal set that holds the feature")
    alone: bool = Field(description="whether this feature alone, brought into range, turns the decision")


class Variation(Described):
    """Other values that would have led to another result: the first of the smallest sets that hold the feature."""

    sentence: str
    changes: list[Change]
    prediction: Prediction


class ReasonStated(Described):
    """One feature that the decision rests on."""

    rank: int
    feature: str
    title: str | None
    value: Value
    unit: str | None
    low: float | None
    high: float | None
    allowed: list[Value] | None
    when: dict[str, Any] | None = Field(description="the condition of the chosen range")
    status: Status
    text: str | None = Field(description="what the registry says a notice should state")
    code: str | None = Field(description="the registry's code for it")
    source: str | None = Field(description="where the registry has text and code from")
    necessity: Necessity
    sufficiency: Sufficiency
    variation: Variation


class NotConsidered(Described):
    """A feature that could not become a reason, whatever it does to the decision."""

    feature: str
    why: Literal["no_range", "missing", "protected"]


class Reasons(Described):
    """What a decision rests on."""

    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    target: dict[str, Any] = TARGET
    prediction: Prediction
    outcome: Outcome = Field(
        description="none: no set of features, brought into range, turns the decision; unknown: not every minimal set "
        "is proved to be found, so no reasons are stated"
    )
    reasons: list[ReasonStated] = Field(description="at most four, the most necessary first")
    more: int = Field(description="further features that minimal sets hold")
    minimal_sets: int | None = Field(description="how many there are; null if that is not proved")
    without_effect: list[str] = Field(description="features outside their ranges that no minimal set holds")
    not_considered: list[NotConsidered]
    set_aside: list[str] = Field(description="paths of the constraints that played no part")
    complete: bool = Field(description="whether every minimal set was found, and that is proved")
    stopped_by: StoppedBy | None
    guarantee: Guarantee
    engine: Engine
    model_rows: int
    elapsed_ms: float
    explanation: str = Field(description="the outcome in words")
    note: str = Field(description="what this is not: a legal determination, or a cause")
    record: str | None = Field(
        default=None, description="the id of the record; null if there is no room for one; absent if none was asked for"
    )
    recorded: bool | None = Field(
        default=None, description="false if the record may be missing; absent if none was asked for"
    )
