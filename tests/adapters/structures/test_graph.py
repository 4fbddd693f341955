"""Graphs are read as their files describe them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from app.adapters.structures.graph import NotUnderstood, read_graph
from tests.support import hostile_graphs

node = helper.make_node


def test_nodes_come_in_order_with_their_attributes():
    graph = read_graph(
        hostile_graphs.made(
            [
                node("Flatten", ["features"], ["flat"], axis=1),
                node("Scaler", ["flat"], ["scores"], domain="ai.onnx.ml", offset=[1.0, 2.0], scale=[3.0, 4.0]),
            ],
            domains=["ai.onnx.ml"],
        ).SerializeToString()
    )
    assert [(each.operator, each.domain) for each in graph.nodes] == [("Flatten", ""), ("Scaler", "ai.onnx.ml")]
    assert dict(graph.nodes[1].attributes) == {"offset": (1.0, 2.0), "scale": (3.0, 4.0)}
    assert (graph.inputs, graph.outputs) == (("features",), ("scores",))
    assert graph.opsets == {"": 17, "ai.onnx.ml": 1}
    assert graph.makers["flat"] is graph.nodes[0]


def test_constants_are_initializers_and_what_constant_nodes_hold():
    held = numpy_helper.from_array(np.arange(6, dtype=np.int64).reshape(2, 3), "held")
    texts = helper.make_tensor("texts", TensorProto.STRING, [2], [b"baker", b"clerk"])
    graph = read_graph(
        hostile_graphs.made(
            [
                node("Constant", [], ["one"], value=numpy_helper.from_array(np.array(1.5, dtype=np.float64))),
                node("Constant", [], ["two"], value_floats=[1.0, 2.0]),
                node("Constant", [], ["three"], value_string="smith"),
                node("Add", ["features", "two"], ["scores"]),
            ],
            [held, texts],
        ).SerializeToString()
    )
    assert [each.operator for each in graph.nodes] == ["Add"]
    assert graph.constants["held"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert graph.constants["texts"].tolist() == ["baker", "clerk"]
    assert graph.constants["one"] == np.float64(1.5)
    assert graph.constants["one"].dtype == np.float64
    assert graph.constants["two"].dtype == np.float32
    assert graph.constants["three"] == "smith"


def test_an_initializer_that_is_listed_as_an_input_is_a_constant():
    model = hostile_graphs.made(
        [node("Add", ["features", "w"], ["scores"])],
        [numpy_helper.from_array(np.ones(2, dtype=np.float32), "w")],
    )
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2]))
    assert read_graph(model.SerializeToString()).inputs == ("features",)


def branching() -> onnx.ModelProto:
    branch = helper.make_graph(
        [node("Identity", ["features"], ["same"])],
        "branch",
        [],
        [helper.make_tensor_value_info("same", TensorProto.FLOAT, [None, 2])],
    )
    yes = numpy_helper.from_array(np.array(True), "yes")
    return hostile_graphs.made([node("If", ["yes"], ["scores"], then_branch=branch, else_branch=branch)], [yes])


def with_a_function() -> onnx.ModelProto:
    model = hostile_graphs.made([node("Same", ["features"], ["scores"], domain="ours")], domains=["ours"])
    opsets = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("ours", "Same", ["x"], ["y"], [node("Identity", ["x"], ["y"])], opsets))
    return model


@pytest.mark.parametrize(
    ("model", "why"),
    [(branching(), "graphs inside a graph"), (with_a_function(), "functions of its own")],
    ids=["branches", "functions"],
)
def test_what_is_not_plain_is_said(model: onnx.ModelProto, why: str):
    with pytest.raises(NotUnderstood, match=why):
        read_graph(model.SerializeToString())
