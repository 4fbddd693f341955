"""Every error has its answer, and no answer tells more than it should."""

import json
import re

import pytest

from app.adapters.graphs.onnx import ModelFailed
from app.adapters.predictors.failures import PredictorUnavailable
from app.api.problems import TABLE, problem, problem_response
from app.asking import refusals
from app.asking.refusals import RequestError


def family(base: type[Exception]) -> set[type[Exception]]:
    return {base}.union(*map(family, base.__subclasses__())) if base.__subclasses__() else {base}


def test_every_error_is_in_the_table():
    assert family(RequestError) - {RequestError} | {ModelFailed, PredictorUnavailable} == set(TABLE)


def test_the_tree_on_top_of_the_file_is_the_tree():
    assert refusals.__doc__ is not None
    for known in TABLE:
        assert re.search(rf"(── |: |, ){known.__name__}\b", refusals.__doc__)


@pytest.mark.parametrize("error", [RuntimeError("4711"), ModelFailed("4711")])
def test_the_text_of_an_unforeseen_error_is_not_told(error: Exception):
    assert "4711" not in json.dumps(problem(error))


def test_a_stopping_server_says_when_to_come_back():
    response = problem_response(refusals.Stopping())
    assert response.status_code == 503
    assert response.headers["retry-after"] == "5"
