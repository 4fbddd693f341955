"""The walk through a graph, from its inputs to the scores: each node takes understood values to others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from onnx import TensorProto, helper

from app.adapters.structures.graph import Array, Graph, Node, NotUnderstood
from app.adapters.structures.linking import Linking
from app.adapters.structures.rearranging import REARRANGING, rearranged
from app.adapters.structures.sums.ensembles import Ensemble
from app.adapters.structures.values import Columns, Linked, Shape, Sum, Value, joined

FLOATS = ("float32", "float64")


@dataclass(frozen=True, slots=True)
class Trees:
    """An ensemble, and the tensor whose columns it asks about."""

    ensemble: Ensemble
    columns: str


@dataclass(slots=True)
class Walk:
    """What is known so far: every tensor that was reached, the trees, and the link."""

    graph: Graph
    values: dict[str, Value]
    linking: Linking = field(default_factory=Linking)
    trees: dict[str, Trees] = field(default_factory=dict)

    def constant(self, node: Node, place: int) -> Array | None:
        name = node.inputs[place] if len(node.inputs) > place else ""
        return self.graph.constants.get(name) if name else None

    def value(self, node: Node, place: int = 0) -> Value:
        name = node.inputs[place]
        if name not in self.values:
            raise NotUnderstood(f"the operator {node.operator} takes something that is not understood")
        return self.values[name]

    def columns(self, node: Node) -> Columns:
        """The input of an operator that must come before any sum."""
        value = self.value(node)
        if not isinstance(value, Columns):
            raise NotUnderstood(f"the operator {node.operator} comes after a sum")
        return value


Rule = Callable[[Walk, Node], Value | Sequence[Value]]


def walk(graph: Graph, inputs: Mapping[str, Columns], output: str, rules: Mapping[str, Rule]) -> Walk:
    """Follow the nodes that the output depends on; `NotUnderstood` at the first that has no rule."""
    done = Walk(graph, dict(inputs))
    for node in needed(graph, output):
        if node.operator not in rules:
            raise NotUnderstood(f"it uses the operator {node.operator}")
        made = rules[node.operator](done, node)
        values = [made] if isinstance(made, Columns | Sum | Linked) else list(made)
        done.values.update(zip(node.outputs, values, strict=False))
    if output not in done.values:
        raise NotUnderstood("its scores do not depend on its inputs")
    return done


def needed(graph: Graph, output: str) -> list[Node]:
    """The nodes that an output depends on, in the order in which they run."""
    names, nodes = {output}, []
    for node in reversed(graph.nodes):
        if names & set(node.outputs):
            names |= set(node.inputs)
            nodes.append(node)
    return nodes[::-1]


def rearrange(walk: Walk, node: Node) -> Sequence[Value]:
    """A node that only moves elements about."""
    named = node.inputs if node.operator in ("Concat", "FeatureVectorizer") else node.inputs[:1]
    if any(name in walk.graph.constants for name in named):
        raise NotUnderstood(f"the operator {node.operator} joins constants to what differs from person to person")
    values = [walk.value(node, place) for place in range(len(named))]
    made = rearranged(node, walk.graph, [value.shape for value in values])
    return [
        _moved(walk, values, places, shape, name) for (places, shape), name in zip(made, node.outputs, strict=False)
    ]


def _moved(walk: Walk, values: list[Value], places: Array, shape: Shape, name: str) -> Value:
    columns = [value for value in values if isinstance(value, Columns)]
    if columns and len(columns) == len(values):
        needs = np.concatenate([value.needs.ravel() for value in columns])
        return Columns(name, needs[places].reshape(shape), columns[0].dtype)
    later = [value for value in values if not isinstance(value, Columns)]
    if columns:
        raise NotUnderstood("it joins sums to columns that were not added up")
    sums = [value for value in later if isinstance(value, Sum)]
    if len(sums) == len(values):
        return joined(sums).picked(places, shape)
    if len(later) == 1 and isinstance(later[0], Linked):
        return walk.linking.picked(later[0], places, shape)
    return walk.linking.joined(later, places, shape)


def cast(walk: Walk, node: Node) -> Value:
    wanted = np.dtype(helper.tensor_dtype_to_np_dtype(node.attributes["to"]))
    value = walk.value(node)
    if isinstance(value, Columns):
        # What this type cannot hold becomes one number or another, with the row's place in its batch.
        if wanted.name == "uint32":
            raise NotUnderstood("it turns values into uint32")
        name = "object" if node.attributes["to"] == TensorProto.STRING else wanted.name
        return Columns(node.outputs[0], value.needs, name)
    if wanted.name not in FLOATS:
        raise NotUnderstood(f"it turns a sum into {wanted.name}")
    return value.cast(wanted.name) if isinstance(value, Sum) else walk.linking.cast(value, wanted.name)


def inner(constant: Array, shape: Shape) -> Array:
    """A constant as it meets each row, as a list; `NotUnderstood` if it differs from row to row."""
    if constant.ndim == len(shape) + 1 and constant.shape[0] == 1:
        constant = constant[0]
    if constant.ndim > len(shape) and constant.size > 1:
        raise NotUnderstood("it has constants for more than one row")
    held = constant.reshape(()) if constant.size == 1 else constant
    if np.broadcast_shapes(held.shape, shape) != shape:
        raise NotUnderstood("a constant makes more columns out of one")
    return np.broadcast_to(held, shape).reshape(prod(shape))


RULES: dict[str, Rule] = {**dict.fromkeys(REARRANGING, rearrange), "Cast": cast}
