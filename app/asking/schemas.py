"""What comes in: the requests, as they are written in JSON."""

import re
from enum import StrEnum
from math import isinf
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, StrictBool, WithJsonSchema, model_validator

from app.adapters.files.fields import IfMissingField, MoveToField
from app.adapters.files.numbers import CountFromOne, Number, Weight, check_number
from app.adapters.rules.constraints import ConstraintsEntry
from app.core.facts import Engine
from app.core.robust.asked import More, Order


def _context_value(value: Any) -> str | float | bool:
    if isinstance(value, str | bool):
        return value
    if not isinstance(value, int | float):
        raise ValueError("must be text, a number, true or false")
    return check_number(value)


def _value(value: Any) -> float | str | None:
    """Whether it suits its feature is for the model to say; here it only has to be a value at all."""
    return value if value is None or isinstance(value, str) else check_number(value)


def _measured(value: Any) -> float | str | None:
    """The same for a value of the instance. NaN, as tables write a missing value, is for its feature to refuse."""
    # Nearly every value is a finite float; infinity is refused like anything else that is no value.
    return value if isinstance(value, float) and not isinf(value) else _value(value)


ContextValue = Annotated[
    str | float | bool,
    PlainValidator(_context_value),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]


def _category(value: Any) -> float | str:
    return value if isinstance(value, str) else check_number(value)


Category = Annotated[float | str, PlainValidator(_category), WithJsonSchema({"type": ["number", "string"]})]


class Body(BaseModel):
    """An object of a request: no key that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RangeBody(Body):
    """The request's own normal range; it replaces the registry's."""

    low: Number | None = None
    high: Number | None = None
    allowed: list[Category] | None = Field(default=None, description="for a category, instead of low and high")
    move_to: MoveToField | None = Field(
        default=None,
        description="where in the range a value moves, or the steps on the way; by default as the registry says. "
        "Alone, it leaves the registry's range in force",
    )
    if_missing: IfMissingField | None = Field(
        default=None,
        description="what a missing value would become: a value, or target for where the range or guide leads; "
        "by default as the registry says; null: it stays missing. Alone, it leaves the registry's range in force",
    )

    @property
    def is_range(self) -> bool:
        """Whether it takes the place of the registry's range."""
        return self.model_fields_set != {"if_missing"}

    @property
    def is_way(self) -> bool:
        """Whether it says only how to move into the registry's range."""
        return "move_to" in self.model_fields_set and self.model_fields_set <= {"if_missing", "move_to"}


class TargetBody(Body):
    """What counts as favourable: classes and a threshold, or an interval for a regression."""

    classes: list[str] | None = None
    threshold: Number | None = None
    low: Number | None = None
    high: Number | None = None


class LimitsBody(Body):
    """What the search may cost. The server lowers limits that exceed its own."""

    engine: Engine = Engine.AUTO
    max_counterfactuals: CountFromOne | None = None
    deadline_ms: CountFromOne | None = None
    max_model_rows: CountFromOne | None = None


FROM_REGISTRY = "registry"


def _noise(value: Any) -> str | dict[str, Any]:
    """Each entry is read with the model at hand; here it only has to be one of the two forms."""
    if value != FROM_REGISTRY and not isinstance(value, dict):
        raise ValueError("must be an object of features, each with sd or relative, or the text registry")
    return value  # type: ignore[no-any-return]  # one of the two


NOISE = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {"sd": {"type": "number", "minimum": 0}, "relative": {"type": "number", "minimum": 0}},
        "additionalProperties": False,
    },
}


class RobustnessBody(Body):
    """Which errors and which other models a plan is held against, and what is required of it."""

    noise: (
        Annotated[
            str | dict[str, Any],
            PlainValidator(_noise),
            WithJsonSchema({"anyOf": [{"const": FROM_REGISTRY}, NOISE]}),
        ]
        | None
    ) = Field(
        default=None,
        description="a normal error for each feature: its sd in the feature's unit, or relative to its value; "
        "registry: as the registry says, which is the default",
    )
    draws: CountFromOne | None = Field(default=None, description="how often the errors are drawn; 100 by default")
    models: list[str] = Field(default_factory=list, description="other models with the same features")
    require: Number | None = Field(
        default=None, description="answer only with plans that every model approves, in this share of the draws"
    )
    more: More | None = Field(
        default=None,
        description="whether further changes undo a plan: tell says so; require answers only with plans that none does",
    )
    order: Order = Field(
        default=Order.SIZE, description="by cost or stability: at most 10,000 plans, sent when the search has ended"
    )


