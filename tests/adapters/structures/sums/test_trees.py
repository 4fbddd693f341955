"""Trees drawn at random, in every form of ONNX, are what ONNX Runtime computes: in every subset of a person's moves."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from app.adapters.graphs.features import ModelFeature
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.view import Kind, Unseen
from tests.support import random_trees
from tests.support.random_trees import MODES, VALUES, Forest
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.structures import Held, numbers

COLUMNS = 5


def person(rng: np.random.Generator, missing: bool = False) -> tuple[list[float], dict[int, float]]:
    """Values that stand at splits, or beside them; some features move."""

    def value() -> float:
        near = np.float32(rng.choice(VALUES))
        if missing and rng.random() < 0.2:
            return float("nan")
        return float(rng.choice([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))]))

    moving = np.flatnonzero(rng.random(COLUMNS) < 0.7)
    return [value() for _ in range(COLUMNS)], {int(place): value() for place in moving}


def classifier(rng: np.random.Generator, classes: int, post: str, **fields: Any) -> ModelProto:
    forest = Forest(COLUMNS, classes, modes=modes(rng), **fields).grow(rng, int(rng.integers(1, 12)), 4)
    held = forest.attributes("class") | {"classlabels_int64s": list(range(classes)), "post_transform": post}
    if classes > 2 and rng.random() < 0.5:
        held["base_values"] = rng.normal(size=classes).tolist()
    return random_trees.model("TreeEnsembleClassifier", COLUMNS, held)


def binary(rng: np.random.Generator, post: str, **fields: Any) -> ModelProto:
    """As exporters write two classes: the leaves have weights for the first only."""
    forest = Forest(COLUMNS, 1, modes=modes(rng), **fields).grow(rng, int(rng.integers(1, 12)), 4)
    held = forest.attributes("class") | {"classlabels_int64s": [0, 1], "post_transform": post}
    if rng.random() < 0.5:
        held["base_values"] = [float(rng.normal())]
    return random_trees.model("TreeEnsembleClassifier", COLUMNS, held)


def regressor(rng: np.random.Generator, targets: int, double: bool = False, how: str = "SUM") -> ModelProto:
    forest = Forest(COLUMNS, targets, modes=modes(rng), missing=bool(rng.integers(2)))
    held = forest.grow(rng, int(rng.integers(1, 12)), 4).attributes("target", double)
    held |= {"n_targets": targets, "aggregate_function": how, "post_transform": "NONE"}
    if rng.random() < 0.5 and not double:
        held["base_values"] = rng.normal(size=targets).tolist()
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    return random_trees.model("TreeEnsembleRegressor", COLUMNS, held, input_type=kind)


def of_opset_5(rng: np.random.Generator, double: bool, members: bool, targets: int = 1, post: int = 0) -> ModelProto:
    held_modes = modes(rng) if targets == 1 else ("BRANCH_LEQ", "BRANCH_GT")
    forest = Forest(COLUMNS, targets, modes=held_modes, missing=bool(rng.integers(2)))
    forest.grow(rng, int(rng.integers(1, 9)), 4)
    held = random_trees.opset_5(forest, rng, np.float64 if double else np.float32, members)
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    held |= {"aggregate_function": int(rng.integers(2)), "post_transform": post}
    return random_trees.model("TreeEnsemble", COLUMNS, held, opset=5, input_type=kind, output_type=kind)


def modes(rng: np.random.Generator) -> tuple[str, ...]:
    return MODES if rng.random() < 0.5 else (str(rng.choice(MODES)),)


FORMS = {
    "two classes": (2, lambda rng: binary(rng, "NONE", positive=True)),
    "two classes of mixed signs": (2, lambda rng: binary(rng, "NONE")),
    "two classes, logistic": (2, lambda rng: binary(rng, "LOGISTIC", missing=True)),
    "two classes, softmax": (2, lambda rng: binary(rng, "SOFTMAX")),
    "a weight for each of two classes": (2, lambda rng: classifier(rng, 2, "NONE")),
    "three classes": (3, lambda rng: classifier(rng, 3, "NONE", sparse=True)),
    "three classes, logistic": (3, lambda rng: classifier(rng, 3, "LOGISTIC", missing=True)),
    "four classes, softmax": (4, lambda rng: classifier(rng, 4, "SOFTMAX")),
    "regression": (1, lambda rng: regressor(rng, 1)),
    "average": (1, lambda rng: regressor(rng, 1, how="AVERAGE")),
    "doubles": (1, lambda rng: regressor(rng, 1, double=True)),
    "opset 5": (1, lambda rng: of_opset_5(rng, double=False, members=False)),
    "opset 5 in doubles": (1, lambda rng: of_opset_5(rng, double=True, members=False)),
    "opset 5 with members": (1, lambda rng: of_opset_5(rng, double=False, members=True)),
    "opset 5, transformed by 1": (3, lambda rng: of_opset_5(rng, double=False, members=False, targets=3, post=1)),
    "opset 5, transformed by 2": (3, lambda rng: of_opset_5(rng, double=False, members=False, targets=3, post=2)),
}


@pytest.mark.parametrize("form", FORMS)
def test_random_trees_are_what_the_runtime_computes(form: str):
    outputs, made = FORMS[form]
    for seed in Seeds(scaled(8), first=170_000):
        rng = np.random.default_rng(seed)
        held = Held(made(rng).SerializeToString(), numbers(COLUMNS, takes_missing=True), outputs)
        if "may join" in str(held.structure.why):
            continue
        assert (held.structure.kind, held.structure.why) == (Kind.TREES, None)
        for _ in range(4):
            assert held.check(*person(rng, missing=True)) < 1e-3


def test_whole_numbers_are_compared_as_the_runtime_does():
    """It turns them into float32, which cannot hold 16777217."""
    forest = Forest(1, 1)
    forest.nodes = {
        "treeids": [0, 0, 0],
        "nodeids": [0, 1, 2],
        "featureids": [0, 0, 0],
        "modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "values": [16777216.0, 0.0, 0.0],
        "truenodeids": [1, 0, 0],
        "falsenodeids": [2, 0, 0],
        "missing_value_tracks_true": [0, 0, 0],
    }
    forest.weights = {"treeids": [0, 0], "nodeids": [1, 2], "ids": [0, 0], "weights": [0.25, 0.75]}
    held = forest.attributes("class") | {"classlabels_int64s": [0, 1], "post_transform": "NONE"}
    content = random_trees.model("TreeEnsembleClassifier", 1, held, input_type=TensorProto.INT64).SerializeToString()
    seen = Held(content, [ModelFeature("a", None, None, "integer")], 2)
    assert seen.structure.kind is Kind.TREES
    for value in (16777215.0, 16777216.0, 16777217.0, 16777218.0, 16777219.0):
        seen.check([value], {0: 0.0})


def test_a_set_of_large_numbers_cuts_off_what_stands_behind_the_point():
    """To the runtime 33.5 is a member of {1, 33}. A person with such a value is not seen through."""
    forest = Forest(1, 1)
    names = ("treeids", "nodeids", "featureids", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")
    rows = [(0, 0, 0, 0.0, 1, 2, 0), (0, 1, 0, 0.0, 0, 0, 0), (0, 2, 0, 0.0, 0, 0, 0)]
    forest.nodes = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    forest.nodes["modes"] = ["BRANCH_LEQ", "LEAF", "LEAF"]
    held = random_trees.opset_5(forest, np.random.default_rng(1))
    held |= {"nodes_modes": numpy_helper.from_array(np.array([6], dtype=np.uint8))}
    held |= {"membership_values": numpy_helper.from_array(np.array([1, 33, np.nan], dtype=np.float32))}
    held |= {"leaf_weights": numpy_helper.from_array(np.array([0.25, 0.75], dtype=np.float32))}
    seen = Held(random_trees.model("TreeEnsemble", 1, held, opset=5).SerializeToString(), numbers(1), 1)
    assert seen.scorer(np.array([[33.0], [33.5], [34.0]], dtype=np.float32)).ravel().tolist() == [0.25, 0.25, 0.75]
    assert seen.structure.kind is Kind.TREES
    seen.check([2.5], {0: 33.0})
    with pytest.raises(Unseen):
        seen.check([2.5], {0: 33.5})


def test_what_the_runtime_may_join_is_opaque():
    """Two tests for equality lead to leaves that are equal in their first target only: it takes one for the other."""
    forest = Forest(1, 2)
    forest.nodes = {
        "treeids": [0] * 5,
        "nodeids": [0, 1, 2, 3, 4],
        "featureids": [0] * 5,
        "modes": ["BRANCH_EQ", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"],
        "values": [5.0, 0.0, 2.0, 0.0, 0.0],
        "truenodeids": [1, 0, 3, 0, 0],
        "falsenodeids": [2, 0, 4, 0, 0],
        "missing_value_tracks_true": [0] * 5,
    }
    weights = [(1, 0, 0.5), (1, 1, 0.25), (3, 0, 0.5), (3, 1, 1.0), (4, 0, 0.0), (4, 1, 0.0)]
    nodes, ids, held = zip(*weights, strict=True)
    forest.weights = {"treeids": [0] * 6, "nodeids": list(nodes), "ids": list(ids), "weights": list(held)}
    attributes = forest.attributes("target") | {"n_targets": 2}
    content = random_trees.model("TreeEnsembleRegressor", 1, attributes).SerializeToString()
    seen = Held(content, numbers(1), 2)
    assert "may join" in str(seen.structure.why)


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"aggregate_function": "MIN"}, "MIN"),
        ({"aggregate_function": "MAX"}, "MAX"),
        ({"post_transform": "PROBIT"}, "PROBIT"),
    ],
)
def test_what_is_no_sum_is_opaque_and_says_why(attributes: dict[str, Any], why: str):
    forest = Forest(COLUMNS, 1).grow(np.random.default_rng(0), 5, 3)
    held = forest.attributes("target") | {"n_targets": 1, **attributes}
    seen = Held(random_trees.model("TreeEnsembleRegressor", COLUMNS, held).SerializeToString(), numbers(COLUMNS), 1)
    assert seen.structure.kind is Kind.OPAQUE
    assert why in str(seen.structure.why)


def test_a_feature_that_no_split_parts_is_in_no_table():
    rng = np.random.default_rng(3)
    forest = Forest(3, 1).grow(rng, 20, 3)
    forest.nodes["featureids"] = [place % 2 for place in forest.nodes["featureids"]]
    held = forest.attributes("target") | {"n_targets": 1}
    seen = Held(random_trees.model("TreeEnsembleRegressor", 3, held).SerializeToString(), numbers(3), 1)
    seen.check([0.0, 0.0, 0.0], {0: 5.0, 1: 1e-9, 2: 7.0})
    row = np.zeros(3, dtype=np.float32)
    view = seen.structure.view(row, [MoveCells((0,), (5.0,)), MoveCells((2,), (7.0,))], seen.favourable)
    assert {move for table in view.sums.tables for move in table.moves} == {0}
