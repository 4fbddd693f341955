"""Graphs that mean no good: they need a foreign operator, too much memory, or all the time in the world."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support import graphs

ENDLESS = 10**12


def write_model(
    folder: Path, name: str, graph: onnx.ModelProto, names: Sequence[str] = ("a", "b"), **fields: str
) -> Path:
    """A model of two classes that reads these features."""
    graphs.write_model_toml(folder / "models" / name, names, **fields)
    file = folder / "models" / name / "model.onnx"
    file.write_bytes(graph.SerializeToString())
    return file


def made(
    nodes: Sequence[onnx.NodeProto],
    weights: Sequence[onnx.TensorProto] = (),
    width: int = 2,
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "hostile",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, width])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 2])],
        weights,
    )
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def with_foreign_operator() -> onnx.ModelProto:
    return made([helper.make_node("Shell", ["features"], ["scores"], domain="example.evil")], domains=["example.evil"])


def with_weights_elsewhere(location: str) -> onnx.ModelProto:
    """Its weights are said to be in another file."""
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 2], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, "offset": "0", "length": "16"}.items():
        weights.external_data.add(key=key, value=value)
    return made([helper.make_node("MatMul", ["features", "w"], ["scores"])], [weights])


def that_grows(side: int) -> onnx.ModelProto:
    """A few bytes that become a matrix of side times side."""
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["matrix"]),
        helper.make_node("ReduceSum", ["matrix"], ["nought"], keepdims=0),
        helper.make_node("Add", ["features", "nought"], ["scores"]),
    ]
    return made(nodes, [numpy_helper.from_array(np.array([side, side], dtype=np.int64), "shape")])


def that_counts_to(trips: int) -> onnx.ModelProto:
    """Goes round and round, whatever it is asked."""
    count = numpy_helper.from_array(np.array(trips, dtype=np.int64), "trips")
    return made([*_loop("trips"), helper.make_node("Add", ["features", "sum"], ["scores"])], [count, *_LOOP_WEIGHTS])


def that_counts_as_told(width: int) -> onnx.ModelProto:
    """Says yes when all features but the first sum up to more than 2.5; the first is how often it goes round before.

    A request whose first feature is large keeps it busy for ever, while it is quick on whatever it is tried with.
    """
    weights = {
        "first": np.eye(width, 1, dtype=np.float32),
        "rest": np.array([[0.0, 0.0]] + [[-1.0, 1.0]] * (width - 1), dtype=np.float32),
        "bias": np.array([2.5, -2.5], dtype=np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["features", "first"], ["told"]),
        helper.make_node("ReduceMax", ["told"], ["most"], keepdims=0),
        helper.make_node("Cast", ["most"], ["trips"], to=TensorProto.INT64),
        *_loop("trips"),
        helper.make_node("MatMul", ["features", "rest"], ["count"]),
        helper.make_node("Add", ["count", "bias"], ["total"]),
        helper.make_node("Add", ["total", "sum"], ["scores"]),
    ]
    return made(nodes, [*(numpy_helper.from_array(w, name) for name, w in weights.items()), *_LOOP_WEIGHTS], width)


_LOOP_WEIGHTS = [
    numpy_helper.from_array(np.array(True), "going_on"),
    numpy_helper.from_array(np.array(0.0, dtype=np.float32), "nothing"),
]


def _loop(trips: str) -> list[onnx.NodeProto]:
    """Adds nothing to nothing, so many times: `sum` is nought in the end."""
    scalar = [
        helper.make_tensor_value_info("round", TensorProto.INT64, []),
        helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
        helper.make_tensor_value_info("before", TensorProto.FLOAT, []),
    ]
    ends = [
        helper.make_tensor_value_info("goes_on_still", TensorProto.BOOL, []),
        helper.make_tensor_value_info("after", TensorProto.FLOAT, []),
    ]
    steps = [
        helper.make_node("Identity", ["goes_on"], ["goes_on_still"]),
        helper.make_node("Add", ["before", "nothing"], ["after"]),
    ]
    body = helper.make_graph(steps, "body", scalar, ends)
    return [helper.make_node("Loop", [trips, "going_on", "nothing"], ["sum"], body=body)]
