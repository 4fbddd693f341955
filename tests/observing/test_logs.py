"""Lines of the log: what they hold, and that they never hold the text of an error."""

import json
import logging
import sys

import pytest

from app.observing.logs import JsonFormatter, TextFormatter, log_config
from app.observing.observed_requests import ObservedRequest, enter, leave
from app.settings import Settings


def record(*, with_error: bool = False, **extra: object) -> logging.LogRecord:
    error = None
    if with_error:
        try:
            raise ValueError("4711 is the secret")
        except ValueError:
            error = sys.exc_info()
    return logging.getLogger("any").makeRecord("any", logging.INFO, "", 0, "said %s", ("this",), error, extra=extra)


def text_of(line: logging.LogRecord) -> str:
    return TextFormatter("%(levelprefix)s %(message)s", use_colors=False).format(line)


def test_a_line_is_one_object():
    line = JsonFormatter().format(record(facts={"status": 200}))
    assert "\n" not in line
    told = json.loads(line)
    assert (told["level"], told["logger"], told["message"], told["status"]) == ("info", "any", "said this", 200)
    assert told["time"].endswith("+00:00")


def test_text_tells_the_same():
    assert text_of(record(facts={"status": 200})) == "INFO:     said this status=200"


def test_a_line_names_the_request_that_it_is_about():
    token = enter(ObservedRequest("abc"))
    try:
        assert json.loads(JsonFormatter().format(record()))["request_id"] == "abc"
        assert text_of(record()).endswith("request_id=abc")
    finally:
        leave(token)
    assert "request_id" not in json.loads(JsonFormatter().format(record()))


@pytest.mark.parametrize("formatted", [JsonFormatter().format, text_of])
def test_an_error_is_told_by_its_kind_and_place_alone(formatted):
    line = formatted(record(with_error=True))
    assert "ValueError" in line
    assert "test_logs.py" in line
    assert "4711 is" not in line.replace('raise ValueError("4711 is', "").replace('raise ValueError(\\"4711 is', "")


def test_the_form_is_the_one_that_was_asked_for():
    for chosen, formatter in (("json", JsonFormatter), ("text", TextFormatter)):
        config = log_config(Settings(log_format=chosen, log_level="warning"))
        assert config["formatters"]["default"]["()"] is formatter
        assert config["root"]["level"] == "WARNING"


def test_calls_of_other_servers_have_no_lines():
    assert log_config(Settings())["loggers"]["httpx"] == {"level": "WARNING"}
