"""Arithmetic behind the sums, and the functions that turn sums into scores."""

from math import prod

import numpy as np

from app.adapters.structures.columns import elementwise
from app.adapters.structures.graph import Array, Node, NotUnderstood
from app.adapters.structures.values import Columns, Linked, Sum, Value
from app.adapters.structures.walking import Rule, Walk, inner


def add(walk: Walk, node: Node) -> Value:
    """Add, or Sum of any number of operands."""
    if _before_sums(walk, node):
        return elementwise(walk, node)
    total: Value | None = None
    for place in range(len(node.inputs)):
        held = walk.constant(node, place)
        if held is None:
            value = walk.value(node, place)
            total = value if total is None else _plus(walk, total, value)
    assert total is not None
    for held in (walk.constant(node, place) for place in range(len(node.inputs))):
        if held is not None:
            total = shifted(walk, total, held)
    return total


def subtract(walk: Walk, node: Node) -> Value:
    if _before_sums(walk, node):
        return elementwise(walk, node)
    one, other = walk.constant(node, 0), walk.constant(node, 1)
    if other is not None:
        return shifted(walk, walk.value(node), -other.astype(np.float64))
    negative = scaled(walk, walk.value(node, 1), np.array(-1.0))
    return _plus(walk, walk.value(node), negative) if one is None else shifted(walk, negative, one)


def multiply(walk: Walk, node: Node) -> Value:
    if _before_sums(walk, node):
        return elementwise(walk, node)
    for place in (0, 1):
        held = walk.constant(node, place)
        if held is not None:
            return scaled(walk, walk.value(node, 1 - place), held)
    one, other = walk.value(node), walk.value(node, 1)
    if isinstance(one, Columns) or isinstance(other, Columns) or one.shape != other.shape:
        raise NotUnderstood("it multiplies sums by columns")
    return walk.linking.multiplied(one, other)


def divide(walk: Walk, node: Node) -> Value:
    if _before_sums(walk, node):
        return elementwise(walk, node)
    above, below = walk.constant(node, 0), walk.constant(node, 1)
    if below is not None:
        if not np.all(below):
            raise NotUnderstood("it divides by nought")
        return scaled(walk, walk.value(node), 1 / below.astype(np.float64))
    if above is not None:
        value = after_sums(walk, node, 1)
        return walk.linking.inverse(value, inner(above.astype(np.float64), value.shape))
    if not _divides_by_total(walk, node):
        raise NotUnderstood("it divides by something that is not constant")
    return walk.linking.shares(after_sums(walk, node, 0))


def _divides_by_total(walk: Walk, node: Node) -> bool:
    """Whether each column is divided by the sum of all, or of their absolute values."""
    total = walk.graph.makers.get(node.inputs[1])
    value = walk.values.get(node.inputs[0])
    if total is None or total.operator != "ReduceSum" or not total.attributes.get("keepdims", 1):
        return False
    size = walk.graph.makers.get(total.inputs[0])
    same = total.inputs[0] if size is None or size.operator != "Abs" else size.inputs[0]
    return value is not None and same == node.inputs[0] and len(value.shape) == 1


def negate(walk: Walk, node: Node) -> Value:
    return elementwise(walk, node) if _before_sums(walk, node) else scaled(walk, walk.value(node), np.array(-1.0))


def absolute(walk: Walk, node: Node) -> Value:
    return elementwise(walk, node) if _before_sums(walk, node) else walk.linking.size(after_sums(walk, node))


def _before_sums(walk: Walk, node: Node) -> bool:
    return all(name in walk.graph.constants or isinstance(walk.values.get(name), Columns) for name in node.inputs)


def _plus(walk: Walk, one: Value, other: Value) -> Value:
    if isinstance(one, Columns) or isinstance(other, Columns) or one.shape != other.shape:
        raise NotUnderstood("it adds columns to sums, or sums of different shapes")
    if isinstance(one, Sum) and isinstance(other, Sum):
        return one.plus(other)
    return walk.linking.added(one, other)


def shifted(walk: Walk, value: Value, offset: Array) -> Value:
    if isinstance(value, Columns):
        raise NotUnderstood("it adds columns to sums")
    held = inner(offset.astype(np.float64), value.shape)
    return value.shifted(held) if isinstance(value, Sum) else walk.linking.scaled(value, np.ones(len(held)), held)


