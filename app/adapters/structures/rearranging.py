"""Operators that only move elements about. Each is tried on numbers that stand for the elements of a few rows."""

from collections.abc import Callable, Sequence

import numpy as np

from app.adapters.structures.graph import Array, Graph, Node, NotUnderstood
from app.adapters.structures.values import Places, Shape

# So many rows show whether an operator keeps to a row.
ROWS = 7


def rearranged(node: Node, graph: Graph, shapes: Sequence[Shape]) -> list[tuple[Places, Shape]]:
    """For each output: which elements of the inputs, numbered one input after the other, it has, and its shape."""
    width = sum(int(np.prod(shape, dtype=np.int64)) for shape in shapes)
    inputs, start = [], 0
    for shape in shapes:
        count = int(np.prod(shape, dtype=np.int64))
        numbers = np.arange(ROWS)[:, None] * width + np.arange(start, start + count)
        inputs.append(numbers.reshape(ROWS, *shape))
        start += count
    return [_row_of(output, width) for output in REARRANGING[node.operator](node, graph, inputs)]


def _row_of(output: Array, width: int) -> tuple[Places, Shape]:
    """The first row, if the others are like it."""
    if output.ndim == 0 or len(output) != ROWS:
        raise NotUnderstood("it does not keep the rows of people apart")
    flat = output.reshape(ROWS, -1)
    first = flat[0]
    if (first >= width).any() or (flat != first + np.arange(ROWS)[:, None] * width).any():
        raise NotUnderstood("it does not keep the rows of people apart")
    return first.astype(np.intp), output.shape[1:]


def _constant(node: Node, graph: Graph, place: int, attribute: str = "") -> Array | None:
    """What newer opsets take as an input and older ones as an attribute; None if neither is there."""
    if len(node.inputs) > place and node.inputs[place]:
        if node.inputs[place] not in graph.constants:
            raise NotUnderstood(f"the operator {node.operator} is told how by other parts of the graph")
        return graph.constants[node.inputs[place]]
    return np.asarray(node.attributes[attribute]) if attribute in node.attributes else None


def _same(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    return inputs[:1]


def _reshape(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    wanted = _constant(node, graph, 1, "shape")
    if wanted is None or node.attributes.get("allowzero"):
        raise NotUnderstood("the operator Reshape is told how by other parts of the graph")
    sides = [inputs[0].shape[place] if side == 0 else int(side) for place, side in enumerate(wanted.tolist())]
    return [inputs[0].reshape(sides)]


def _flatten(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    axis = node.attributes.get("axis", 1)
    return [inputs[0].reshape(int(np.prod(inputs[0].shape[:axis], dtype=np.int64)), -1)]


def _squeeze(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    axes = _constant(node, graph, 1, "axes")
    return [np.squeeze(inputs[0], None if axes is None else tuple(axes.ravel().tolist()))]


def _unsqueeze(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    axes = _constant(node, graph, 1, "axes")
    if axes is None:
        raise NotUnderstood("the operator Unsqueeze names no axis")
    return [np.expand_dims(inputs[0], tuple(axes.ravel().tolist()))]


def _concat(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    return [np.concatenate(inputs, axis=node.attributes["axis"])]


def _gather(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    wanted = _constant(node, graph, 1)
    return [np.take(inputs[0], np.asarray(wanted), axis=node.attributes.get("axis", 0))]


def _extract(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    """ArrayFeatureExtractor: some of the last axis, in any order."""
    wanted = _constant(node, graph, 1)
    return [np.take(inputs[0], np.asarray(wanted).ravel(), axis=-1)]


def _slice(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    starts, ends = _constant(node, graph, 1, "starts"), _constant(node, graph, 2, "ends")
    axes, steps = _constant(node, graph, 3, "axes"), _constant(node, graph, 4)
    if starts is None or ends is None:
        raise NotUnderstood("the operator Slice is told how by other parts of the graph")
    cut: list[slice] = [slice(None)] * inputs[0].ndim
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        axis = place if axes is None else int(axes[place])
        step = 1 if steps is None else int(steps[place])
        if step < 1:
            raise NotUnderstood("the operator Slice goes backwards")
        cut[axis] = slice(start, end, step)
    return [inputs[0][tuple(cut)]]


def _split(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    sizes, axis = _constant(node, graph, 1, "split"), node.attributes.get("axis", 0)
    if sizes is None:
        return np.split(inputs[0], len(node.outputs), axis=axis)
    return np.split(inputs[0], np.cumsum(sizes)[:-1], axis=axis)


def _transpose(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    return [np.transpose(inputs[0], node.attributes.get("perm"))]


def _vectorize(node: Node, graph: Graph, inputs: list[Array]) -> list[Array]:
    """FeatureVectorizer: tables side by side."""
    return [np.concatenate(inputs, axis=1)]


REARRANGING: dict[str, Callable[[Node, Graph, list[Array]], list[Array]]] = {
    "Identity": _same,
    "ZipMap": _same,
    "Dropout": _same,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Concat": _concat,
    "Gather": _gather,
    "ArrayFeatureExtractor": _extract,
    "Slice": _slice,
    "Split": _split,
    "Transpose": _transpose,
    "FeatureVectorizer": _vectorize,
}
