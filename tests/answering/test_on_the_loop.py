"""What is answered on the event loop is known to be small before any work is done."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.adapters.graphs.pacing import MOST_PROMPT_ROWS
from app.answering.events import Finished
from app.answering.on_the_loop import can_pose_on_the_loop
from app.answering.service import Service
from app.asking.schemas import CounterfactualsRequest
from app.settings import Settings
from tests.support import graphs
from tests.support.networks import Network


def serve(folder: Path, features: int, constraints: str = "") -> Service:
    """A model that wants all its features to be 1."""
    names = [f"f{index}" for index in range(features)]
    network = Network(np.ones((features, 1)), np.zeros(1), np.ones(1), 0.5 - features)
    graphs.write_network(folder / "models/m/model.onnx", network)
    graphs.write_model_toml(folder / "models/m", names, registry="r")
    registry = graphs.write_registry(folder / "ranges/r.toml", dict.fromkeys(names, "{ low = 1 }"))
    registry.write_text(registry.read_text() + constraints)
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "ranges")
    service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
    # As on a machine that had nothing else to do when the model was tried.
    service.catalog.models["m"].scorer.prompt_rows = MOST_PROMPT_ROWS
    return service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return serve(tmp_path_factory.mktemp("few"), 6)


def request(features: int, **fields: Any) -> CounterfactualsRequest:
    instance = {f"f{index}": 0 for index in range(features)}
    return CounterfactualsRequest.model_validate({"instance": instance, **fields})


def poses_promptly(service: Service, features: int = 6, **fields: Any) -> bool:
    return can_pose_on_the_loop(request(features, **fields), service.model("m"))


def answers_promptly(service: Service, features: int = 6, **fields: Any) -> bool:
    with service.answering(request(features, **fields), service.model("m")) as answer:
        return answer.is_prompt


def test_an_ordinary_request_is_small(service: Service):
    assert poses_promptly(service)
    assert answers_promptly(service)
    assert poses_promptly(service, constraints={"immutable": ["f1"], "max_changes": 3}, weights={"f0": 2})
    assert poses_promptly(service, registry=None)


@pytest.mark.parametrize("text", ["f0 xor f1", "at_most(3, f0, f1, f2, f3) and (f4 -> not f5)", "f0 and f7"])
def test_a_short_formula_is_small(service: Service, text: str):
    """In a thread it would wait until other searches have had their turns."""
    assert poses_promptly(service, constraints={"formulas": [text]})


def test_an_answer_that_keeps_to_a_short_formula_is_small(service: Service):
    assert answers_promptly(service, constraints={"formulas": ["f0 -> f1"]})
    assert not answers_promptly(service, constraints={"formulas": [" or ".join(["f0"] * 64)]})


def test_what_moves_along_is_worked_out_in_a_thread(service: Service):
    assert poses_promptly(service, constraints={"causal": [{"cause": "f0", "effects": ["f1"]}]})
    along = {"cause": "f0", "effects": [{"feature": "f1", "change": 2}]}
    assert not poses_promptly(service, constraints={"causal": [along]})


@pytest.mark.parametrize(
    "fields",
    [
        {"constraints": {"formulas": [" or ".join(["f0"] * 33)]}},
        {"constraints": {"formulas": ["f0 or f1"] * 22}},
        {"constraints": {"exclusive": [["f0", "f1"]] * 40}},
        {"constraints": {"immutable": ["f7"]}},
        {"weights": {"f7": 1}},
        {"instance": {"f0": 1}},
    ],
)
def test_what_takes_a_while_to_read_or_to_refuse_is_not(service: Service, fields: dict[str, Any]):
    assert not poses_promptly(service, **fields)


@pytest.mark.parametrize("limits", [{"engine": "cemsp"}, {"max_model_rows": 100}])
def test_where_a_solver_may_be_needed_the_answer_is_not(service: Service, limits: dict[str, Any]):
    """Sixty-four subsets, and as many again for an explanation, are more than a hundred rows."""
    assert not answers_promptly(service, limits=limits)


@pytest.mark.parametrize("value", [0, 1])
def test_a_machine_that_was_busy_counts_the_same_rows_and_calls(
    service: Service, monkeypatch: pytest.MonkeyPatch, value: int
):
    scorer, body = service.catalog.models["m"].scorer, request(6)
    body.instance.update({"f0": value} if value == 0 else dict.fromkeys(body.instance, 1))
    counted = set()
    for prompt in (MOST_PROMPT_ROWS, 1):
        monkeypatch.setattr(scorer, "prompt_rows", prompt)
        with service.answering(body, service.model("m")) as answer:
            *_, last = (event for event in answer.events() if isinstance(event, Finished))
        counted.add((last.summary.model_rows, last.summary.model_calls))
    assert len(counted) == 1


def test_where_a_slow_model_must_tell_of_many_plans_the_answer_is_not(tmp_path: Path):
    """Up to 20 plans of 6 moves, each measured 100 times."""
    service = serve(tmp_path, 6, '[features.f0.noise]\nsd = 1\nsource = "made up"\n')
    scorer = service.catalog.models["m"].scorer
    assert answers_promptly(service)
    scorer.prompt_rows = MOST_PROMPT_ROWS // 4
    assert not answers_promptly(service)
    # Without noise there is nothing to tell.
    assert answers_promptly(service, registry=None, guide={"f0": 1})
    assert answers_promptly(service, constraints={"immutable": ["f0", "f1", "f2"]})


def test_many_moves_are_not(tmp_path: Path):
    service = serve(tmp_path, 11)
    assert poses_promptly(service, 11)
    assert not answers_promptly(service, 11)


def test_nothing_is_searched_where_the_decision_is_favourable_already(tmp_path: Path):
    service = serve(tmp_path, 11)
    assert answers_promptly(service, 11, instance={f"f{index}": 1 for index in range(11)})


def test_constraints_on_many_features_may_need_a_solver(tmp_path: Path):
    service = serve(tmp_path, 13, '\n[constraints]\nimmutable = ["f0"]\n')
    assert not poses_promptly(service, 13)
    assert poses_promptly(service, 13, registry=None)
    assert not poses_promptly(service, 13, registry=None, constraints={"immutable": ["f0"]})
