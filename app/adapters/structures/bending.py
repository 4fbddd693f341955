"""Which features a graph bends: their columns may fall and rise again, so two ends of an interval do not bound them."""

from collections.abc import Mapping, Sequence

import numpy as np
from onnx import TensorProto

from app.adapters.structures.graph import Graph, Node
from app.adapters.structures.rearranging import REARRANGING
from app.adapters.structures.values import Columns, Value
from app.adapters.structures.walking import needed

# With one operand that is not constant, each of them only rises or only falls: in the runtime's numbers too, because
# rounding keeps the order.
STRAIGHT = ("Add", "Sum", "Sub", "Mul", "Neg", "Floor", "Ceil", "Round", "Clip", "Scaler", "BatchNormalization")
NUMBERS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)


def bent_features(graph: Graph, names: Sequence[str], values: Mapping[str, Value]) -> frozenset[int]:
    """The features whose way to these columns has a node that may bend them."""
    bent = 0
    for name in names:
        for node in needed(graph, name):
            if not _is_straight(node, graph):
                bent |= _needs(node, values)
    return frozenset(place for place in range(bent.bit_length()) if bent >> place & 1)


def _needs(node: Node, values: Mapping[str, Value]) -> int:
    """The features that a node reads, a bit for each."""
    read = (values.get(name) for name in node.inputs)
    needs = 0
    for columns in read:
        if isinstance(columns, Columns):
            needs |= int(np.bitwise_or.reduce(columns.needs.ravel()))
    return needs


def _is_straight(node: Node, graph: Graph) -> bool:
    if node.operator in REARRANGING:
        return True
    if node.operator == "Cast":
        return node.attributes["to"] in NUMBERS
    free = [place for place, name in enumerate(node.inputs) if name and name not in graph.constants]
    if node.operator == "Imputer":
        return bool(np.isnan(node.attributes.get("replaced_value_float", 0.0)))
    if node.operator == "Div":
        return free == [0]
    return node.operator in STRAIGHT and len(free) == 1
