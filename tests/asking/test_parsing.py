"""Bodies that hold too much are refused before every mistake in them is named."""

import json
from typing import Any

import pytest

from app.asking.parsing import MOST_ENTRIES, parse_json, read_body
from app.asking.refusals import InvalidRequest, MalformedJson
from app.asking.schemas import CounterfactualsRequest, PredictionsRequest

MANY = MOST_ENTRIES + 1
CROWDED: dict[str, Any] = {
    "body": {f"k{number}": 1 for number in range(MANY)},
    "instance": {"instance": {f"k{number}": [] for number in range(MANY)}},
    "instances": {"instances": [[]] * MANY},
    "constraints.immutable": {"instance": {}, "constraints": {"immutable": [1] * MANY}},
    "constraints.max_step": {"instance": {}, "constraints": {"max_step": {f"k{n}": "x" for n in range(MANY)}}},
}


@pytest.mark.parametrize("field", CROWDED)
def test_a_field_with_too_many_entries_is_named_once(field: str):
    """Pydantic would make a list of all mistakes first, and keep everybody waiting."""
    schema = PredictionsRequest if field == "instances" else CounterfactualsRequest
    with pytest.raises(InvalidRequest) as refused:
        read_body(json.dumps(CROWDED[field]).encode(), schema)
    (error,) = refused.value.errors
    assert (error.field, error.message) == (field, f"holds more than {MOST_ENTRIES:,} entries; send fewer")


def test_a_setting_that_allows_more_is_obeyed():
    body = json.dumps({"instances": [{}] * MANY}).encode()
    assert len(read_body(body, PredictionsRequest, MANY).instances or ()) == MANY


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"a": "b', "Unterminated string starting at line 1, column 7."),
        (b'{"a": ]', "Expecting value at line 1, column 7."),
    ],
)
def test_where_a_body_stops_being_json_is_told(body: bytes, reason: str):
    with pytest.raises(MalformedJson, match=f"^The body is not valid JSON: {reason}$"):
        parse_json(body)
