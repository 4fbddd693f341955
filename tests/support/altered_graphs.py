"""Graphs that were altered at random: by a byte, by an operator, by an attribute."""

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto

# Operators that take what others take, and do something else with it.
OTHERS = (
    *("Abs", "Add", "ArgMax", "Ceil", "Clip", "Concat", "Cos", "Div", "Erf", "Exp", "Floor", "Gemm", "Identity", "Log"),
    *(
        "LogSoftmax",
        "MatMul",
        "Max",
        "Min",
        "Mod",
        "Mul",
        "Neg",
        "Pow",
        "Reciprocal",
        "ReduceMax",
        "ReduceMean",
        "Relu",
    ),
    *("ReduceSum", "Round", "Sigmoid", "Sign", "Sin", "Softmax", "Softplus", "Sqrt", "Sub", "Sum", "Tanh", "Transpose"),
    *("Binarizer", "Imputer", "LinearClassifier", "LinearRegressor", "Normalizer", "Scaler", "TreeEnsembleRegressor"),
)
ML = OTHERS[OTHERS.index("Binarizer") :]
TEXTS = (
    *("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT", "SUM", "AVERAGE", "MIN", "MAX", "L1", "L2"),
    *("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF"),
)


def altered(content: bytes, rng: np.random.Generator) -> bytes:
    """The same file with one alteration."""
    return (_byte, _operator, _attribute)[int(rng.integers(3))](content, rng)


def _byte(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _operator(content: bytes, rng: np.random.Generator) -> bytes:
    model = onnx.load_from_string(content)
    node = _some(model.graph.node, rng)
    node.op_type = str(rng.choice(OTHERS))
    node.domain = "ai.onnx.ml" if node.op_type in ML else ""
    return bytes(model.SerializeToString())


def _attribute(content: bytes, rng: np.random.Generator) -> bytes:
    model = onnx.load_from_string(content)
    nodes = [node for node in model.graph.node if node.attribute]
    if not nodes:
        return _byte(content, rng)
    node: NodeProto = _some(nodes, rng)
    attribute = _some(node.attribute, rng)
    if rng.random() < 0.2:
        node.attribute.remove(attribute)
    else:
        _change(attribute, rng)
    return bytes(model.SerializeToString())


def _change(attribute: AttributeProto, rng: np.random.Generator) -> None:
    number = float(rng.choice([0.0, 1.0, -1.0, 0.5, 2.0, 1e30, float(rng.normal())]))
    if attribute.type == AttributeProto.FLOAT:
        attribute.f = number
    elif attribute.type == AttributeProto.INT:
        attribute.i = int(rng.integers(-2, 4))
    elif attribute.type == AttributeProto.STRING:
        attribute.s = str(rng.choice(TEXTS)).encode()
    elif attribute.type == AttributeProto.FLOATS and attribute.floats:
        attribute.floats[int(rng.integers(len(attribute.floats)))] = number
    elif attribute.type == AttributeProto.INTS and attribute.ints:
        attribute.ints[int(rng.integers(len(attribute.ints)))] = int(rng.integers(-1, 6))
    elif attribute.type == AttributeProto.STRINGS and attribute.strings:
        attribute.strings[int(rng.integers(len(attribute.strings)))] = str(rng.choice(TEXTS)).encode()
    elif attribute.type == AttributeProto.TENSOR and attribute.t.raw_data:
        held = bytearray(attribute.t.raw_data)
        held[int(rng.integers(len(held)))] ^= 1 << int(rng.integers(8))
        attribute.t.raw_data = bytes(held)


def _some(items, rng: np.random.Generator):  # whatever is in the list
    return items[int(rng.integers(len(items)))]
