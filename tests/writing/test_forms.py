"""The choice of a form, and how a form frames its lines."""

import json
from itertools import starmap

import pytest

from app.asking.refusals import NotAcceptable
from app.writing.forms import EventStream, JsonLines, OneObject, choose_form


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/x-ndjson"),
        ("", "application/x-ndjson"),
        ("*/*", "application/x-ndjson"),
        ("application/*", "application/x-ndjson"),
        ("text/*", "text/event-stream"),
        ("Application/JSON", "application/json"),
        ("application/json;q=0.2, application/jsonl;q=0.3", "application/jsonl"),
        ("application/json;q=0, */*", "application/x-ndjson"),
        ("*/*;q=0.1, application/json", "application/json"),
        ("text/html, application/xhtml+xml, */*;q=0.8", "application/x-ndjson"),
        ("application/json; charset=utf-8; q=0.5, text/event-stream; q=0.4", "application/json"),
    ],
)
def test_the_form_that_is_liked_best_is_chosen(accept: str | None, media_type: str):
    assert choose_form(accept).media_type == media_type


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "*/*;q=0", "nonsense", "*/*;q=much"])
def test_nothing_acceptable_is_refused(accept: str):
    with pytest.raises(NotAcceptable):
        choose_form(accept)


LINES = [("start", '{"a":1}'), ("counterfactual", "{}"), ("progress", "{}"), ("counterfactual", "{}")]


def test_json_lines():
    assert "".join(starmap(JsonLines().frame, LINES)) == '{"a":1}\n{}\n{}\n{}\n'


def test_an_event_is_named_by_its_type():
    assert EventStream().frame(*LINES[0]) == 'event: start\ndata: {"a":1}\n\n'


@pytest.mark.parametrize("last", ["summary", "error"])
def test_one_object_is_valid_json_however_it_ends(last: str):
    form = OneObject()
    text = "".join(starmap(form.frame, [*LINES, (last, '{"b":2}')]))
    assert json.loads(text) == {"start": {"a": 1}, "counterfactuals": [{}, {}], last: {"b": 2}}


def test_one_object_without_answers():
    form = OneObject()
    text = form.frame("start", "{}") + form.frame("summary", "{}")
    assert json.loads(text) == {"start": {}, "counterfactuals": [], "summary": {}}
