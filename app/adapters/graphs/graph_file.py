"""What keeps a graph that the runtime loads from being served: it draws random numbers, or its trees never end."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import onnx
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

# They always draw random numbers. A seed does not help: it only fixes the first draw.
DRAWING = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)


def why_unusable(content: bytes) -> str:
    """Why a graph that was loaded cannot be served; empty if nothing speaks against it."""
    scopes = list(_scopes(onnx.load_from_string(content)))
    off = {name for nodes, tensors in scopes for name in _falsehoods(nodes, tensors)}
    nodes = [node for scope, _ in scopes for node in scope]
    drawing = sorted({node.op_type for node in nodes if node.op_type in DRAWING or _is_training(node, off)})
    if drawing:
        named = " and ".join(drawing)
        return f"it uses the operator {named}, which draws random numbers; export the model without it"
    if any(_leads_in_a_circle(node) for node in nodes if node.op_type.startswith("TreeEnsemble")):
        return "a branch of its trees leads back to where it came from, and never to a leaf; export it anew"
    return ""


def _leads_in_a_circle(node: NodeProto) -> bool:
    """Whether the runtime may follow the branches of trees for ever: not all nodes come before leaves."""
    ways = _ways({each.name: onnx.helper.get_attribute_value(each) for each in node.attribute})
    above = defaultdict(list)
    for place, below in enumerate(ways):
        for each in below:
            above[each].append(place)
    open_ways = [len(below) for below in ways]
    ended = [place for place, count in enumerate(open_ways) if not count]
    for place in ended:
        for each in above[place]:
            open_ways[each] -= 1
            if not open_ways[each]:
                # The list grows during the loop.
                ended.append(each)
    return len(ended) < len(ways)


def _ways(held: dict[str, Any]) -> list[list[int]]:
    """The nodes below each node of all trees. Those that are not there are the runtime's to refuse."""
    sides = [list(held.get(f"nodes_{side}nodeids", ())) for side in ("true", "false")]
    if "nodes_treeids" not in held:
        leaves = [held.get(f"nodes_{side}leafs", ()) for side in ("true", "false")]
        marked = [zip(ids, are_leaves, strict=False) for ids, are_leaves in zip(sides, leaves, strict=True)]
        return [[to for to, is_leaf in pair if not is_leaf] for pair in zip(*marked, strict=False)]
    trees = held["nodes_treeids"]
    place = {key: at for at, key in enumerate(zip(trees, held.get("nodes_nodeids", ()), strict=False))}
    return [
        [] if mode == b"LEAF" else [place[tree, to] for to in below if (tree, to) in place]
        for tree, mode, *below in zip(trees, held.get("nodes_modes", ()), *sides, strict=False)
    ]


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
