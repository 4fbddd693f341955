"""How little would do, through the service: the model itself is asked about the turn and the number short of it."""

import json
import time
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from rich.console import Console

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.asking.refusals import InvalidRequest
from app.asking.schemas import PredictionsRequest
from app.cli.terminal import show
from app.core.turns import run_through
from app.settings import Settings
from tests.support import graphs
from tests.support.answers import events_of, lines_of
from tests.support.live_server import ROOT
from tests.support.scale import scaled
from tests.support.seeds import Seeds

LINEAR = ("salt", "weight", "pulse", "sleep", "coffee", "steps")
WEIGHTS = np.array([1.5, 1.25, 0.7, -2.1, 0.35, -0.9], dtype=np.float32)


def served(folder: Path) -> Service:
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "normal_ranges", stability_plans=0)
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


@pytest.fixture(scope="module")
def service() -> Service:
    return served(ROOT)


@pytest.fixture(scope="module")
def linear(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """A model that adds six numbers up: no more than 20 is favourable."""
    folder = tmp_path_factory.mktemp("linear")
    nodes = [helper.make_node("MatMul", ["features", "weights"], ["scores"])]
    file = folder / "models/linear/model.onnx"
    graphs.save(file, nodes, {"weights": WEIGHTS[:, None]}, len(LINEAR), TensorProto.FLOAT, columns=1)
    toml = graphs.write_model_toml(file.parent, LINEAR, registry="linear")
    outputs = 'kind = "classification"\nclasses = ["no", "yes"]\nfavourable = ["yes"]'
    assert outputs in toml.read_text()
    toml.write_text(toml.read_text().replace(outputs, 'kind = "regression"\nfavourable = { high = 20 }'))
    ranges = {
        name: "{ high = 5 }" if weight > 0 else "{ low = 5 }" for name, weight in zip(LINEAR, WEIGHTS, strict=True)
    }
    graphs.write_registry(folder / "normal_ranges/linear.toml", ranges)
    (file.parent / "examples").mkdir()
    person = {name: 20 if weight > 0 else 2 for name, weight in zip(LINEAR, WEIGHTS, strict=True)}
    (file.parent / "examples/high.json").write_text(json.dumps({"instance": person}))
    return served(folder)


def favours(service: Service, model: str, instances: list[dict[str, Any]]) -> list[bool]:
    body = PredictionsRequest.model_validate({"instances": instances})
    with service.admit(Admitted(time.perf_counter())) as place:
        return run_through(service.predicting(body, service.model(model), place)).verdict.favourable.tolist()


def people(model: str, service: Service, count: int) -> list[dict[str, Any]]:
    """The people of the examples, each with every value somewhat changed."""
    examples = list(service.model(model).model.examples.values())
    whole = {feature.name for feature in service.model(model).model.features if feature.whole}
    found = []
    for seed in Seeds(count):
        rng, example = np.random.default_rng(seed), examples[seed % len(examples)]
        instance = {
            name: value if name in whole else round(value * float(rng.uniform(0.8, 1.3)), 3)
            for name, value in example["instance"].items()
        }
        found.append({**example, "instance": instance, "least": True})
    return found


@pytest.mark.parametrize("model", ["mortgage", "hcv", "thyroid"])
def test_enough_is_favourable_and_one_number_short_of_it_is_not(service: Service, model: str):
    check_enough(service, model)


def test_so_it_is_with_a_linear_model(linear: Service):
    assert linear.model("linear").model.structure.kind == "linear"
    check_enough(linear, "linear")


def check_enough(service: Service, model: str) -> int:
    """How many answers had their numbers held against the model, with each the number short of it."""
    checked = 0
    for body in people(model, service, scaled(12)):
        answers = [line for line in lines_of(service, body, model) if line["type"] == "counterfactual"]
        rows, expected = [], []
        for answer in answers:
            held = len(rows)
            for change in answer["changes"]:
                name, before, enough = change["feature"], change["from"], change["enough"]
                assert min(before, change["to"]) <= enough <= max(before, change["to"])
                if enough == before:
                    continue
                integer = isinstance(body["instance"][name], int)
                towards = np.float32(before)
                short = (
                    enough - np.sign(change["to"] - before) if integer else np.nextafter(np.float32(enough), towards)
                )
                rows += [{**answer["instance"], name: enough}, {**answer["instance"], name: float(str(short))}]
                expected += [True, False]
            checked += len(rows) > held
        assert not rows or favours(service, model, rows) == expected
    assert checked
    return checked


def test_it_is_told_only_if_it_is_asked_for(service: Service):
    (body,) = people("mortgage", service, 1)
    told = lines_of(service, body, "mortgage")
    plain = lines_of(service, {**body, "least": False}, "mortgage")
    for line in told:
        for change in line.get("changes", ()):
            del change["enough"], change["turns"]
    assert told[:-1] == plain[:-1] or {line["type"] for line in told} >= {"progress"}
    assert [line.get("changes") for line in told] == [line.get("changes") for line in plain]
    assert told[-1]["model_rows"] == plain[-1]["model_rows"]


def test_the_terminal_says_what_would_be_enough_and_no_endless_costs(service: Service):
    request = service.model("mortgage").model.examples["several-ways"]
    steps = {"pirat": {"move_to": {"steps": [0.4, 0.38, 0.36]}}}
    body = {**request, "normal_ranges": steps, "least": True}
    console = Console(file=StringIO(), width=160)
    show(events_of(service, body, "mortgage"), console)
    drawn = console.file.getvalue()
    told = [change for line in lines_of(service, body, "mortgage") for change in line.get("changes", ())]
    assert told
    for change in told:
        assert f"{change['enough']} is enough" in drawn
    assert " 1.3333 " in drawn


def test_with_required_plans_it_is_refused(service: Service):
    (body,) = people("mortgage", service, 1)
    body["robustness"] = {"noise": {"pirat": {"sd": 0.01}}, "require": 0.9}
    with pytest.raises(InvalidRequest) as refused:
        lines_of(service, body, "mortgage")
    assert [error.field for error in refused.value.errors] == ["least"]
