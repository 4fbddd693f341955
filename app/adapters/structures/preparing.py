"""The part of a graph before its sums, cut out and run by ONNX Runtime itself, so that every bit is the model's."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import ValueInfoProto

from app.adapters.graphs.onnx import open_session
from app.adapters.structures.graph import Array


def without_inputs(content: bytes, names: Sequence[str]) -> dict[str, Array]:
    """The values of tensors that depend on no input."""
    return Cut(content, names, inputs=()).run({}) if names else {}


class Cut:
    """A graph that ends at other tensors. Those that are inputs already are handed through.

    `bent` are the features whose columns two ends of an interval do not bound.
    """

    def __init__(
        self, content: bytes, names: Sequence[str], inputs: Sequence[str], bent: frozenset[int] = frozenset()
    ) -> None:
        self.bent = bent
        self._through = [name for name in names if name in inputs]
        self._made = [name for name in names if name not in inputs]
        self._session = open_session(_cut(content, self._made)) if self._made else None
        self._inputs = [] if self._session is None else [each.name for each in self._session.get_inputs()]

    def hands_through(self, name: str) -> bool:
        """Whether a tensor is an input as it is."""
        return name in self._through

    def run(self, tensors: Mapping[str, Array]) -> dict[str, Array]:
        found = {name: tensors[name] for name in self._through}
        if self._session is not None:
            needed = {name: tensors[name] for name in self._inputs}
            made = self._session.run(self._made, needed)
            found.update({name: np.asarray(value) for name, value in zip(self._made, made, strict=True)})
        return found


def _cut(content: bytes, names: Sequence[str]) -> bytes:
    model = onnx.load_from_string(content)
    graph = model.graph
    needed, nodes = set(names), []
    for node in reversed(graph.node):
        if needed & set(node.output):
            needed |= set(node.input)
            nodes.append(node)
    del graph.node[:], graph.output[:]
    graph.node.extend(reversed(nodes))
    graph.output.extend(ValueInfoProto(name=name) for name in names)
    # What is said of other tensors may not hold for two rows.
    del graph.value_info[:]
    for given in graph.input:
        if given.type.tensor_type.shape.dim:
            given.type.tensor_type.shape.dim[0].dim_param = "rows"
    for held in (graph.initializer, graph.input):
        kept = [each for each in held if each.name in needed]
        del held[:]
        held.extend(kept)
    made: bytes = model.SerializeToString()
    return made
