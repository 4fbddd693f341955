"""What the routes say of their answers in /openapi.json: the forms that these come in, and the problems."""

from typing import Any, get_args

from fastapi.responses import PlainTextResponse

from app.api.describing.lines import LINES, Counterfactuals
from app.api.describing.reasons import Reasons
from app.api.describing.shared import Problem
from app.api.describing.whole import Subsets
from app.core.search.all_subsets import MOST_SHOWN
from app.writing.forms import FHIR, MEDIA_TYPES


def _reference(name: str) -> str:
    return f"#/components/schemas/{name}"


_KINDS = {get_args(line.model_fields["type"].annotation)[0]: _reference(line.__name__) for line in LINES}
_LINE_SCHEMA = {
    "description": "One line of a stream. `type` says which it is; the last one is `summary` or `error`.",
    "oneOf": [{"$ref": reference} for reference in _KINDS.values()],
    "discriminator": {"propertyName": "type", "mapping": _KINDS},
}
_LINE = {"$ref": _reference("Line")}
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"enum": list(_KINDS)},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": _LINE},
    },
    "required": ["event", "data"],
}


def _problems(**reasons: str) -> dict[int | str, dict[str, Any]]:
    schema = {"schema": {"$ref": _reference("Problem")}}
    return {
        status.removeprefix("_"): {"description": reason, "content": {"application/problem+json": schema}}
        for status, reason in reasons.items()
    }


_KEYS = _problems(_401="The key is missing or not accepted", _429="The key exceeds its rate")
_ALLOWED = _problems(_403="The key may not use this model, or its rules forbid this request")
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
            _422="Fields of the request are wrong",
            _429="The key exceeds its rate, or the client has too many requests in progress",
            _503="The service is busy or stopping",
        ),
    },
}

RECORDS = {
    **_KEYS,
    **_problems(
        _403="The key lacks a scope, or is not for this model",
        _404="There is no such record, or no records are kept",
        _422="Fields of the request are wrong",
        _503="The store of the records cannot be reached",
    ),
}

REPLAY = _problems(_410="The values of the record were erased", _503="The service is busy, or the store is away")
FEEDBACK = _problems(
    _400="The body is not valid JSON",
    _410="The values of the record were erased",
    _413="The body is too long",
    _415="The body is not sent as JSON",
)

METRICS: dict[str, Any] = {
    "response_class": PlainTextResponse,
    "responses": {200: {"description": "Every name begins with flipset_", "content": {"text/plain": {}}}, **_FOR_ALL},
}

# What the routes take that take a request for counterfactuals.
_OR_A_BUNDLE = {
    "requestBody": {"content": {FHIR: {"schema": {"type": "object", "description": "a Bundle of FHIR R4"}}}}
}

COUNTERFACTUALS: dict[str, Any] = {
    "response_model": None,
    "openapi_extra": _OR_A_BUNDLE,
    "responses": {
        200: {
            "model": Counterfactuals,
            "description": "The answer, in the format that Accept asks for",
            "content": {
                # OpenAPI 3.2 describes an item of a stream by `itemSchema`. Generators of today read `schema`.
                **{media_type: {"schema": _LINE, "itemSchema": _LINE} for media_type in MEDIA_TYPES[:2]},
                # A reader that knows `itemSchema` takes a `schema` beside it for the whole stream of events.
                MEDIA_TYPES[2]: {"itemSchema": _EVENT},
                FHIR: {"schema": {"type": "object", "description": "a RiskAssessment of FHIR R4"}},
            },
        },
        **_problems(_406="The answer has no format that the client accepts"),
    },
}

SUBSETS: dict[str, Any] = {
    "response_model": Subsets,
    "openapi_extra": _OR_A_BUNDLE,
    "description": (
        f"Every subset of the movable features (at most {MOST_SHOWN}) with the model's score, including subsets that "
        "the constraints forbid. Takes the request of /counterfactuals. Only limits.deadline_ms applies; weights and "
        "other limits are ignored."
    ),
}


REASONS: dict[str, Any] = {
    "response_model": Reasons,
    "openapi_extra": _OR_A_BUNDLE,
    "description": (
        "The features outside their ranges that the decision rests on, by all minimal sets that would turn it. Takes "
        "the request of /counterfactuals. Every constraint is set aside, whoever set it: what nobody can change "
        "can be a reason. weights, robustness and limits.max_counterfactuals are ignored."
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
    schemas["Line"] = _LINE_SCHEMA
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
