"""What /openapi.json says of the answers: the lines, the forms that they come in, and the problems."""

from typing import Any, Literal

from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from app.api.forms import MEDIA_TYPES
from app.api.predictions import ModelIdentity, Prediction
from app.core.budget import StoppedBy
from app.core.constraints import Direction
from app.core.facts import Engine, Guarantee, Reason
from app.core.problem import WhyNot
from app.core.ranges import Status
from app.core.subsets import MOST_SHOWN, Role

Value = float | str | None


class Described(BaseModel):
    """An object of an answer. These classes describe what is sent; they do not make it."""

    model_config = ConfigDict(extra="forbid")


class Health(Described):
    """How the service is."""

    status: Literal["alive", "ready"]


class ProblemField(Described):
    """A field that cannot be accepted, and how to mend it."""

    field: str
    message: str
    line: int | None = Field(
        default=None, ge=1, description="of a mistake inside a formula: where it is, from 1; else left out"
    )
    column: int | None = Field(default=None, ge=1, description="the same, in characters from 1")


class Problem(Described):
    """Why a request was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = Field(default=None, description="the request, by the id that X-Request-ID holds too")
    errors: list[ProblemField]


class RegistryIdentity(Described):
    """Which ranges it was."""

    name: str
    version: str


class LimitsApplied(Described):
    """The limits that hold, after lowering them to what the server allows."""

    engine: Engine
    max_counterfactuals: int | None
    deadline_ms: int
    max_model_rows: int


class FeatureState(Described):
    """Where one value stands, where it would be moved, and why it may not."""

    name: str
    title: str | None
    value: Value
    filled: Value = Field(description="what stood in for a missing value")
    unit: str | None
    low: float | None
    high: float | None
    allowed: list[Value] | None = Field(description="of a category")
    when: dict[str, Any] | None = Field(description="the condition of the range that was chosen")
    status: Status
    target: Value
    movable: bool
    why_not: WhyNot | None


class Start(Described):
    """The first line."""

    type: Literal["start"]
    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    prediction: Prediction
    target: dict[str, Any]
    limits: LimitsApplied
    unused_context: list[str] = Field(description="keys of the context that no range asks for")
    features: list[FeatureState]


class Change(Described):
    """One feature moved to its target."""

    feature: str
    title: str | None
    from_: Value = Field(alias="from")
    to: Value
    unit: str | None
    direction: Direction | None = Field(description="null for a category")


class Counterfactual(Described):
    """One minimal set of changes, and what the model says of the changed row."""

    type: Literal["counterfactual"]
    rank: int
    sentence: str = Field(description="the changes as a person would say them")
    changes: list[Change]
    cost: float
    prediction: Prediction
    instance: dict[str, Value]


class Progress(Described):
    """How far the search is."""

    type: Literal["progress"]
    complete_up_to: int
    model_rows: int
    elapsed_ms: float


class Elapsed(Described):
    """Milliseconds: all in all, searching, in the model, in the solver."""

    total: float
    search: float
    model: float
    solver: float


class Unsent(Described):
    """A set of changes that is not an answer: one that is forbidden, or one that does not quite suffice."""

    sentence: str
    changes: list[Change]
    cost: float
    prediction: Prediction
    instance: dict[str, Value]


class Relaxation(Described):
    """Items that are in the way together, and one answer that there would be without them."""

    items: list[str] = Field(description="their paths in the request; registry: before one of the registry's")
    counterfactual: Unsent


class NoRecourse(Described):
    """Why there is no way out."""

    reason: Reason | None = Field(description="null where the budget ended before it was known")
    complete: bool = Field(description="every subset was looked at, feasible or not")
    relax: list[Relaxation] = Field(description="minimal sets of items to give up, smallest first")
    more: int = Field(description="how many more there are")
    best: Unsent | None = Field(description="the subset that comes closest, where giving up constraints does not help")
    threshold: float | None = Field(description="what the score had to reach; null: the favourable class must win")


class Summary(Described):
    """The last line."""

    type: Literal["summary"]
    outcome: Literal["found", "already_favourable", "no_recourse", "unknown"]
    count: int
    complete: bool = Field(description="the search ended by itself; to be read with the guarantee")
    complete_up_to: int = Field(description="every minimal answer of at most so many changes has been sent")
    stopped_by: StoppedBy | None
    guarantee: Guarantee
    engine: Engine
    model_rows: int
    model_calls: int
    solver_checks: int
    elapsed_ms: Elapsed
    changed_in: dict[str, int] = Field(description="in how many answers each feature changes")
    no_recourse: NoRecourse | None


class ErrorLine(Described):
    """The last line of a stream that broke down on the way."""

    type: Literal["error"]
    problem: Problem


class Counterfactuals(Described):
    """The whole answer as one object; `error` takes the place of `summary` where it broke down on the way."""

    start: Start
    counterfactuals: list[Counterfactual]
    summary: Summary | None = None
    error: ErrorLine | None = None


class SubsetShown(Described):
    """A subset of the movable features, moved to their targets."""

    features: list[str] = Field(description="in the model's order")
    score: float | None = Field(description="of the favourable side; null where the model gives no finite one")
    favourable: bool = Field(description="never where there is no score")
    allowed: bool = Field(description="it satisfies every constraint")
    role: Role | None = Field(
        description="minimal: an answer of /counterfactuals; maximal_failing: allowed and not favourable, while all of "
        "its allowed proper supersets are favourable"
    )


class Subsets(Described):
    """All subsets of the movable features, by size and then by positions; the first is the instance as it stands."""

    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    target: dict[str, Any]
    features: list[str] = Field(description="the movable ones, in the model's order")
    subsets: list[SubsetShown]


LINES = (Start, Counterfactual, Progress, Summary, ErrorLine)

_LINE_SCHEMA = {
    "description": "one such object a line",
    "oneOf": [{"$ref": f"#/components/schemas/{line.__name__}"} for line in LINES],
}
_EVENT_SCHEMA = {
    "description": "one such event after the other",
    "type": "object",
    "properties": {
        "event": {"enum": ["start", "counterfactual", "progress", "summary", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": _LINE_SCHEMA},
    },
    "required": ["event", "data"],
}


def _problems(**reasons: str) -> dict[int | str, dict[str, Any]]:
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {
        status.removeprefix("_"): {"description": reason, "content": {"application/problem+json": schema}}
        for status, reason in reasons.items()
    }


_KEYS = _problems(_401="A key is needed, or the one given is not accepted", _429="The key asks more often than it may")
_ALLOWED = _problems(_403="The key may not use this model")
_FOR_ALL = {**_KEYS, **_problems(_403="The key may not use all models")}

PROBLEMS = {
    "ready": {**_FOR_ALL, **_problems(_503="The service is stopping")},
    "listings": _KEYS,
    "named": {**_ALLOWED, **_problems(_404="There is no such model or registry")},
    "work": {
        **_KEYS,
        **_ALLOWED,
        **_problems(
            _400="The body is not valid JSON",
            _404="There is no such model",
            _415="The body is not sent as JSON",
            _413="The body is too long",
            _422="Fields of the request cannot be accepted",
            _503="The service is busy or stopping",
        ),
    },
}

METRICS: dict[str, Any] = {
    "response_class": PlainTextResponse,
    "responses": {200: {"description": "Every name begins with flipset_", "content": {"text/plain": {}}}, **_FOR_ALL},
}

COUNTERFACTUALS: dict[str, Any] = {
    "response_model": None,
    "responses": {
        200: {
            "model": Counterfactuals,
            "description": "The answer, in the form that Accept asks for",
            "content": {
                **{media_type: {"schema": _LINE_SCHEMA} for media_type in MEDIA_TYPES[:2]},
                MEDIA_TYPES[2]: {"schema": _EVENT_SCHEMA},
            },
        },
        **_problems(_406="No form of the answer is acceptable to the client"),
    },
}

SUBSETS: dict[str, Any] = {
    "response_model": Subsets,
    "description": (
        f"Every subset of the movable features, of which there may be {MOST_SHOWN} at the most, with what the model "
        "says of it; also those that the constraints do not allow. The request is that of /counterfactuals. Of its "
        "limits only deadline_ms holds: the others, and the weights, are not used."
    ),
}


def with_lines(document: dict[str, Any]) -> dict[str, Any]:
    """Add what no route returns by itself: the lines of a stream, the problem object, and the keys."""
    schemas = document["components"]["schemas"]
    for described in (Problem, *LINES):
        schema = described.model_json_schema(ref_template="#/components/schemas/{model}", by_alias=True)
        for name, part in schema.pop("$defs", {}).items():
            schemas.setdefault(name, part)
        schemas.setdefault(described.__name__, schema)
    _drop_foreign_errors(document)
    # A key, or none where keys are off.
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"key": []}, {}]
    return document


def _drop_foreign_errors(document: dict[str, Any]) -> None:
    """FastAPI announces its own form of a 422 wherever there is a parameter; ours are problems, and only for bodies."""
    for operations in document["paths"].values():
        for operation in operations.values():
            announced = operation["responses"].get("422", {}).get("content", {})
            if "application/problem+json" not in announced:
                operation["responses"].pop("422", None)
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)
