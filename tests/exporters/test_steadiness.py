"""The score of a row does not depend on the rows beside it; and graphs that would mislead are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.feeds import UnusableGraph
from app.adapters.graphs.onnx import OnnxGraph
from app.adapters.graphs.scorer import ModelScorer

# Trainers and exporters warn of their own affairs, which are not ours.
pytestmark = pytest.mark.filterwarnings("default")

WIDTH = 10
ROWS = np.random.default_rng(0).normal(size=(500, WIDTH)).astype(np.float32)
LABELS = (ROWS[:, 0] + ROWS[:, 1] ** 2 > 0.5).astype(int)


def numbers(count: int = WIDTH) -> list[ModelFeature]:
    return [ModelFeature(f"f{index}", None, None, "number") for index in range(count)]


def scorer_of(model: Any, input_type: Any, outputs: int) -> ModelScorer:
    model.fit(ROWS, LABELS)
    is_classifier = hasattr(model, "predict_proba")
    options = {id(model): {"zipmap": False}} if is_classifier else {}
    graph = convert_sklearn(model, initial_types=[("features", input_type([None, WIDTH]))], options=options)
    loaded = OnnxGraph(graph.SerializeToString(), numbers(), None, ["no", "yes"])
    scorer = ModelScorer(loaded, numbers(), "none", outputs)
    scorer.warm_up()
    return scorer


@pytest.mark.parametrize("input_type", [FloatTensorType, DoubleTensorType])
@pytest.mark.parametrize(
    ("make", "outputs"),
    [
        (LogisticRegression, 2),
        (GaussianNB, 2),
        (lambda: CalibratedClassifierCV(LogisticRegression(), cv=3), 2),
        (lambda: MLPClassifier((12,), max_iter=50, random_state=0), 2),
        (Ridge, 1),
    ],
)
def test_a_row_scores_the_same_alone_and_among_others(make: Callable[[], Any], outputs: int, input_type: Any):
    scorer = scorer_of(make(), input_type, outputs)
    rows = np.random.default_rng(1).normal(size=(300, WIDTH)).astype(scorer.dtype)
    together = scorer(rows)
    for size in (1, 2, 5, 33):
        apart = np.concatenate([scorer(rows[start : start + size]) for start in range(0, len(rows), size)])
        assert apart.tobytes() == together.tobytes(), size


def test_one_raw_score_is_not_taken_for_a_probability():
    with pytest.raises(UnusableGraph, match="needs sigmoid"):
        scorer_of(LinearSVC(), FloatTensorType, 2)


def test_dictionaries_with_other_class_names_are_refused():
    model = LogisticRegression().fit(ROWS, np.where(LABELS == 1, "approved", "denied"))
    graph = convert_sklearn(model, initial_types=[("features", FloatTensorType([None, WIDTH]))])
    loaded = OnnxGraph(graph.SerializeToString(), numbers(), None, ["denied", "Approved"])
    with pytest.raises(UnusableGraph, match="the graph names its classes approved, denied"):
        ModelScorer(loaded, numbers(), "none", 2).warm_up()


def two_inputs(first: str, second: str, file: Path) -> bytes:
    nodes = [helper.make_node("Concat", [first, second], ["scores"], axis=1)]
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]) for name in (first, second)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file.write_bytes(model.SerializeToString())
    return file.read_bytes()


def test_inputs_that_only_partly_bear_the_features_names_are_refused(tmp_path: Path):
    features = [ModelFeature(name, None, None, "number") for name in ("late_payments", "income")]
    with pytest.raises(UnusableGraph, match="'income' is out of order"):
        OnnxGraph(two_inputs("income", "late payments", tmp_path / "m.onnx"), features, None, ["no", "yes"])
    by_name = OnnxGraph(two_inputs("income", "late_payments", tmp_path / "m.onnx"), features, None, ["no", "yes"])
    assert by_name.run(np.array([[1.0, 2.0]])).tolist() == [[2.0, 1.0]]


def test_a_one_hot_group_may_take_several_inputs(tmp_path: Path):
    """One input a column, as get_dummies names them; what stands behind the group has an input of its own name."""
    group = ModelFeature(
        "home", None, None, "category", ("rents", "owns", "other"), one_hot=True, missing="zeros", drop_first=True
    )
    features = [group, ModelFeature("income", None, None, "number")]
    names = ("home_owns", "home_other", "income")
    nodes = [helper.make_node("Concat", names, ["scores"], axis=1)]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]) for name in names]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 3])]

    def loaded_with(inputs: list[Any]) -> OnnxGraph:
        graph = helper.make_graph(nodes, "test", inputs, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return OnnxGraph(model.SerializeToString(), features, None, ["a", "b", "c"])

    rows = np.array([[*group.cells(place), 7.0] for place in (0.0, 1.0, 2.0, np.nan)])
    assert loaded_with(inputs).run(rows).tolist() == [[0, 0, 7], [1, 0, 7], [0, 1, 7], [0, 0, 7]]
    with pytest.raises(UnusableGraph, match="'income' is out of order"):
        loaded_with([inputs[2], *inputs[:2]])
