"""What stands before and behind the sums: scalers, encoders, selections, sigmoid, softmax, averages, two classes."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from app.adapters.graphs.features import ModelFeature
from app.core.through.view import Kind, Unseen
from tests.support import random_trees
from tests.support.structures import Held, numbers

ml = {"domain": "ai.onnx.ml"}
node = helper.make_node
WEIGHTS = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
BIAS = np.array([0.25, -0.5, 1.0], dtype=np.float32)


def model(
    nodes: Sequence[onnx.NodeProto], inputs: dict[str, tuple[int, list[int | None]]] | None = None, **constants: Any
) -> bytes:
    """A graph that ends at `scores`."""
    given = inputs or {"features": (TensorProto.FLOAT, [None, 4])}
    kind = next(iter(given.values()))[0]
    graph = helper.make_graph(
        nodes,
        "pipeline",
        [helper.make_tensor_value_info(name, *each) for name, each in given.items()],
        [helper.make_tensor_value_info("scores", kind if kind == TensorProto.DOUBLE else TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def linear(**attributes: Any) -> onnx.NodeProto:
    held = {"coefficients": WEIGHTS.T.ravel().tolist(), "intercepts": BIAS.tolist(), "classlabels_ints": [0, 1, 2]}
    return node("LinearClassifier", ["ready"], ["label", "scores"], **ml, **held | attributes)


ONE = {"coefficients": WEIGHTS[:, 0].tolist(), "intercepts": [0.25], "classlabels_ints": [0, 1]}
THREE = {"w": WEIGHTS, "b": BIAS}
PRODUCT = [node("MatMul", ["ready", "w"], ["p"]), node("Add", ["p", "b"], ["z"])]
SAME = node("Identity", ["features"], ["ready"])
CASES: dict[str, tuple[int, list[onnx.NodeProto], dict[str, Any]]] = {
    "LinearClassifier": (3, [SAME, linear()], {}),
    "LinearClassifier, softmax": (3, [SAME, linear(post_transform="SOFTMAX")], {}),
    "LinearClassifier, logistic": (3, [SAME, linear(post_transform="LOGISTIC")], {}),
    "one score for two classes": (2, [SAME, linear(**ONE)], {}),
    "one score for two classes, logistic": (2, [SAME, linear(**ONE, post_transform="LOGISTIC")], {}),
    "LinearRegressor": (
        1,
        [node("LinearRegressor", ["features"], ["scores"], **ml, coefficients=[1.0, -2.0, 0.5, 3.0], intercepts=[1.0])],
        {},
    ),
    "MatMul and Add": (3, [SAME, *PRODUCT, node("Identity", ["z"], ["scores"])], THREE),
    "Gemm": (
        3,
        [node("Gemm", ["features", "w", "b"], ["scores"], alpha=0.5, beta=2.0, transB=1)],
        {"w": WEIGHTS.T.copy(), "b": BIAS},
    ),
    "softmax": (3, [SAME, *PRODUCT, node("Softmax", ["z"], ["scores"], axis=1)], THREE),
    "sigmoid and normalizer": (
        3,
        [SAME, *PRODUCT, node("Sigmoid", ["z"], ["s"]), node("Normalizer", ["s"], ["scores"], **ml, norm="L1")],
        THREE,
    ),
    "sigmoid divided by its sum": (
        3,
        [
            *(SAME, *PRODUCT, node("Sigmoid", ["z"], ["s"]), node("Abs", ["s"], ["size"])),
            *(node("ReduceSum", ["size", "axis"], ["total"], keepdims=1), node("Div", ["s", "total"], ["scores"])),
        ],
        {**THREE, "axis": np.array([1])},
    ),
    "one minus, and both side by side": (
        2,
        [
            *(SAME, node("MatMul", ["ready", "w"], ["z"]), node("Sigmoid", ["z"], ["s"])),
            *(node("Sub", ["one", "s"], ["t"]), node("Concat", ["t", "s"], ["scores"], axis=1)),
        ],
        {"w": WEIGHTS[:, :1], "one": np.ones(1, dtype=np.float32)},
    ),
    "average of two sigmoids": (
        1,
        [
            *(
                SAME,
                *PRODUCT,
                node("ArrayFeatureExtractor", ["z", "first"], ["a"], **ml),
                node("Sigmoid", ["a"], ["c"]),
            ),
            *(
                node("Gather", ["z", "second"], ["d"], axis=1),
                node("Exp", ["d"], ["e"]),
                node("Add", ["one", "e"], ["f"]),
            ),
            *(node("Div", ["one", "f"], ["g"]), node("Sum", ["c", "g"], ["h"]), node("Div", ["h", "two"], ["scores"])),
        ],
        {
            **THREE,
            "first": np.array([0]),
            "second": np.array([2]),
            "one": np.ones(1, dtype=np.float32),
            "two": np.array(2.0, dtype=np.float32),
        },
    ),
    "scaler": (
        3,
        [
            node("Scaler", ["features"], ["ready"], **ml, offset=[1.0, 0.0, -1.0, 0.5], scale=[0.3, 2.0, 1.0, 0.1]),
            linear(),
        ],
        {},
    ),
    "imputer": (
        3,
        [
            node(
                "Imputer",
                ["features"],
                ["ready"],
                **ml,
                imputed_value_floats=[9.0, 1.0, 2.0, 3.0],
                replaced_value_float=0.0,
            ),
            linear(),
        ],
        {},
    ),
    "arithmetic on columns": (
        3,
        [
            *(node("Sub", ["features", "mean"], ["c"]), node("Div", ["c", "spread"], ["d"])),
            *(node("Mul", ["d", "d"], ["e"]), node("Clip", ["e", "", "most"], ["ready"]), *PRODUCT),
            node("Identity", ["z"], ["scores"]),
        ],
        {
            **THREE,
            "mean": np.array([[0.5, 1.0, -2.0, 0.1]], dtype=np.float32),
            "spread": np.array([3.0, 2.0, 1.0, 7.0], dtype=np.float32),
            "most": np.array(4.0, dtype=np.float32),
        },
    ),
    "columns taken, cast, split and joined": (
        3,
        [
            *(
                node("Split", ["features", "sizes"], ["l", "r"], axis=1),
                node("Cast", ["r"], ["i"], to=TensorProto.INT64),
            ),
            *(node("Cast", ["i"], ["n"], to=TensorProto.FLOAT), node("Concat", ["n", "l"], ["j"], axis=-1)),
            *(node("Reshape", ["j", "shape"], ["k"]), node("Flatten", ["k"], ["ready"]), *PRODUCT),
            node("Identity", ["z"], ["scores"]),
        ],
        {**THREE, "sizes": np.array([1, 3]), "shape": np.array([-1, 2, 2])},
    ),
    "threshold indicators": (
        3,
        [
            *(node("Greater", ["features", "half"], ["g"]), node("Cast", ["g"], ["ready"], to=TensorProto.FLOAT)),
            linear(),
        ],
        {"half": np.array(0.5, dtype=np.float32)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_stands_around_the_sums_is_what_the_runtime_computes(case: str):
    outputs, nodes, constants = CASES[case]
    held = Held(model(nodes, **constants), numbers(4), outputs)
    assert (held.structure.kind, held.structure.why) == (Kind.LINEAR, None)
    rng = np.random.default_rng(5)
    for _ in range(20):
        now, then = rng.choice([0.0, 0.5, 1.0, -2.0, 3.25, 0.1], (2, 4)).tolist()
        assert held.check(now, dict(enumerate(then))) < 1e-4


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_what_the_service_makes_of_raw_scores_is_seen_through(activation: str):
    held = Held(model([SAME, *PRODUCT, node("Identity", ["z"], ["scores"])], **THREE), numbers(4), 3, None, activation)
    assert held.structure.kind is Kind.LINEAR
    held.check([1.0, 2.0, 3.0, 4.0], {0: 0.0, 2: -1.0})


def test_one_score_for_two_classes_becomes_two():
    nodes = [SAME, node("MatMul", ["ready", "w"], ["scores"])]
    held = Held(model(nodes, w=WEIGHTS[:, :1]), numbers(4), 2, None, "sigmoid")
    assert held.structure.kind is Kind.LINEAR
    held.check([1.0, 2.0, 3.0, 4.0], {0: 0.0, 2: -1.0})


def test_two_classes_of_opposite_signs_need_one_form_only():
    attributes = {
        "coefficients": [1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0],
        "intercepts": [0.5, -0.5],
        "classlabels_ints": [0, 1],
    }
    held = Held(model([SAME, linear(**attributes, post_transform="LOGISTIC")]), numbers(4), 2)
    view = held.structure.view(np.zeros(4, dtype=np.float32), [], held.favourable)
    assert len(view.sums.constant) == 1
    assert view.rising in ((True, False), (False, True))


def test_texts_one_hot_groups_and_an_input_for_each_feature():
    """As exporters of pipelines write them: each text becomes columns of noughts and a one."""
    nodes = [
        node("OneHotEncoder", ["job"], ["hot"], **ml, cats_strings=["baker", "clerk", "smith"], zeros=1),
        node("Reshape", ["hot", "flat"], ["columns"]),
        node("LabelEncoder", ["smoker"], ["code"], **ml, keys_strings=["no", "yes"], values_floats=[0.5, 2.0]),
        node("Concat", ["columns", "code", "a"], ["ready"], axis=1),
        linear(coefficients=np.arange(10.0).tolist(), intercepts=[0.5, 1.0], classlabels_ints=[0, 1]),
    ]
    inputs: dict[str, tuple[int, list[int | None]]] = {
        "job": (TensorProto.STRING, [None, 1]),
        "smoker": (TensorProto.STRING, [None, 1]),
        "a": (TensorProto.FLOAT, [None, 1]),
    }
    features = (
        ModelFeature("job", None, None, "category", categories=("baker", "clerk", "smith")),
        ModelFeature("smoker", None, None, "category", categories=("no", "yes")),
        ModelFeature("a", None, None, "number"),
    )
    held = Held(model(nodes, inputs, flat=np.array([-1, 3])), features, 2)
    assert (held.structure.kind, held.structure.why) == (Kind.LINEAR, None)
    held.check([0.0, 1.0, 3.5], {0: 2.0, 1: 0.0, 2: -1.0})


def test_a_move_of_a_one_hot_group_changes_all_its_columns():
    features = (
        ModelFeature("job", None, None, "category", categories=("baker", "clerk", "smith"), one_hot=True),
        ModelFeature("a", None, None, "number"),
    )
    held = Held(model([SAME, linear()]), features, 3)
    assert held.structure.kind is Kind.LINEAR
    held.check([0.0, 3.5], {0: 2.0, 1: 1.0})


def test_dictionaries_of_scores_stand_in_the_order_of_the_classes():
    nodes = [
        SAME,
        node("MatMul", ["ready", "w"], ["z"]),
        node("ZipMap", ["z"], ["scores"], **ml, classlabels_strings=["waived", "granted", "open"]),
    ]
    graph = helper.make_graph(
        nodes,
        "maps",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, 4])],
        [
            helper.make_value_info(
                "scores",
                helper.make_sequence_type_proto(
                    helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
                ),
            )
        ],
        [numpy_helper.from_array(WEIGHTS, "w")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    content = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    held = Held(content, numbers(4), 3, classes=("granted", "open", "waived"))
    assert (held.structure.kind, held.structure.why) == (Kind.LINEAR, None)
    held.check([1.0, 2.0, 3.0, 4.0], {0: 0.0, 2: -1.0})


OPAQUE: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], str]] = {
    "columns that meet before they are added up": (
        [
            *(node("Gather", ["features", "one"], ["g"], axis=1), node("Mul", ["features", "g"], ["ready"]), *PRODUCT),
            node("Identity", ["z"], ["scores"]),
        ],
        {**THREE, "one": np.array([1])},
        "mixes features",
    ),
}


@pytest.mark.parametrize("case", OPAQUE)
def test_what_is_not_understood_is_opaque_and_says_why(case: str):
    nodes, constants, why = OPAQUE[case]
    held = Held(model(nodes, **constants), numbers(4), 3)
    assert held.structure.kind is Kind.OPAQUE
    assert why in str(held.structure.why)


def test_a_missing_value_in_a_sum_is_not_seen_through():
    held = Held(model([SAME, linear()]), numbers(4, takes_missing=True), 3)
    assert held.structure.kind is Kind.LINEAR
    with pytest.raises(Unseen, match="missing"):
        held.structure.view(np.array([np.nan, 0, 0, 0], dtype=np.float32), [], held.favourable)


def test_numbers_that_float32_cannot_hold_are_not_seen_through_where_the_runtime_turns_them_into_it():
    held = {"coefficients": [-1e-5, -1.0, 1e-5, 1.0], "intercepts": [0.0, 0.5], "classlabels_ints": [0, 1]}
    graph = random_trees.model("LinearClassifier", 2, held, opset=1, input_type=TensorProto.DOUBLE)
    seen = Held(graph.SerializeToString(), numbers(2), 2)
    assert seen.structure.kind is Kind.LINEAR
    seen.check([1.0, 2.0], {0: 3.0})
    with pytest.raises(Unseen):
        seen.check([1e39, 2.0], {1: 3.0})
    ends = np.array([[1.0, 2.0]]), np.array([[1e39, 2.0]])
    with pytest.raises(Unseen):
        seen.structure.over(*ends, seen.favourable)


# A person with large or tiny numbers, before sums that leave the numbers of float32 on the way, and come back.
EXTREMES: dict[str, tuple[float, list[onnx.NodeProto], dict[str, Any]]] = {
    "overflow before a small factor": (
        1e14,
        [node("MatMul", ["features", "w"], ["p"]), node("Mul", ["p", "s"], ["scores"])],
        {"w": WEIGHTS * np.float32(1e26), "s": np.float32(1e-26)},
    ),
    "overflow before nought": (
        1e14,
        [node("MatMul", ["features", "w"], ["p"]), node("Mul", ["p", "s"], ["scores"])],
        {"w": WEIGHTS * np.float32(1e26), "s": np.array([0, 1e-26, 0], dtype=np.float32)},
    ),
    "overflow before alpha": (
        1e14,
        [node("Gemm", ["features", "w"], ["scores"], alpha=1e-26)],
        {"w": WEIGHTS * np.float32(1e26)},
    ),
    "overflow before a layer": (
        1e14,
        [
            *(node("MatMul", ["features", "w"], ["p"]), node("Mul", ["p", "s"], ["z"])),
            *(node("Relu", ["z"], ["h"]), node("MatMul", ["h", "v"], ["scores"])),
        ],
        {"w": WEIGHTS * np.float32(1e26), "s": np.float32(1e-26), "v": WEIGHTS[:3]},
    ),
    "underflow before a large factor": (
        1e-20,
        [node("MatMul", ["features", "w"], ["p"]), node("Mul", ["p", "s"], ["scores"])],
        {"w": WEIGHTS * np.float32(1e-20), "s": np.float32(1e30)},
    ),
    "underflow before a layer": (
        1e-20,
        [
            *(node("MatMul", ["features", "w"], ["p"]), node("Mul", ["p", "s"], ["z"])),
            *(node("Relu", ["z"], ["h"]), node("MatMul", ["h", "v"], ["scores"])),
        ],
        {"w": WEIGHTS * np.float32(1e-20), "s": np.float32(1e30), "v": WEIGHTS[:3]},
    ),
}
POWER = [node("MatMul", ["features", "w"], ["z"]), node("Exp", ["z"], ["e"])]
POWERS: dict[str, list[onnx.NodeProto]] = {
    "made small again": [*POWER, node("Mul", ["e", "s"], ["scores"])],
    "times their inverse": [
        *(*POWER, node("Neg", ["z"], ["n"]), node("Exp", ["n"], ["i"])),
        node("Mul", ["e", "i"], ["scores"]),
    ],
    "divided by their sum": [
        *(*POWER, node("ReduceSum", ["e", "axis"], ["t"], keepdims=1)),
        node("Div", ["e", "t"], ["scores"]),
    ],
    "softmax": [*POWER, node("Softmax", ["e"], ["scores"], axis=1)],
    "inverse": [*POWER, node("Add", ["e", "one"], ["f"]), node("Div", ["one", "f"], ["scores"])],
}


@pytest.mark.parametrize("name", EXTREMES)
def test_sums_that_leave_the_numbers_of_float32_on_the_way_are_bounded_or_not_seen_through(name: str):
    size, nodes, constants = EXTREMES[name]
    held = Held(model(nodes, **constants), numbers(4), 3)
    assert held.structure.kind is not Kind.OPAQUE
    held.check([1.0, 2.0, 3.0, 4.0], {0: 2.0, 3: -1.0})
    outcome = pytest.raises(Unseen, match="too large") if size > 1 else nullcontext()
    with outcome:
        held.check([size, 2 * size, 3 * size, 0.0], {0: -size, 1: size})


@pytest.mark.parametrize("name", POWERS)
def test_powers_that_float32_cannot_hold_say_nothing_of_what_follows(name: str):
    held = Held(
        model(POWERS[name], w=WEIGHTS / 20, s=np.float32(1e-10), one=np.ones(1, np.float32), axis=[1]), numbers(4), 3
    )
    assert held.structure.kind is Kind.LINEAR
    assert np.isfinite(held.check([1.0, 2.0, 3.0, 4.0], {0: 2.0, 3: -1.0}))
    # The exponential of 95 is too large, its ten-billionth part is not.
    first = WEIGHTS[:, 0] / 20
    row = (np.sign(first) * 95 / np.abs(first).sum()).tolist()
    held.check(row, {0: row[0] * 0.99, 1: 1.0, 2: row[2] * 0.99, 3: -2.0})


def test_a_missing_value_without_weight_is_a_missing_score():
    graph = model([node("MatMul", ["features", "w"], ["scores"])], w=WEIGHTS * np.float32([[0], [1], [1], [1]]))
    held = Held(graph, numbers(4, takes_missing=True), 3)
    assert np.isnan(held.scorer(np.array([[np.nan, 1, 1, 1]], dtype=np.float32))).all()
    with pytest.raises(Unseen):
        held.check([np.nan, 1.0, 2.0, 3.0], {1: 0.0})
