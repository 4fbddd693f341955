"""What a service takes on, and what it turns away: the most answers, requests that come late, and a stop meanwhile."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.answering.on_the_loop import can_pose_on_the_loop
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.api.problems import Busy, Stopping
from app.asking.schemas import CounterfactualsRequest, LimitsBody, PredictionsRequest
from app.core.budget import Budget
from app.core.turns import run_through
from app.settings import Settings
from tests.support import graphs
from tests.support.answers import lines_of
from tests.support.networks import Network

NAMES = [f"f{index}" for index in range(6)]
INSTANCE = dict.fromkeys(NAMES, 0)
# So late that no margin makes up for it.
LATE = 3_600


def settings_of(folder: Path, constraints: str = "") -> Settings:
    """A model of six features for which any three changes suffice."""
    network = Network(np.ones((6, 1)), np.zeros(1), np.ones(1), -2.5)
    graphs.write_network(folder / "models/m/model.onnx", network)
    graphs.write_model_toml(folder / "models/m", NAMES, registry="r")
    registry = graphs.write_registry(folder / "ranges/r.toml", dict.fromkeys(NAMES, "{ low = 1 }"))
    registry.write_text(registry.read_text() + constraints)
    return Settings(models_dir=folder / "models", normal_ranges_dir=folder / "ranges")


def serve(folder: Path, constraints: str = "", kind: type[Service] = Service) -> Service:
    settings = settings_of(folder, constraints)
    return kind(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def request(**fields: Any) -> CounterfactualsRequest:
    return CounterfactualsRequest.model_validate({"instance": INSTANCE, **fields})


@pytest.mark.parametrize(("wanted", "sent"), [(None, 4), (3, 3), (4, 4), (5, 4)])
def test_no_more_answers_are_sent_than_the_service_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: int | None, sent: int
):
    """There are twenty. Who wants fewer gets fewer, and nobody gets more."""
    monkeypatch.setenv("FLIPSET_MAX_COUNTERFACTUALS", "4")
    service = serve(tmp_path)
    lines = lines_of(service, request(limits={"max_counterfactuals": wanted}), "m")
    assert lines[0]["limits"]["max_counterfactuals"] == sent
    assert sum(line["type"] == "counterfactual" for line in lines) == sent
    assert lines[-1]["stopped_by"] == "max_counterfactuals"


def late(service: Service) -> float:
    """When a request came whose deadline is long over."""
    return time.perf_counter() - service.limits(LimitsBody()).deadline_seconds - LATE


def test_a_search_whose_turn_comes_after_its_deadline_is_turned_away(tmp_path: Path):
    service = serve(tmp_path)
    with pytest.raises(Busy):
        service.pose(request(), service.model("m"), Admitted(late(service)))


def test_so_are_subsets(tmp_path: Path):
    service = serve(tmp_path)
    question = run_through(service.understanding(request(), service.model("m"), Admitted(time.perf_counter())))
    with pytest.raises(Busy):
        run_through(service.scoring_subsets(question, LimitsBody(), Admitted(late(service))))


def test_so_are_predictions(tmp_path: Path):
    service = serve(tmp_path)
    body = PredictionsRequest.model_validate({"instance": INSTANCE})
    with pytest.raises(Busy):
        run_through(service.predicting(body, service.model("m"), Admitted(late(service))))


class StoppedMeanwhile(Service):
    """It is told to stop while an instance is about to be judged; the flags of its answers are not up yet."""

    def _budget(self, *args: Any) -> Budget:
        self.budgets = getattr(self, "budgets", 0) + 1
        # The first is that of the search for conflicts.
        self._under_way.stopping = self.budgets == 2
        return super()._budget(*args)


def test_a_stop_between_the_question_and_its_answer_is_told_as_a_refusal(tmp_path: Path):
    """Not by a stream that ends as soon as it has begun: the client can ask another server."""
    service = serve(tmp_path, kind=StoppedMeanwhile)
    with pytest.raises(Stopping):
        service.pose(request(), service.model("m"), Admitted(time.perf_counter()))
    assert service.budgets == 2


def answers_promptly(service: Service, **fields: Any) -> bool:
    with service.answering(request(**fields), service.model("m")) as answer:
        return answer.is_prompt


def test_where_there_are_many_constraints_the_answer_is_not_given_on_the_event_loop(tmp_path: Path):
    service = serve(tmp_path)
    for count, prompt in ((8, True), (9, False)):
        pairs = {"exclusive": [["f0", "f1"]] * count}
        assert can_pose_on_the_loop(request(constraints=pairs), service.model("m"))
        assert answers_promptly(service, constraints=pairs) is prompt


def test_where_there_are_long_formulas_the_answer_is_not_given_on_the_event_loop(tmp_path: Path):
    """With very many, in the request or the registry, the question is not even posed there."""
    plain = serve(tmp_path / "plain")
    assert answers_promptly(plain)
    assert not answers_promptly(plain, constraints={"formulas": [" or ".join(["f0"] * 64)]})
    many = serve(tmp_path / "many", f"\n[constraints]\nformulas = {['f0 or f1'] * 40}\n")
    assert not can_pose_on_the_loop(request(), many.model("m"))
    assert can_pose_on_the_loop(request(registry=None), many.model("m"))
