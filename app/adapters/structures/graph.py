"""A graph as its file describes it: nodes in their order, and tensors that never change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = NDArray[Any]

# Domains that mean ONNX itself.
PLAIN = ("", "ai.onnx")


class NotUnderstood(Exception):
    """Something in a graph that is not seen through; the text says what, for a person."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator at work. Texts among the attributes are `str`, tensors are arrays, lists are tuples."""

    operator: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes of a graph in the order in which they run, its constants by name, its inputs and its outputs.

    `makers` says which node makes a tensor. `opsets` has the version of each domain; ONNX itself is "".
    """

    nodes: tuple[Node, ...]
    constants: Mapping[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    opsets: Mapping[str, int]
    makers: Mapping[str, Node]


def read_graph(content: bytes) -> Graph:
    """Read a file that the runtime has loaded; `NotUnderstood` if it has functions, or weights that are not plain."""
    model = onnx.load_from_string(content)
    if model.functions:
        raise NotUnderstood("it has functions of its own")
    graph = model.graph
    constants = {tensor.name: _array(tensor) for tensor in graph.initializer}
    if graph.sparse_initializer:
        raise NotUnderstood("it has sparse weights")
    nodes = []
    for node in map(_node, graph.node):
        if node.operator == "Constant" and node.domain == "":
            constants[node.outputs[0]] = _constant(node)
        else:
            nodes.append(node)
    return Graph(
        nodes=tuple(nodes),
        constants=constants,
        inputs=tuple(each.name for each in graph.input if each.name not in constants),
        outputs=tuple(each.name for each in graph.output),
        opsets={_domain(each.domain): each.version for each in model.opset_import},
        makers={name: node for node in nodes for name in node.outputs if name},
    )


def _domain(domain: str) -> str:
    return "" if domain in PLAIN else domain


def _node(node: NodeProto) -> Node:
    attributes = {attribute.name: _value(attribute) for attribute in node.attribute}
    return Node(node.op_type, _domain(node.domain), tuple(node.input), tuple(node.output), attributes)


def _value(attribute: AttributeProto) -> Any:
    value = helper.get_attribute_value(attribute)
    match value:
        case bytes():
            return value.decode()
        case TensorProto():
            return _array(value)
        case GraphProto() | ModelProto():
            raise NotUnderstood("it has graphs inside a graph")
    if attribute.type == AttributeProto.STRINGS:
        return tuple(text.decode() for text in value)
    return tuple(value) if isinstance(value, list) else value


def _array(tensor: TensorProto) -> Array:
    array = numpy_helper.to_array(tensor)
    if array.dtype.kind not in "biufOSU":
        raise NotUnderstood(f"it has weights of the type {array.dtype}")
    if array.dtype.kind in "OSU":
        texts = [text.decode() if isinstance(text, bytes) else str(text) for text in array.ravel().tolist()]
        return np.array(texts, dtype=object).reshape(array.shape)
    return array


# The attributes of a Constant node that hold plain numbers or texts, with their types.
PLAIN_CONSTANTS = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
    "value_string": object,
    "value_strings": object,
}


def _constant(node: Node) -> Array:
    ((name, value),) = node.attributes.items()
    if name == "value":
        return np.asarray(value)
    if name not in PLAIN_CONSTANTS:
        raise NotUnderstood("it has sparse weights")
    return np.array(value, dtype=PLAIN_CONSTANTS[name])
