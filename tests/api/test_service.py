"""What the routes share: limits, stopping, and the question as it is understood."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.api.errors import Busy, InvalidRequest, Stopping
from app.api.exchanges import Exchange, enter, leave, under_way
from app.api.schemas import CounterfactualsRequest
from app.api.service import Searchers, Service
from app.core.engines import Search
from app.core.facts import Answers, Found
from app.settings import Settings
from tests import graphs
from tests.networks import Network


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """A model of two features that wants both to be 1; the range of b depends on a person's age, or else on a."""
    graphs.write_network(tmp_path / "models/m/model.onnx", Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5))
    graphs.write_model_toml(tmp_path / "models/m", ["a", "b"], registry="r")
    by_a = "{ when = { a = { high = 0 } }, low = 1 }, { when = { a = { low = 0.5 } }, low = 2 }"
    graphs.write_registry(tmp_path / "ranges/r.toml", {"a": "{ low = 1 }", "b": by_a})
    settings = Settings(models_dir=tmp_path / "models", normal_ranges_dir=tmp_path / "ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def ask(service: Service, **fields):
    request = CounterfactualsRequest.model_validate({"instance": {"a": 0, "b": 0}, **fields})
    return service.answer(request, service.model("m"))


def low_of_b(service: Service, **fields) -> object:
    return json.loads(ask(service, **fields).start().text)["features"][1]["low"]


def test_a_condition_looks_in_the_context_and_then_in_the_instance(service: Service):
    assert low_of_b(service) == 1
    assert low_of_b(service, instance={"a": 0.7, "b": 0}) == 2
    assert low_of_b(service, context={"a": 0.7}) == 2


def test_a_person_whom_no_range_fits_has_none(service: Service):
    assert low_of_b(service, instance={"a": 0.2, "b": 0}) is None


def test_a_condition_on_text_where_a_number_is_needed_is_refused(service: Service):
    with pytest.raises(InvalidRequest) as refused:
        ask(service, context={"a": "much"})
    assert [error.field for error in refused.value.errors] == ["context.a"]


def test_a_stop_hoists_the_flag_of_every_answer_under_way(service: Service):
    first, second = ask(service), ask(service)
    service.end(first)
    assert first.stop.is_up()
    assert not second.stop.is_up()
    service.stop()
    assert second.stop.is_up()


def test_a_stopping_service_takes_no_new_work(service: Service):
    service.stop()
    with pytest.raises(Stopping):
        ask(service)


def test_a_missing_value_is_no_fact_for_a_condition(tmp_path: Path):
    """The range of b depends on a; where a is missing, a later range serves."""
    graphs.write_network(tmp_path / "models/m/model.onnx", Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5))
    description = graphs.write_model_toml(tmp_path / "models/m", ["a", "b"], registry="r")
    description.write_text(description.read_text().replace('name = "a"', 'name = "a"\ndefault = 0'))
    graphs.write_registry(tmp_path / "ranges/r.toml", {"b": "{ when = { a = { high = 0 } }, low = 1 }, { low = 3 }"})
    settings = Settings(models_dir=tmp_path / "models", normal_ranges_dir=tmp_path / "ranges")
    service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
    assert low_of_b(service, instance={"a": 0, "b": 0}) == 1
    assert low_of_b(service, instance={"a": None, "b": 0}) == 3


def test_an_answer_that_breaks_a_constraint_goes_no_further(service: Service, monkeypatch: pytest.MonkeyPatch):
    """Should an engine ever come up with one: the stream ends with an error instead."""
    answer = ask(service, constraints={"exclusive": [["a", "b"]]})
    wrong = Found((0, 1), 2.0, np.float32(1.0), 1)
    monkeypatch.setattr(Search, "facts", lambda self, engine: iter([Answers.of([wrong])]))
    (line,) = [line for line in answer.rest() if line is not None]
    assert line.kind == "error"


def test_the_time_of_an_answer_counts_from_the_arrival_of_the_request(service: Service):
    request = CounterfactualsRequest.model_validate({"instance": {"a": 0, "b": 0}})
    answer = service.pose(request, service.model("m"), service.admit(), time.perf_counter() - 3)
    *_, summary = (line for line in answer.rest() if line is not None)
    assert json.loads(summary.text)["elapsed_ms"]["total"] >= 3_000


def test_no_more_answers_are_admitted_than_may_be_under_way(service: Service):
    flags = [service.admit() for _ in range(service.settings.max_searches)]
    with pytest.raises(Busy):
        service.admit()
    service.release(flags[0])
    service.admit()


def test_a_question_that_is_refused_leaves_its_place(service: Service):
    with pytest.raises(InvalidRequest):
        ask(service, weights={"c": 1})
    assert [service.admit() for _ in range(service.settings.max_searches)]


def test_a_thread_knows_for_which_request_it_works():
    def name() -> str:
        seen = under_way()
        return "nobody" if seen is None else seen.request_id

    with Searchers(1) as searchers:
        token = enter(Exchange("abc"))
        assert searchers.submit(name).result() == "abc"
        leave(token)
        assert searchers.submit(name).result() == "nobody"
