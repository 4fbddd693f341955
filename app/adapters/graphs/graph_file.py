"""The operators of a graph that draw random numbers, because the runtime shows only inputs and outputs."""

from collections.abc import Iterator, Sequence

import onnx
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

# They always draw random numbers. A seed does not help: it only fixes the first draw.
DRAWING = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)


def drawing_operators(content: bytes) -> list[str]:
    """The operators that draw random numbers, each once."""
    scopes = list(_scopes(onnx.load_from_string(content)))
    off = {name for nodes, tensors in scopes for name in _falsehoods(nodes, tensors)}
    nodes = [node for scope, _ in scopes for node in scope]
    return sorted({node.op_type for node in nodes if node.op_type in DRAWING or _is_training(node, off)})


def _is_training(node: NodeProto, off: set[str]) -> bool:
    """Whether it is a Dropout that draws: its third input is there, and nothing says that it is false."""
    mode = node.input[2] if node.op_type == "Dropout" and len(node.input) > 2 else ""
    return mode != "" and mode not in off


def _falsehoods(nodes: Sequence[NodeProto], tensors: Sequence[TensorProto]) -> Iterator[str]:
    """The names of constants that are false."""
    yield from (tensor.name for tensor in tensors if _is_false(tensor))
    for node in nodes:
        if node.op_type == "Constant" and node.attribute and _is_false(node.attribute[0].t):
            yield node.output[0]


def _is_false(tensor: TensorProto) -> bool:
    return tensor.data_type == TensorProto.BOOL and not numpy_helper.to_array(tensor).any()


def _scopes(model: ModelProto) -> Iterator[tuple[Sequence[NodeProto], Sequence[TensorProto]]]:
    """The nodes and the tensors of the graph, of the graphs inside its nodes, and of the functions."""
    found = [(model.graph.node, model.graph.initializer), *((function.node, ()) for function in model.functions)]
    for nodes, tensors in found:
        for attribute in (attribute for node in nodes for attribute in node.attribute):
            inside = [attribute.g] if attribute.HasField("g") else attribute.graphs
            # The list grows during the loop.
            found.extend((graph.node, graph.initializer) for graph in inside)
        yield nodes, tensors
