"""What comes in: the requests, as they are written in JSON."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

from app.adapters.constraints import ConstraintsEntry
from app.adapters.fields import MoveToField
from app.adapters.numbers import CountFromOne, Number, Weight, check_number
from app.core.facts import Engine


def _context_value(value: Any) -> str | float | bool:
    if isinstance(value, str | bool):
        return value
    if not isinstance(value, int | float):
        raise ValueError("must be a text, a number, true or false")
    return check_number(value)


def _value(value: Any) -> float | str | None:
    """Whether it suits its feature is for the model to say; here it only has to be a value at all."""
    return value if value is None or isinstance(value, str) else check_number(value)


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
    """A normal range of the request's own; it replaces the registry's."""

    low: Number | None = None
    high: Number | None = None
    allowed: list[Category] | None = Field(default=None, description="of a category, instead of low and high")
    move_to: MoveToField | None = Field(default=None, description="how it is moved; left out, as the registry has it")


class TargetBody(Body):
    """What counts as favourable: classes and a threshold, or for a regression an interval."""

    classes: list[str] | None = None
    threshold: Number | None = None
    low: Number | None = None
    high: Number | None = None


class LimitsBody(Body):
    """What the search may cost. More than the server allows is lowered to what it allows."""

    engine: Engine = Engine.AUTO
    max_counterfactuals: CountFromOne | None = None
    deadline_ms: CountFromOne | None = None
    max_model_rows: CountFromOne | None = None


Value = Annotated[
    float | str | None,
    PlainValidator(_value),
    WithJsonSchema({"type": ["number", "string", "null"], "description": "a number, a category, or null for missing"}),
]
Instance = dict[str, Value]
# Frozen, and one for all: pydantic would copy a default that it cannot hash, entry by entry, for each request.
NO_CONSTRAINTS = ConstraintsEntry()
Context = dict[str, ContextValue]


class CounterfactualsRequest(Body):
    """One person, and what would have to hold for an answer to be of use."""

    instance: Instance = Field(description="every feature of the model, by its name")
    context: Context = Field(default_factory=dict, description="what is known besides and decides which range holds")
    registry: str | None = Field(default=None, description="another registry than the model's; null: no ranges at all")
    target: TargetBody = Field(default=TargetBody(), description="another target than the model's own")
    normal_ranges: dict[str, RangeBody] = Field(default_factory=dict, description="ranges that replace the registry's")
    guide: dict[str, Value] = Field(default_factory=dict, description="values to move to, for features without a range")
    constraints: ConstraintsEntry = Field(default_factory=lambda: NO_CONSTRAINTS)
    weights: dict[str, Weight] = Field(
        default_factory=dict, description="how hard a change is; 1 where nothing is said"
    )
    limits: LimitsBody = LimitsBody()

    @property
    def names_registry(self) -> bool:
        """Whether the request chooses the registry itself; null is a choice too."""
        return "registry" in self.model_fields_set


class PredictionsRequest(Body):
    """One instance, or several."""

    instance: Instance | None = None
    instances: list[Instance] | None = Field(default=None, min_length=1)
    context: Context = Field(
        default_factory=dict, description="accepted as in a request for counterfactuals; no prediction depends on it"
    )
    target: TargetBody = TargetBody()

    @model_validator(mode="after")
    def _one_of_both(self) -> "PredictionsRequest":
        if (self.instance is None) == (self.instances is None):
            raise ValueError("send either instance or instances")
        return self