_VALUE = WithJsonSchema(
    {"type": ["number", "string", "null"], "description": "a number, a category, or null for missing"}
)
Value = Annotated[float | str | None, PlainValidator(_value), _VALUE]
Instance = dict[str, Annotated[float | str | None, PlainValidator(_measured), _VALUE]]
# Frozen, and one for all: pydantic would copy a default that it cannot hash, entry by entry, for each request.
NO_CONSTRAINTS = ConstraintsEntry()
Context = dict[str, ContextValue]


# An id that can stand in a path. Clients and proxies take . and .. out of one, so nobody could erase them.
SUBJECT = r"(?!\.{1,2}$)[A-Za-z0-9._~:@+=-]{1,128}"


def check_subject(value: Any) -> str:
    """`ValueError` unless it is an id that a path can hold as it is."""
    if not isinstance(value, str) or not re.fullmatch(SUBJECT, value):
        raise ValueError("must be an id of 1 to 128 characters of A-Z, a-z, 0-9 and . _ ~ : @ + = -, and not . or ..")
    return value


Subject = Annotated[str, PlainValidator(check_subject), WithJsonSchema({"type": "string", "pattern": f"^{SUBJECT}$"})]


class RecordBody(Body):
    """A request to record the answer, and whom it is about."""

    subject: Subject | None = Field(
        default=None, description="whom the answer is about: an id that means something only to you"
    )


class Became(StrEnum):
    """What became of a plan."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    TRIED = "tried"
    ACHIEVED = "achieved"
    FAILED = "failed"


class WhyDeclined(StrEnum):
    """Why a plan was declined."""

    CANNOT_CHANGE = "cannot_change"
    TOO_COSTLY = "too_costly"
    NOT_TRUE_OF_ME = "not_true_of_me"
    OTHER = "other"


class FeedbackBody(Body):
    """What became of a plan of a recorded answer."""

    plan: CountFromOne = Field(description="the rank of the plan")
    outcome: Became
    reason: WhyDeclined | None = Field(default=None, description="why it was declined; needed then, and only then")

    @model_validator(mode="after")
    def _declined_for_a_reason(self) -> "FeedbackBody":
        if (self.outcome is Became.DECLINED) != (self.reason is not None):
            raise ValueError("the outcome declined needs a reason, and no other outcome takes one")
        return self


class CounterfactualsRequest(Body):
    """One person, and what an answer must satisfy."""

    instance: Instance = Field(description="every feature of the model, by its name")
    context: Context = Field(
        default_factory=dict, description="other facts that decide which range applies, such as sex and age"
    )
    registry: str | None = Field(default=None, description="a registry other than the model's own; null: no ranges")
    target: TargetBody = Field(default=TargetBody(), description="a target other than the model's own")
    normal_ranges: dict[str, RangeBody] = Field(default_factory=dict, description="ranges that replace the registry's")
    guide: dict[str, Value] = Field(default_factory=dict, description="values to move to, for features without a range")
    constraints: ConstraintsEntry = Field(default_factory=lambda: NO_CONSTRAINTS)
    weights: dict[str, Weight] = Field(default_factory=dict, description="how hard a change is; 1 by default")
    robustness: RobustnessBody | None = Field(default=None, description="whether the plans hold")
    least: StrictBool = Field(default=False, description="tell of each changed number how little would be enough")
    limits: LimitsBody = LimitsBody()
    record: RecordBody | None = Field(default=None, description="keep a record of the answer")

    @property
    def names_registry(self) -> bool:
        """Whether the request chooses the registry itself; null is a choice too."""
        return "registry" in self.model_fields_set


class PredictionsRequest(Body):
    """One instance, or several."""

    instance: Instance | None = None
    instances: list[Instance] | None = Field(default=None, min_length=1)
    context: Context = Field(
        default_factory=dict, description="accepted as in a request for counterfactuals; predictions ignore it"
    )
    target: TargetBody = TargetBody()

    @model_validator(mode="after")
    def _one_of_both(self) -> "PredictionsRequest":
        if (self.instance is None) == (self.instances is None):
            raise ValueError("send either instance or instances")
        return self
