"""Scores as they leave the graph, against NumPy and against the original library's way of computing them."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from app.adapters.catalog import load_catalog
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.feeds import UnusableGraph
from app.adapters.graphs.onnx import ModelFailed, OnnxGraph, UnloadableGraph, open_session
from app.adapters.graphs.pacing import batch_rows_for
from app.adapters.graphs.scorer import ModelScorer
from tests.support import graphs
from tests.support.live_server import FLIPSET, ROOT
from tests.support.networks import random_case

LOGITS = np.array([[-3.0, 2.0], [0.0, 0.0], [500.0, -500.0], [1e-3, 2e-3]])


def scorer_of(file: Path, activation: str, width: int = 2, columns: int = 2) -> ModelScorer:
    features = numbers(width)
    graph = OnnxGraph(file.read_bytes(), features, None, ["no", "yes"])
    return ModelScorer(graph, features, activation, columns)


def numbers(count: int) -> list[ModelFeature]:
    return [ModelFeature(f"f{index}", None, None, "number") for index in range(count)]


def pass_through(file: Path, width: int) -> Path:
    node = helper.make_node("Identity", ["features"], ["scores"])
    graphs.save(file, [node], {}, width, TensorProto.DOUBLE, columns=width)
    return file


def test_softmax(tmp_path: Path):
    scores = scorer_of(pass_through(tmp_path / "m.onnx", 2), "softmax")(LOGITS)
    expected = [[1 / (1 + np.exp(min(b - a, 700))), 1 / (1 + np.exp(min(a - b, 700)))] for a, b in LOGITS]
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-300)


def test_one_logit_is_the_second_of_two_classes(tmp_path: Path):
    scorer = scorer_of(pass_through(tmp_path / "m.onnx", 1), "sigmoid", width=1)
    scores = scorer(np.array([[-800.0], [-1.0], [0.0], [2.0], [800.0]]))
    second = np.array([0.0, 1 / (1 + np.e), 0.5, 1 / (1 + np.exp(-2)), 1.0])
    np.testing.assert_allclose(scores, np.stack([1 - second, second], axis=1), atol=1e-15)


@pytest.mark.parametrize("input_type", [TensorProto.FLOAT, TensorProto.DOUBLE])
def test_scores_do_not_depend_on_the_size_of_the_batch(tmp_path: Path, input_type: int):
    _, network = random_case(4)
    width = len(network.first)
    graphs.write_network(tmp_path / "m.onnx", network, input_type=input_type)
    scorer = scorer_of(tmp_path / "m.onnx", "softmax", width)
    rows = np.random.default_rng(0).normal(size=(1_000, width)).astype(scorer.dtype)
    together = scorer(rows)
    for size in (1, 7, 64):
        apart = np.concatenate([scorer(rows[start : start + size]) for start in range(0, len(rows), size)])
        assert apart.tobytes() == together.tobytes()


def test_scores_of_boosted_trees_do_not_depend_on_the_size_of_the_batch():
    """With more than one thread in a session they do."""
    scorer = load_catalog(ROOT / "models", ROOT / "normal_ranges").models["mortgage"].scorer
    rows = np.random.default_rng(0).uniform(0, 3, size=(2_000, 10)).astype(np.float32)
    together = scorer(rows)
    for size in (1, 8, 64):
        apart = np.concatenate([scorer(rows[start : start + size]) for start in range(0, len(rows), size)])
        assert apart.tobytes() == together.tobytes()


def test_a_graph_that_does_not_keep_its_rows_is_refused(tmp_path: Path):
    node = helper.make_node("ReduceMean", ["features"], ["scores"], axes=[0], keepdims=1)
    graphs.save(tmp_path / "m.onnx", [node], {}, 2, TensorProto.DOUBLE)
    with pytest.raises(ModelFailed):
        scorer_of(tmp_path / "m.onnx", "none")(np.zeros((3, 2)))


@pytest.mark.parametrize(("seconds_a_row", "rows"), [(1e-7, 4_096), (1e-5, 4_096), (1e-4, 256), (0.02, 1), (3.0, 1)])
def test_the_slower_the_model_the_smaller_its_batches(seconds_a_row: float, rows: int):
    assert batch_rows_for(lambda count: count * seconds_a_row) == rows


def test_a_model_that_breaks_down_tells_nothing_of_the_rows(tmp_path: Path):
    """Gather by an index that is out of bounds quotes that index in its message."""
    nodes = [
        helper.make_node("Cast", ["features"], ["index"], to=TensorProto.INT64),
        helper.make_node("Gather", ["table", "index"], ["scores"], axis=0),
    ]
    graphs.save(tmp_path / "m.onnx", nodes, {"table": np.array([0.0, 1.0])}, 2, TensorProto.DOUBLE)
    scorer = scorer_of(tmp_path / "m.onnx", "none")
    assert scorer(np.array([[0.0, 1.0]])).tolist() == [[0.0, 1.0]]
    with pytest.raises(ModelFailed) as failed:
        scorer(np.array([[0.0, 4711.0]]))
    assert "4711" not in str(failed.value)
    assert failed.value.__cause__ is None


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ([None, 3], "reads 3 columns .*, but the features take 2"),
        ([None], "reads 1 columns .*, but the features take 2"),
        ([None, 2, 2], "must be tables"),
    ],
)
def test_a_graph_that_reads_something_else_is_refused(tmp_path: Path, shape: list[int | None], reason: str):
    graph = helper.make_graph(
        [helper.make_node("Identity", ["features"], ["scores"])],
        "test",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(UnusableGraph, match=reason):
        OnnxGraph(model.SerializeToString(), numbers(2), None, ["no", "yes"])


def test_onnx_runtime_writes_nothing_down_and_sends_nothing(tmp_path: Path):
    """Left to itself it keeps the texts of its errors, which quote the rows, in the home folder to send them away."""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": "", "ORT_DISABLE_TELEMETRY": "0"}
    subprocess.run([FLIPSET, "validate"], check=True, cwd=ROOT, env=environment, capture_output=True)
    assert list(tmp_path.iterdir()) == []


def test_dictionaries_of_scores_that_cannot_be_loaded_say_how_to_export():
    """What skl2onnx writes for many models of float64 with zipmap on: the runtime's ZipMap takes float32."""
    numbers = helper.make_tensor_value_info("features", TensorProto.DOUBLE, [None, 2])
    scores = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    output = helper.make_value_info("scores", helper.make_sequence_type_proto(scores))
    node = helper.make_node("ZipMap", ["features"], ["scores"], domain="ai.onnx.ml", classlabels_int64s=[0, 1])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_model(
        helper.make_graph([node], "g", [numbers], [output]), opset_imports=opsets, ir_version=8
    ).SerializeToString()
    with pytest.raises(UnloadableGraph, match=r'zipmap off: convert_sklearn\(.*\{"zipmap": False\}'):
        open_session(graph)
