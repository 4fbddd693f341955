"""A graph that draws numbers has no score to explain: it is refused, by the name of what draws or by a trial."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from app.adapters.catalog import load_catalog
from app.adapters.files.flaws import BrokenFiles
from app.adapters.graphs.onnx import UnloadableGraph
from app.adapters.graphs.scorer import ModelScorer
from tests.adapters.graphs.test_onnx import numbers
from tests.cli.test_flipset import flipset
from tests.support import hostile_graphs

node = helper.make_node
RATIO = numpy_helper.from_array(np.array(0.5, dtype=np.float32), "ratio")


def truth(name: str, value: bool) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(value), name)


def added(*draws: onnx.NodeProto) -> list[onnx.NodeProto]:
    return [*draws, node("Add", ["features", "drawn"], ["scores"])]


def chosen(*draws: onnx.NodeProto) -> list[onnx.NodeProto]:
    """The same inside a branch of an If."""
    drawn = [helper.make_tensor_value_info("drawn", TensorProto.FLOAT, [1, 2])]
    plain = [helper.make_tensor_value_info("plain", TensorProto.FLOAT, [1, 2])]
    branches = {
        "then_branch": helper.make_graph([node("Identity", ["nought"], ["plain"])], "plain", [], plain),
        "else_branch": helper.make_graph(draws, "random", [], drawn),
    }
    return [node("If", ["yes"], ["taken"], **branches), node("Add", ["features", "taken"], ["scores"])]


def dropped_out(*mode: str) -> onnx.NodeProto:
    return node("Dropout", ["features", "ratio", *mode], ["scores"])


def with_function() -> onnx.ModelProto:
    """What draws stands in a function of the file's own."""
    model = hostile_graphs.made([node("Shake", ["features"], ["scores"], domain="ours")], domains=["ours"])
    steps = [node("RandomNormalLike", ["x"], ["r"]), node("Add", ["x", "r"], ["y"])]
    model.functions.append(helper.make_function("ours", "Shake", ["x"], ["y"], steps, [helper.make_opsetid("", 17)]))
    return model


RANDOM: dict[str, tuple[str, onnx.ModelProto]] = {
    "RandomNormal": ("RandomNormal", hostile_graphs.made(added(node("RandomNormal", [], ["drawn"], shape=[1, 2])))),
    "with a seed": (
        "RandomUniform",
        hostile_graphs.made(added(node("RandomUniform", [], ["drawn"], shape=[1, 2], seed=1.0))),
    ),
    "RandomNormalLike": (
        "RandomNormalLike",
        hostile_graphs.made(added(node("RandomNormalLike", ["features"], ["drawn"]))),
    ),
    "RandomUniformLike": (
        "RandomUniformLike",
        hostile_graphs.made(added(node("RandomUniformLike", ["features"], ["drawn"]))),
    ),
    "Bernoulli": (
        "Bernoulli",
        hostile_graphs.made(
            added(node("Sigmoid", ["features"], ["chances"]), node("Bernoulli", ["chances"], ["drawn"]))
        ),
    ),
    "Multinomial": (
        "Multinomial",
        hostile_graphs.made(
            added(
                node("Multinomial", ["features"], ["classes"], sample_size=2),
                node("Cast", ["classes"], ["drawn"], to=TensorProto.FLOAT),
            )
        ),
    ),
    "Dropout": ("Dropout", hostile_graphs.made([dropped_out("training")], [RATIO, truth("training", True)])),
    "Dropout that is told by a node": (
        "Dropout",
        hostile_graphs.made([node("Constant", [], ["on"], value=truth("", True)), dropped_out("on")], [RATIO]),
    ),
    "in a branch": (
        "RandomNormal",
        hostile_graphs.made(
            chosen(node("RandomNormal", [], ["drawn"], shape=[1, 2])),
            [truth("yes", True), numpy_helper.from_array(np.zeros((1, 2), dtype=np.float32), "nought")],
        ),
    ),
    "in a function": ("RandomNormalLike", with_function()),
}


def load(folder: Path, graph: onnx.ModelProto) -> None:
    hostile_graphs.write_model(folder, "m", graph)
    (folder / "ranges").mkdir()
    load_catalog(folder / "models", folder / "ranges")


@pytest.mark.parametrize("case", RANDOM)
def test_a_graph_that_draws_numbers_is_refused_by_the_name_of_what_draws(tmp_path: Path, case: str):
    operator, graph = RANDOM[case]
    with pytest.raises(BrokenFiles) as broken:
        load(tmp_path, graph)
    [flaw] = broken.value.flaws
    assert flaw.file.name == "model.onnx"
    assert f"it uses the operator {operator}, which draws" in flaw.reason


def test_dropout_outside_of_training_draws_nothing(tmp_path: Path):
    off = node("Constant", [], ["off"], value=truth("", False))
    nodes = [off, node("Dropout", ["features", "ratio", "off"], ["kept"]), node("Dropout", ["kept"], ["scores"])]
    load(tmp_path, hostile_graphs.made(nodes, [RATIO]))


@pytest.mark.slow
def test_validate_and_inspect_name_what_draws(tmp_path: Path):
    file = hostile_graphs.write_model(tmp_path, "m", RANDOM["in a branch"][1])
    (tmp_path / "ranges").mkdir()
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    done = flipset("validate", **folders)
    assert done.returncode == 1
    assert "m/model.onnx: it uses the operator RandomNormal, which draws" in done.stderr
    assert "it uses the operator RandomNormal, which draws" in flipset("inspect", str(file)).stdout


class Wavering:
    """A graph that never says the same twice, and whose operators have innocent names."""

    dtype = np.dtype(np.float64)

    def __init__(self, since: int) -> None:
        self._runs = 0
        self._since = since

    def runs(self, rows: int) -> int:
        return 1

    def run(self, rows: np.ndarray, runs: Any = None) -> np.ndarray:
        self._runs += 1
        return np.full((len(rows), 2), float(max(self._runs, self._since)))

    def settle_batch(self, rows: np.ndarray) -> None:
        pass


@pytest.mark.parametrize("since", [1, 3])
def test_a_graph_that_scores_the_same_rows_otherwise_is_refused(since: int):
    """On rows of noughts, or on others."""
    scorer = ModelScorer(Wavering(since), numbers(2), "none", 2)  # type: ignore[arg-type]
    with pytest.raises(UnloadableGraph, match="gives other scores for the same rows when asked again"):
        scorer.warm_up()
