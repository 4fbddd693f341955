"""What the routes share: limits, stopping, and the question as it is understood."""

import concurrent.futures.thread
import gc
import time
import weakref
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.adapters.rules.formulas import FormulaLimits
from app.answering.answer import Answer
from app.answering.events import Failed, Finished, Started
from app.answering.service import Searchers, Service
from app.answering.under_way import Admitted
from app.asking.posing.question import Purpose
from app.asking.posing.understanding import understand
from app.asking.refusals import Busy, ConflictingConstraints, InvalidRequest, Stopping
from app.asking.schemas import CounterfactualsRequest
from app.core.budget import Budget, Limits, StopFlag
from app.core.facts import Answers, Found, Moment
from app.core.memory import WORTH_GIVING_BACK
from app.core.search.engines import Search
from app.core.turns import run_through
from app.observing.observed_requests import ObservedRequest, enter, leave, under_way
from app.settings import Settings
from tests.support import graphs
from tests.support.networks import Network, at_least
from tests.support.waiting import PATIENCE


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
    return service.answering(request, service.model("m"))


def test_an_answer_is_gone_once_nobody_has_it(service: Service):
    """In a cycle, what it holds would stay until the garbage collector comes, which may be many answers later."""
    gc.collect()
    gc.disable()
    try:
        with ask(service) as answer:
            assert [event for event in answer.events() if isinstance(event, Finished)]
            left = weakref.ref(answer)
        del answer
        assert left() is None
    finally:
        gc.enable()


def low_of_b(service: Service, **fields) -> object:
    with ask(service, **fields) as answer:
        chosen = answer.question.ranges[1]
        return None if chosen is None else chosen.normal.low


def test_a_condition_looks_in_the_context_and_then_in_the_instance(service: Service):
    assert low_of_b(service) == 1
    assert low_of_b(service, instance={"a": 0.7, "b": 0}) == 2
    assert low_of_b(service, context={"a": 0.7}) == 2


def test_a_person_whom_no_range_fits_has_none(service: Service):
    assert low_of_b(service, instance={"a": 0.2, "b": 0}) is None


def test_a_condition_on_text_where_a_number_is_needed_is_refused(service: Service):
    with pytest.raises(InvalidRequest) as refused, ask(service, context={"a": "much"}):
        pass
    assert [error.field for error in refused.value.errors] == ["context.a"]


def test_a_fact_under_a_misspelt_name_is_told(tmp_path: Path):
    graphs.write_network(tmp_path / "models/m/model.onnx", Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5))
    graphs.write_model_toml(tmp_path / "models/m", ["a", "b"], registry="r")
    by_sex = '{ when = { sex = "female" }, low = 1 }, { when = { sex = "male" }, low = 2 }'
    graphs.write_registry(tmp_path / "ranges/r.toml", {"a": by_sex})
    settings = Settings(models_dir=tmp_path / "models", normal_ranges_dir=tmp_path / "ranges")
    service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
    for context, hint in (({"Sex": "female"}, "; you sent 'Sex', which no range uses"), ({"note": 1}, "")):
        with pytest.raises(InvalidRequest) as refused, ask(service, context=context):
            pass
        [error] = refused.value.errors
        assert (error.field, error.message) == ("context.sex", f"is needed to choose the normal range of a{hint}")


def test_a_stop_hoists_the_flag_of_every_answer_under_way(service: Service):
    first, second = Admitted(0), Admitted(0)
    with service.admit(second):
        with service.admit(first):
            assert not first.stop.is_up()
        assert first.stop.is_up()
        assert not second.stop.is_up()
        service.stop()
        assert second.stop.is_up()


def test_a_stopping_service_takes_no_new_work(service: Service):
    service.stop()
    with pytest.raises(Stopping), ask(service):
        pass


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
    wrong = Found((0, 1), 2.0, np.float32(1.0), 1)
    monkeypatch.setattr(Search, "facts", lambda self, engine: iter([Answers.of([wrong])]))
    with ask(service, constraints={"exclusive": [["a", "b"]]}) as answer:
        _, *others = answer.events()
    assert [type(event) for event in others] == [Failed]