def scaled(walk: Walk, value: Value, factor: Array) -> Value:
    if isinstance(value, Columns):
        raise NotUnderstood("it multiplies sums by columns")
    held = inner(factor.astype(np.float64), value.shape)
    return value.scaled(held) if isinstance(value, Sum) else walk.linking.scaled(value, held, np.zeros(len(held)))


def total(walk: Walk, node: Node) -> Value:
    """ReduceSum or ReduceMean along an axis of a row."""
    value = walk.value(node)
    axes = walk.constant(node, 1) if len(node.inputs) > 1 else np.asarray(node.attributes.get("axes", ()))
    if axes is None or axes.size != 1 or isinstance(value, Columns):
        raise NotUnderstood(f"the operator {node.operator} is applied to something other than a sum")
    rank = len(value.shape) + 1
    axis = int(axes.ravel()[0]) % rank - 1
    if axis < 0:
        raise NotUnderstood("it does not keep the rows of people apart")
    lines = np.moveaxis(np.arange(prod(value.shape)).reshape(value.shape), axis, -1)
    kept = node.attributes.get("keepdims", 1)
    shape = tuple(1 if place == axis else side for place, side in enumerate(value.shape) if kept or place != axis)
    lines = lines.reshape(-1, lines.shape[-1])
    share = 1 / lines.shape[1] if node.operator == "ReduceMean" else 1.0
    if isinstance(value, Sum):
        matrix = np.zeros((prod(value.shape), len(lines)))
        matrix[lines, np.arange(len(lines))[:, None]] = share
        return value.mixed(matrix, shape)
    result: Linked = walk.linking.picked(value, lines[:, 0], shape)
    for place in range(1, lines.shape[1]):
        result = walk.linking.added(result, walk.linking.picked(value, lines[:, place], shape))
    return walk.linking.scaled(result, np.full(len(lines), share), np.zeros(len(lines)))


def after_sums(walk: Walk, node: Node, place: int = 0) -> Sum | Linked:
    """What comes after a sum."""
    value = walk.value(node, place)
    if isinstance(value, Columns):
        raise NotUnderstood(f"it uses the operator {node.operator} before anything is added up")
    return value


def sigmoid(walk: Walk, node: Node) -> Value:
    return walk.linking.sigmoid(after_sums(walk, node))


def exp(walk: Walk, node: Node) -> Value:
    return walk.linking.exp(after_sums(walk, node))


def softmax(walk: Walk, node: Node) -> Value:
    value = after_sums(walk, node)
    # Before opset 13 everything from the axis on counts as one.
    axis = node.attributes.get("axis", -1 if walk.graph.opsets.get("", 1) >= 13 else 1)
    if len(value.shape) != 1 or axis not in (1, -1):
        raise NotUnderstood("its softmax is not over the columns of a table")
    return walk.linking.softmax(value)


def normalize(walk: Walk, node: Node) -> Value:
    value = after_sums(walk, node)
    if node.attributes.get("norm", "MAX") != "L1" or len(value.shape) != 1:
        raise NotUnderstood(f"its scores are normalised by {node.attributes.get('norm', 'MAX')}")
    return walk.linking.shares(value)


def clip(walk: Walk, node: Node) -> Value:
    value = walk.value(node)
    if isinstance(value, Columns):
        return elementwise(walk, node)
    ends = [node.attributes.get("min", -np.inf), node.attributes.get("max", np.inf)]
    for place in (1, 2):
        if len(node.inputs) > place and node.inputs[place]:
            held = walk.constant(node, place)
            if held is None:
                raise NotUnderstood("the operator Clip is told how by other parts of the graph")
            ends[place - 1] = float(held.reshape(())[()])
    return walk.linking.clipped(value, *ends)


ARITHMETIC: dict[str, Rule] = {
    "Add": add,
    "Sum": add,
    "Sub": subtract,
    "Mul": multiply,
    "Div": divide,
    "Neg": negate,
    "Abs": absolute,
    "ReduceSum": total,
    "ReduceMean": total,
    "Sigmoid": sigmoid,
    "Exp": exp,
    "Softmax": softmax,
    "Normalizer": normalize,
    "Clip": clip,
}
