"""What Schemathesis is told besides: the forms of an answer, and the lines of a stream, each held to its schema."""

import json
import os
from functools import cache
from typing import Any

import jsonschema_rs
import schemathesis

ACCEPTED = ("*/*", "application/x-ndjson", "application/jsonl", "text/event-stream", "application/json")
STREAMS = ("application/x-ndjson", "application/jsonl", "text/event-stream")
LAST = ("summary", "error")


def content_type_of(response: Any) -> str:
    return str(response.headers.get("content-type", [""])[0]).split(";")[0]


def lines_of(content: bytes, content_type: str) -> list[dict[str, Any]]:
    texts = content.decode().splitlines()
    if content_type == "text/event-stream":
        texts = [text.removeprefix("data: ") for text in texts if text.startswith("data: ")]
    return [json.loads(text) for text in texts]


@schemathesis.deserializer("application/x-ndjson", "application/jsonl")
def last_line(context: Any, response: Any) -> Any:
    """Schemathesis holds one object against the schema of a line; the check below does so with all of them."""
    return lines_of(response.content, content_type_of(response))[-1]


@cache
def line_validator(document: str) -> Any:
    """A validator of one line, from the document that the server has published."""
    published = json.loads(document)
    content = published["paths"]["/v1/models/{model}/counterfactuals"]["post"]["responses"]["200"]["content"]
    schema = {**content["application/x-ndjson"]["itemSchema"], "components": published["components"]}
    return jsonschema_rs.Draft202012Validator(schema)


@schemathesis.check
def every_line_matches_its_schema(context: Any, response: Any, case: Any) -> None:
    """A stream is a start, lines as they are documented, and one last line that is no breakdown."""
    content_type = content_type_of(response)
    if response.status_code != 200 or content_type not in STREAMS:
        return
    lines = lines_of(response.content, content_type)
    validator = line_validator(json.dumps(case.operation.schema.raw_schema))
    for line in lines:
        assert validator.is_valid(line), f"a line of type {line.get('type')!r} is not as it is documented"
    assert lines[0]["type"] == "start"
    assert [line["type"] for line in lines if line["type"] in LAST] == ["summary"]
    assert lines[-1]["type"] == "summary"


@schemathesis.check
def a_full_service_says_when_to_ask_again(context: Any, response: Any, case: Any) -> None:
    """The one answer above 499 that is not a defect."""
    assert response.status_code < 500 or (response.status_code == 503 and "retry-after" in response.headers)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Ask for every form of the answer in turn; the document cannot name the header Accept."""
    if case.operation.path.endswith("/counterfactuals") and "Accept" not in (case.headers or {}):
        before_call.asked = getattr(before_call, "asked", 0) + 1
        case.headers = {**(case.headers or {}), "Accept": ACCEPTED[before_call.asked % len(ACCEPTED)]}


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Where KNOWN_NAMES are given, the document is narrowed to them: else hardly a request would come to a search."""
    if "KNOWN_NAMES" not in os.environ:
        return
    known = json.loads(os.environ["KNOWN_NAMES"])
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] in known:
                    parameter["schema"] = {"enum": known[parameter["name"]]}
    schemas = raw_schema["components"]["schemas"]
    feature = {"enum": known["features"]}
    instance = {
        "type": "object",
        "properties": {name: {"type": "number", "minimum": -100, "maximum": 100} for name in known["features"]},
        "required": known["features"],
        "additionalProperties": False,
    }
    _narrow_request(schemas["CounterfactualsRequest"]["properties"], instance, feature, known["registry"])
    schemas["PredictionsRequest"]["properties"]["instances"] = {"type": "array", "items": instance, "minItems": 1}
    del schemas["PredictionsRequest"]["properties"]["instance"]
    _narrow_constraints(schemas["ConstraintsEntry"]["properties"], feature, known["formulas"])
    schemas["CausalEntry"]["properties"]["cause"] = feature
    schemas["CausalEntry"]["properties"]["effects"]["items"] = feature
    schemas["TargetBody"]["properties"] = {"threshold": {"type": "number", "minimum": 0, "maximum": 1}}


def _narrow_request(properties: dict[str, Any], instance: Any, feature: Any, registries: list[str]) -> None:
    properties["instance"] = instance
    properties["registry"] = {"enum": [*registries, None]}
    for name in ("normal_ranges", "guide", "weights"):
        properties[name]["propertyNames"] = feature


def _narrow_constraints(properties: dict[str, Any], feature: Any, formulas: list[str]) -> None:
    for name in ("immutable", "required"):
        properties[name]["items"] = feature
    for name in ("correlated", "exclusive"):
        properties[name]["items"]["items"] = feature
    for name in ("directions", "max_step"):
        properties[name]["propertyNames"] = feature
    properties["formulas"]["items"] = {"enum": formulas}