def test_the_time_of_an_answer_counts_from_the_arrival_of_the_request(service: Service):
    request = CounterfactualsRequest.model_validate({"instance": {"a": 0, "b": 0}})
    with service.admit(Admitted(time.perf_counter() - 3)) as admitted:
        *_, last = service.pose(request, service.model("m"), admitted).events()
    assert last.summary.elapsed_ms.total >= 3_000


def fill(service: Service, others: ExitStack, count: int) -> None:
    for _ in range(count):
        others.enter_context(service.admit(Admitted(0)))


def test_no_more_answers_are_admitted_than_may_be_under_way(service: Service):
    with ExitStack() as others:
        fill(service, others, service.settings.max_searches - 1)
        with service.admit(Admitted(0)), pytest.raises(Busy):
            fill(service, others, 1)
        fill(service, others, 1)


def test_a_question_that_is_refused_leaves_its_place(service: Service):
    with pytest.raises(InvalidRequest), ask(service, weights={"c": 1}):
        pass
    with ExitStack() as others:
        fill(service, others, service.settings.max_searches)


class Clock:
    """Stands still until it is moved, unless it ticks: then it goes on by that much at every look."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now = 0.0
        self.tick = tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def sixty(folder: Path) -> Service:
    """A model of 60 features that wants all of them to be 1."""
    names = [f"f{index}" for index in range(60)]
    graphs.write_network(folder / "models/m/model.onnx", Network(np.ones((60, 1)), np.zeros(1), np.ones(1), 0.5 - 60))
    graphs.write_model_toml(folder / "models/m", names, registry="r")
    graphs.write_registry(folder / "ranges/r.toml", dict.fromkeys(names, "{ low = 1 }"))
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def of_sixty(**fields) -> CounterfactualsRequest:
    return CounterfactualsRequest.model_validate({"instance": {f"f{index}": 0 for index in range(60)}, **fields})


def test_the_search_for_conflicts_may_take_a_quarter_of_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Forty-nine exclusive ors, of which no solver knows whether all can hold; every turn takes a tenth of a second."""
    rng = np.random.default_rng(0)
    formulas = [" xor ".join(f"f{index}" for index in rng.permutation(60)[:40]) for _ in range(49)]
    service, clock = sixty(tmp_path), Clock()
    monkeypatch.setattr("app.answering.service.time", SimpleNamespace(perf_counter=clock))
    # Who ends late runs goes by the same clock.
    monkeypatch.setattr("app.answering.watchdog.time", SimpleNamespace(perf_counter=clock, sleep=time.sleep))
    body = of_sixty(constraints={"formulas": formulas}, limits={"deadline_ms": 20_000})
    chosen, limits = service.model("m"), service.limits(body.limits)
    for _ in service.posing(body, chosen, Admitted(clock())):
        clock.now += 0.1
    assert clock.now == pytest.approx(5.0, abs=0.11)
    began = clock.now
    # A replay has as long as any request may have: a minute.
    for _ in service.posing_again(body, chosen, Admitted(clock()), limits, Purpose()):
        clock.now += 0.1
    assert clock.now - began == pytest.approx(15.0, abs=0.11)


def test_a_conflict_whose_group_may_be_too_large_says_so(tmp_path: Path):
    """Wherever the time ends: there is no refusal, or one that says what is open, or the smallest group."""
    service = sixty(tmp_path)
    constraints = {"immutable": ["f0", "f1"], "required": ["f0", "f1"], "formulas": ["f2 or f3", "exactly(1, f0, f1)"]}
    told = set()
    for looks in range(1, 200):
        clock = Clock(tick=1)
        budget = Budget(Limits(0, looks), clock, clock(), StopFlag())
        steps = understand(of_sixty(constraints=constraints), *service.model("m"), FormulaLimits(), budget)
        try:
            told.add("not ruled out" if not run_through(steps).conflicts_ruled_out else "no conflict")
        except ConflictingConstraints as refused:
            told.add("open" if "not enough time" in refused.detail else "minimal")
    assert told == {"not ruled out", "open", "minimal"}


