"""Seen through, not seen through, and brute force over the rows of real graphs: the same lines, scores included."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.core.through.searches import dense, scored
from app.core.through.view import Kind
from app.settings import Settings
from tests.support.answers import lines_of
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.served_sums import Asked, Graph, random_graph, random_request

MODELS = 12
# What may differ between two engines: what the search cost, and how it is proved.
COSTS = ("elapsed_ms", "model_rows", "model_calls", "solver_checks", "engine", "proof")


@pytest.mark.parametrize(
    ("few", "at_once", "first"),
    [
        pytest.param(scored.FEW, True, 190_000, id="all subsets at once"),
        pytest.param(0, True, 1_190_000, id="all subsets at once, the same leaves asked about once"),
        pytest.param(0, False, 2_190_000, id="branch and bound, the same leaves asked about once"),
    ],
)
def test_every_way_of_answering_gives_the_same_lines(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    at_once: bool,
    first: int,
):
    """Also where sets that reach the same leaves are asked about once, however few they are."""
    monkeypatch.setattr(scored, "FEW", few)
    if not at_once:
        monkeypatch.setattr(dense, "suits", lambda margin, moves: False)
    seen: Counter[str] = Counter()
    for round_ in range(scaled(1)):
        seeds = Seeds(MODELS, first=first + round_ * MODELS)
        graphs = {f"m{seed}": random_graph(np.random.default_rng(seed)) for seed in seeds}
        for seed, (name, graph) in zip(seeds, graphs.items(), strict=True):
            graph.write(tmp_path / f"{round_}" / name, [f"c{seed % graph.outputs}"])
        service = served(tmp_path / f"{round_}")
        for name, graph in graphs.items():
            answer_people(service, name, graph, seen)
    # `pytest -rP` shows how many problems were compared.
    print(seen.total() - seen["opaque"], "problems:", dict(seen))  # noqa: T201
    assert seen["found"] > 5 * scaled(1)
    assert seen["no_recourse"]
    # A few draws depend on too much at once for the trial at load.
    assert seen["opaque"] <= MODELS * scaled(1) / 100


def served(folder: Path) -> Service:
    settings = Settings(models_dir=folder, normal_ranges_dir=folder)
    return Service(settings, load_catalog(folder, folder))


def answer_people(service: Service, name: str, graph: Graph, seen: Counter[str]) -> None:
    model = service.model(name).model
    if model.structure.kind is Kind.OPAQUE:
        seen["opaque"] += 1
        return
    for person in range(10):
        asked = random_request(np.random.default_rng((int(name[1:]), person)), graph, model)
        if asked is None or not asked.refused:
            continue
        seen[hold(service, name, asked)] += 1


def hold(service: Service, name: str, asked: Asked) -> str:
    """Compare the three; returns the outcome."""
    told = asked.body | {"limits": {"engine": "through"}}
    through, rows = lines_of(service, told, name), lines_of(service, asked.body | LATTICE, name)
    assert alike(through) == alike(rows), (name, asked.body)
    found = [line for line in through if line["type"] == "counterfactual"]
    truth = asked.truth()
    assert [[change["feature"] for change in line["changes"]] for line in found] == [names for names, _ in truth]
    scores = [type(score)(line["prediction"]["score"]) for line, (_, score) in zip(found, truth, strict=True)]
    assert scores == [score for _, score in truth], (name, asked.body)
    summary = through[-1]
    assert (summary["complete"], summary["guarantee"], summary["engine"]) == (True, "exact", "through")
    return str(summary["outcome"])


LATTICE = {"limits": {"engine": "lattice"}}

node = helper.make_node
# The first of two features is added and taken away again, a tenth of it each time, with the second one in between.
CANCELLING: dict[str, tuple[list[NodeProto], dict[str, list[list[float]]]]] = {
    "linear": (
        [node("Concat", ["x", "x"], ["twice"], axis=1), node("MatMul", ["twice", "w"], ["scores"])],
        {"w": [[0.1], [0.2], [-0.1], [0.0]]},
    ),
    "network": (
        [
            *(node("MatMul", ["x", "u"], ["three"]), node("MatMul", ["three", "w"], ["sum"])),
            *(node("Relu", ["sum"], ["unit"]), node("MatMul", ["unit", "one"], ["scores"])),
        ],
        {"u": [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], "w": [[0.1], [0.2], [-0.1]], "one": [[1.0]]},
    ),
}


@pytest.mark.parametrize("kind", CANCELLING)
def test_a_move_whose_weights_cancel_may_turn_a_close_call_by_rounding(tmp_path: Path, kind: str):
    """0.6 becomes 0.6000724: what is left of a million's tenth, taken from itself in float32."""
    nodes, weights = CANCELLING[kind]
    graph = helper.make_graph(
        nodes,
        kind,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 1])],
        [numpy_helper.from_array(np.array(held, dtype=np.float32), name) for name, held in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    Graph(model, ["number", "number"], 1, missing=False).write(tmp_path / "m", [])
    service = served(tmp_path)
    assert service.model("m").model.structure.kind == kind
    asked = {"instance": {"f0": 0.0, "f1": 3.0}, "registry": None, "guide": {"f0": 1e6}, "target": {"low": 0.60005}}
    rows = lines_of(service, asked | LATTICE, "m")
    # Another processor may add otherwise.
    assert alike(lines_of(service, asked | {"limits": {"engine": "through"}}, "m")) == alike(rows)


def alike(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines without their costs. A level that is settled without a row is not worth a line of its own."""
    kept = [{key: value for key, value in line.items() if key not in COSTS} for line in lines]
    for line in kept:
        if line["type"] == "start":
            line["limits"] = {key: value for key, value in line["limits"].items() if key != "engine"}
    return [line for line in kept if line["type"] != "progress"]
