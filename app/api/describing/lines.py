"""The lines of an answer, and the one object that they make together. A test holds them against what is written."""

from typing import Literal

from pydantic import Field

from app.api.describing.shared import (
    Described,
    Judgement,
    Prediction,
    Problem,
    Value,
)
from app.api.describing.start import Start
from app.core.budget import StoppedBy
from app.core.constraints import Direction
from app.core.facts import Engine, Guarantee, ProvedBy, Reason


class Change(Described):
    """One feature moved to its target."""

    feature: str
    title: str | None
    from_: Value = Field(alias="from", description="null if the value is missing")
    to: Value
    unit: str | None
    direction: Direction | None = Field(description="null for a category, and for a missing value")
    step: int | None = Field(default=None, description="which of the feature's steps; absent if it has one target")
    steps: int | None = Field(default=None, description="how many steps there are; absent if it has one target")
    enough: float | None = Field(
        default=None,
        description="with `least`: where the decision turns if the other changes stay; null for a category, a missing "
        "value, or if there was no time",
    )
    turns: int | None = Field(
        default=None, description="with `least`: how often the decision was seen to turn on the way to the target"
    )


class Consequence(Described):
    """A value that follows from the changes: of a derived feature, or of one that moves along with its causes."""

    feature: str
    title: str | None
    from_: Value = Field(alias="from", description="null if the value is missing")
    to: Value
    unit: str | None
    because_of: list[str] = Field(description="what it follows from directly, as far as that has moved")


class OtherModelSays(Judgement):
    """What another model says of the changed row, by its own target."""

    name: str


class FurtherChanges(Described):
    """Whether the plan still holds if further movable features come into range too."""

    holds: bool
    breaks_with: list[str] | None = Field(
        description="further changes that undo it: with them it is a smallest feasible superset that is unfavourable"
    )


class BreakingMeasurement(Described):
    """A measurement within three standard deviations that breaks a plan."""

    measured: dict[str, float] = Field(description="the noisy features; all others are as the plan has them")
    prediction: Judgement


class Stability(Described):
    """Whether a plan holds."""

    share: float | None = Field(description="of the draws, the share that is favourable; null if there is no noise")
    draws: int
    certified: bool | None = Field(
        description="true if it is proved for every value within three standard deviations, false if one breaks it"
    )
    counterexample: BreakingMeasurement | None = Field(
        description="a measurement that breaks it, if one is known: `certified` is false"
    )
    models: list[OtherModelSays]
    more: FurtherChanges | None = Field(description="null if the model was not asked about all further changes")


class Counterfactual(Described):
    """One minimal set of changes, and what the model says of the changed row."""

    type: Literal["counterfactual"]
    rank: int
    sentence: str = Field(description="the changes as a person would say them")
    changes: list[Change]
    consequences: list[Consequence] | None = Field(
        default=None, description="what follows from the changes; absent where nothing can follow"
    )
    cost: float
    prediction: Prediction
    instance: dict[str, Value]
    stability: Stability | None = Field(
        default=None, description="absent where neither the request nor the registry asks; null where it is not told"
    )


class Progress(Described):
    """How far the search is."""

    type: Literal["progress"]
    complete_up_to: int
    model_rows: int
    elapsed_ms: float


class Elapsed(Described):
    """Milliseconds in total, in the search, in the model and in the solver."""

    total: float
    search: float
    model: float
    solver: float


class Unsent(Described):
    """A set of changes that is not an answer: a rule forbids it, or it does not turn the decision."""

    sentence: str
    changes: list[Change]
    consequences: list[Consequence] | None = Field(
        default=None, description="what follows from the changes; absent where nothing can follow"
    )
    cost: float
    prediction: Prediction
    instance: dict[str, Value]
    stability: Stability | None = Field(default=None, description="if plans are required to hold; absent otherwise")


class Relaxation(Described):
    """Rules to give up together, and one answer that this would open."""

    items: list[str] = Field(
        description="paths in the request; the prefix model:, registry: or key: names another owner"
    )
    counterfactual: Unsent


class NoRecourse(Described):
    """Why nothing was found. If the outcome is `unknown`, there may still be an answer."""

    reason: Reason | None = Field(
        description="why there is no answer; null if the outcome is unknown or the budget ran out first"
    )
    complete: bool = Field(description="whether every subset was checked, feasible or not")
    relax: list[Relaxation] = Field(
        description="sets of rules to give up, smallest first; minimal among the subsets that were checked. "
        "If the outcome is unknown, there may be an answer that gives up none"
    )
    more: int = Field(description="number of further ways that are not listed")
    best: Unsent | None = Field(description="the closest set of changes within the rules; null if none was scored")
    best_without_rules: Unsent | None = Field(
        description="the closest set without the rules, if it is closer than best and "
        "giving up rules does not help; null otherwise"
    )
    threshold: float | None = Field(description="what the score must reach; null: the favourable class must win")


class Proof(Described):
    """Why the answer holds for this model."""

    by: ProvedBy = Field(description="rows that the model scored, or what was read in its graph")
    nodes: int = Field(description="number of sets of changes that were looked at")
    inert: list[str] = Field(description="movable features that no answer can need")


class StabilityTold(Described):
    """Of how many plans it was told, and the rows that the model scored for that, besides those of the search."""

    plans: int
    model_rows: int


class Summary(Described):
    """The last line."""

    type: Literal["summary"]
    outcome: Literal["found", "already_favourable", "no_recourse", "unknown"]
    count: int
    complete: bool = Field(description="every answer was sent, and that is proved for this model")
    complete_up_to: int = Field(description="every minimal answer of at most this many changes has been sent")
    stopped_by: StoppedBy | None = Field(description="null if the search ended by itself")
    guarantee: Guarantee = Field(
        description="assumes_monotone: the search assumed a monotone model, so answers may be missing"
    )
    engine: Engine
    model_rows: int
    model_calls: int
    solver_checks: int
    elapsed_ms: Elapsed
    changed_in: dict[str, int] = Field(description="number of answers that change each feature")
    proof: Proof | None = Field(description="null if nothing is proved for this model")
    stability: StabilityTold | None = Field(
        default=None, description="what it took to judge whether plans hold; absent if none was judged"
    )
    no_recourse: NoRecourse | None = Field(
        description="if the search ended by itself and found nothing; the outcome says whether that is proved"
    )
    recorded: bool | None = Field(
        default=None, description="false if the record may be missing; absent if none was asked for"
    )


class ErrorLine(Described):
    """The last line of a stream that failed midway."""

    type: Literal["error"]
    problem: Problem


class Counterfactuals(Described):
    """The whole answer as one object; `error` replaces `summary` if it failed midway."""

    start: Start
    counterfactuals: list[Counterfactual]
    summary: Summary | None = None
    error: ErrorLine | None = None


LINES = (Start, Counterfactual, Progress, Summary, ErrorLine)