def test_a_thread_knows_for_which_request_it_works():
    def name() -> str:
        seen = under_way()
        return "nobody" if seen is None else seen.request_id

    with Searchers(1) as searchers:
        token = enter(ObservedRequest("abc"))
        assert searchers.submit(name).result() == "abc"
        leave(token)
        assert searchers.submit(name).result() == "nobody"


def test_memory_goes_back_even_while_the_threads_that_search_are_given_work(tmp_path: Path):
    """The garbage collector may end a large search in the middle of `submit`, which holds this lock."""
    service = sixty(tmp_path)
    memory = service.memory.of_one("")
    assert memory.hold(WORTH_GIVING_BACK)
    with concurrent.futures.thread._global_shutdown_lock:
        ending = Thread(target=memory.give_back, daemon=True)
        ending.start()
        ending.join(PATIENCE)
        assert not ending.is_alive()


def test_plans_that_are_sent_in_another_order_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All of them are held until the search has ended; `start` says how many there may be."""
    monkeypatch.setattr("app.answering.service.MOST_SORTED", 2)
    names = ["a", "b", "c"]
    graphs.write_network(tmp_path / "models/m/model.onnx", at_least(1, of=3)[1])
    graphs.write_model_toml(tmp_path / "models/m", names, registry="r")
    graphs.write_registry(tmp_path / "ranges/r.toml", dict.fromkeys(names, "{ low = 1 }"))
    settings = Settings(models_dir=tmp_path / "models", normal_ranges_dir=tmp_path / "ranges")
    service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
    for order, limit, told in (("cost", None, 2), ("cost", 9, 2), ("cost", 1, 1), ("size", None, 3)):
        body = {"instance": dict.fromkeys(names, 0), "robustness": {"order": order}}
        body["limits"] = {"max_counterfactuals": limit} if limit else {}
        request = CounterfactualsRequest.model_validate(body)
        with service.answering(request, service.model("m")) as answer:
            (finished,) = [event for event in answer.events() if isinstance(event, Finished)]
            assert answer.limits.max_counterfactuals == (None if order == "size" else told)
        assert (finished.summary.count, finished.summary.complete) == (told, order == "size")


def kept(steps: Generator[Moment, None, Answer], turns: list[Moment]) -> Generator[Moment, None, Answer]:
    """The same work, with a list of its turns."""
    while True:
        try:
            turns.append(next(steps))
        except StopIteration as done:
            return done.value
        yield turns[-1]


@pytest.mark.parametrize(("count", "outcome"), [(18, "already_favourable"), (26, "unknown")])
def test_whether_what_is_favourable_lasts_is_found_out_in_turns(tmp_path: Path, count: int, outcome: str):
    """Beyond 24 moves it is not known, and nothing else is said."""
    names = [f"f{index}" for index in range(count)]
    graphs.write_network(tmp_path / "models/m/model.onnx", at_least(0, of=count)[1])
    graphs.write_model_toml(tmp_path / "models/m", names, registry="r")
    graphs.write_registry(tmp_path / "ranges/r.toml", dict.fromkeys(names, "{ low = 1 }"))
    settings = Settings(models_dir=tmp_path / "models", normal_ranges_dir=tmp_path / "ranges")
    service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
    body = {"instance": dict.fromkeys(names, 0), "robustness": {"more": "require"}}
    request = CounterfactualsRequest.model_validate(body)
    with service.admit(Admitted(time.perf_counter())) as admitted:
        turns: list[Moment] = []
        steps = service.posing(request, service.model("m"), admitted)
        answer = run_through(kept(steps, turns))
        started, *_, finished = answer.events()
    assert isinstance(started, Started)
    assert isinstance(finished, Finished)
    assert started.prediction.favourable[0] == (outcome == "already_favourable")
    assert (len(turns) > 3) == (outcome == "already_favourable")
    assert (finished.summary.outcome, finished.summary.complete) == (outcome, outcome == "already_favourable")
    assert finished.summary.stopped_by == (None if finished.summary.complete else "max_model_rows")
