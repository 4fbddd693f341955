"""The operators that treat every column by itself, before anything is added up.

Nothing is computed here: the runtime does that, for the person. It only matters which features a column depends on.
"""

import numpy as np

from app.adapters.structures.graph import Node, NotUnderstood
from app.adapters.structures.values import Columns, Shape
from app.adapters.structures.walking import Rule, Walk

# They treat each element by itself, and give the same bits whatever else is in the batch.
ELEMENTWISE = (
    *("And", "Ceil", "Floor", "Identity", "IsNaN", "IsInf", "Not", "Or", "Reciprocal", "Round", "Sign", "Sqrt"),
    *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mod", "Where", "Xor"),
    *("Binarizer", "CategoryMapper", "Imputer", "LabelEncoder", "Scaler"),
)
TRUTHS = ("And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor")


def elementwise(walk: Walk, node: Node) -> Columns:
    """Whatever the columns hold, element by element, with constants or with other columns."""
    operands = [_operand(walk, node, place) for place, name in enumerate(node.inputs) if name]
    columns = [each for each in operands if isinstance(each, Columns)]
    shapes = {len(each.shape) for each in columns}
    if len(shapes) != 1:
        raise NotUnderstood(f"the operator {node.operator} takes tables of different shapes")
    needs = np.zeros((), dtype=object)
    for each in columns:
        needs = np.bitwise_or(needs, each.needs)
    shape = np.broadcast_shapes(needs.shape, *(each for each in operands if isinstance(each, tuple)))
    # A row of constants may make several columns out of one.
    return Columns(node.outputs[0], np.array(np.broadcast_to(needs, shape), dtype=object), _dtype(node, columns[0]))


def _operand(walk: Walk, node: Node, place: int) -> Columns | Shape:
    """Columns, or the shape in which a constant meets each row."""
    held = walk.constant(node, place)
    if held is None:
        value = walk.value(node, place)
        if not isinstance(value, Columns):
            raise NotUnderstood(f"the operator {node.operator} is applied to a sum")
        return value
    ranks = [len(each.shape) for name in node.inputs if isinstance(each := walk.values.get(name), Columns)]
    if not ranks:
        raise NotUnderstood(f"the operator {node.operator} takes something that is not understood")
    if held.ndim <= ranks[0]:
        return held.shape
    if held.ndim == ranks[0] + 1 and held.shape[0] == 1:
        return held.shape[1:]
    raise NotUnderstood("it has constants for more than one row")


def _dtype(node: Node, columns: Columns) -> str:
    if node.operator in TRUTHS:
        return "bool"
    if node.operator in ("Binarizer", "Imputer", "Scaler"):
        return "float32" if node.operator == "Scaler" else columns.dtype
    if node.operator in ("LabelEncoder", "CategoryMapper"):
        return _encoded(node)
    return columns.dtype


def _encoded(node: Node) -> str:
    """The type that an encoder writes."""
    held = node.attributes
    if "values_tensor" in held:
        return str(np.asarray(held["values_tensor"]).dtype)
    if "values_floats" in held:
        return "float32"
    return "int64" if "values_int64s" in held else "object"


def one_hot(walk: Walk, node: Node) -> Columns:
    """OneHotEncoder: a column for each category, on an axis of its own."""
    columns = walk.columns(node)
    held = node.attributes
    count = len(held.get("cats_int64s", ()) or held.get("cats_strings", ()))
    needs = np.repeat(columns.needs[..., None], count, axis=-1)
    return Columns(node.outputs[0], needs, "float32")


COLUMNS: dict[str, Rule] = {**dict.fromkeys(ELEMENTWISE, elementwise), "OneHotEncoder": one_hot}
