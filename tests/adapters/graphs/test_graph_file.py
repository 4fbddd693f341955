"""Trees that never come to a leaf: the runtime would load them and follow their branches for ever."""

import onnx
import pytest
from onnx import TensorProto, helper

from app.adapters.graphs.graph_file import why_unusable
from app.adapters.graphs.onnx import open_session

# Nodes 0, 1 and 2 lead down to one another; 3, 4 and 5 are leaves. Below the last one, on its true side, comes:
LEAF, TWO_ABOVE = 3, 1
MODES = ["BRANCH_LEQ"] * 3 + ["LEAF"] * 3


def regressor(last: int) -> onnx.NodeProto:
    weights = {f"target_{name}": [0, 0, 0] for name in ("treeids", "ids")}
    nodes = {"nodeids": range(6), "treeids": [0] * 6, "featureids": [0, 1, 0, 0, 0, 0], "values": [0.5] * 6}
    ways = {"truenodeids": [1, 2, last, 0, 0, 0], "falsenodeids": [5, 4, LEAF, 0, 0, 0]}
    return helper.make_node(
        "TreeEnsembleRegressor",
        ["features"],
        ["scores"],
        domain="ai.onnx.ml",
        n_targets=1,
        target_nodeids=[3, 4, 5],
        target_weights=[1.0, 2.0, 3.0],
        **weights,
        **{f"nodes_{name}": list(values) for name, values in {**nodes, **ways, "modes": MODES}.items()},
    )


def ensemble(last: int) -> onnx.NodeProto:
    """The same in opset 5, where leaves are counted by themselves; a way to a node is 0 in `leafs`."""
    to_leaf = int(last == LEAF)
    return helper.make_node(
        "TreeEnsemble",
        ["features"],
        ["scores"],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=[0],
        nodes_featureids=[0, 1, 0],
        nodes_modes=helper.make_tensor("modes", TensorProto.UINT8, [3], [0, 0, 0]),
        nodes_splits=helper.make_tensor("splits", TensorProto.FLOAT, [3], [0.5] * 3),
        nodes_truenodeids=[1, 2, 0 if to_leaf else last],
        nodes_trueleafs=[0, 0, to_leaf],
        nodes_falsenodeids=[2, 1, 0],
        nodes_falseleafs=[1, 1, 1],
        leaf_targetids=[0, 0, 0],
        leaf_weights=helper.make_tensor("weights", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0]),
    )


def graph(node: onnx.NodeProto, opset: int) -> bytes:
    inputs = [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, 2])]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 1])]
    made = helper.make_model(
        helper.make_graph([node], "trees", inputs, outputs),
        opset_imports=[helper.make_opsetid("ai.onnx.ml", opset), helper.make_opsetid("", 21)],
        ir_version=10,
    )
    return bytes(made.SerializeToString())


@pytest.mark.parametrize(("made", "opset"), [(regressor, 3), (ensemble, 5)])
def test_trees_whose_branches_lead_back_are_refused(made, opset: int):
    whole, circle = (graph(made(last), opset) for last in (LEAF, TWO_ABOVE))
    open_session(whole)
    assert why_unusable(whole) == ""
    assert "leads back to where it came from" in why_unusable(circle)


def test_the_runtime_itself_would_load_such_a_tree():
    """Otherwise there would be nothing to look for."""
    open_session(graph(regressor(TWO_ABOVE), 3))
