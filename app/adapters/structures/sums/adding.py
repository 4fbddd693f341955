"""The operators that add columns up: tree ensembles, linear models, and matrix products."""

from dataclasses import replace
from typing import Any

import numpy as np

from app.adapters.structures.graph import Array, Node, NotUnderstood
from app.adapters.structures.sums.ensembles import Ensemble, read_ensemble, read_ensemble_5
from app.adapters.structures.values import UNIT, Columns, Linked, Sum, Value, sum_of
from app.adapters.structures.walking import FLOATS, Rule, Trees, Walk

# What the runtime makes of 0 to 4 in opset 5, where ONNX has SOFTMAX for 1 and LOGISTIC for 2.
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def classifier(walk: Walk, node: Node) -> list[Value]:
    """TreeEnsembleClassifier: labels, and a score for each class."""
    held = node.attributes
    labels = held.get("classlabels_int64s") or held.get("classlabels_strings") or ()
    base, used = _base(held), set(held.get("class_ids", ()))
    if len(labels) < 2:
        raise NotUnderstood("its trees have fewer than two classes")
    ensemble, name = _read(walk, node, "class", len(labels))
    total = _total(name, ensemble, 1.0)
    if len(labels) == 2:
        return [total, _two_classes(walk, held, total, base, used, ensemble)]
    if len(base) not in (0, len(labels)):
        raise NotUnderstood("its trees have base values for some of their classes only")
    return [total, _transformed(walk, total.shifted(base) if len(base) else total, held)]


def _two_classes(walk: Walk, held: Any, total: Sum, base: Array, used: set[int], ensemble: Ensemble) -> Value:
    """What the runtime does with two classes depends on which of them the leaves have weights for."""
    if used == {0} and len(base) < 2:
        score = total.picked(np.array([0]), (1,)).shifted(base if len(base) else np.zeros(1))
        if held.get("post_transform") == "LOGISTIC":
            both = score.mixed(np.array([[-1.0, 1.0]]), (2,))
            return walk.linking.sigmoid(both)
        positive = (ensemble.leaves >= 0).all()
        return score.mixed(np.array([[-1.0, 1.0]]), (2,)).shifted(np.array([1.0 if positive else 0.0, 0.0]))
    trees, leaves = ensemble.leaves_of_trees()
    seen = np.ones(len(ensemble.roots), dtype=np.bool_)
    np.logical_and.at(seen, trees, ensemble.weighted[leaves, 1])
    # If no leaf of a row has a weight for the second class, the runtime counts one class only.
    if len(base) or 1 not in used or not seen.any():
        raise NotUnderstood("the weights of its trees name two classes in a way that is not seen through")
    return _transformed(walk, total, held)


def regressor(walk: Walk, node: Node) -> Value:
    """TreeEnsembleRegressor."""
    held = node.attributes
    base, targets = _base(held), int(held.get("n_targets", 1))
    how = held.get("aggregate_function", "SUM")
    if how not in ("SUM", "AVERAGE"):
        raise NotUnderstood(f"its trees are joined by {how}")
    ensemble, name = _read(walk, node, "target", targets)
    if targets == 1 and not ensemble.weighted.all():
        # The runtime then takes something else for the weight.
        raise NotUnderstood("a leaf of its trees has no weight")
    total = _total(name, ensemble, 1.0 if how == "SUM" else 1 / len(ensemble.roots))
    if len(base) not in (0, targets):
        raise NotUnderstood("its trees have base values for some of their targets only")
    total = total.shifted(base) if len(base) else total
    # The runtime leaves a single target as it is, unless it is PROBIT.
    transform = held.get("post_transform", "NONE")
    return total if targets == 1 and transform != "PROBIT" else _transformed(walk, total, held)


def ensemble_5(walk: Walk, node: Node) -> Value:
    """TreeEnsemble, of opset 5."""
    held = node.attributes
    how = held.get("aggregate_function", 1)
    if how not in (0, 1):
        raise NotUnderstood("its trees are joined by MIN or MAX")
    columns = walk.columns(node)
    ensemble = read_ensemble_5(node, np.dtype(columns.dtype))
    name = node.outputs[0]
    walk.trees[name] = Trees(_checked(ensemble, columns), columns.name)
    total = _total(name, ensemble, 1.0 if how == 1 else 1 / len(ensemble.roots), columns.dtype)
    transform = TRANSFORMS[held.get("post_transform", 0)]
    if total.shape == (1,) and transform != "PROBIT":
        return total
    return _transformed(walk, total, {"post_transform": transform})


def _read(walk: Walk, node: Node, prefix: str, targets: int) -> tuple[Ensemble, str]:
    columns = walk.columns(node)
    name = node.outputs[-1]
    held = node.attributes
    doubled = any(key.endswith("_as_tensor") for key in held)
    if doubled != (columns.dtype == "float64") and doubled:
        raise NotUnderstood("its trees hold other numbers than they read")
    # Whole numbers are compared as float32.
    ensemble = read_ensemble(node, prefix, targets, np.dtype("float64" if columns.dtype == "float64" else "float32"))
    walk.trees[name] = Trees(_checked(ensemble, columns), columns.name)
    return ensemble, name


def _checked(ensemble: Ensemble, columns: Columns) -> Ensemble:
    """The same, if every column, child and leaf that it names is there, and each column depends on one feature."""
    if len(columns.shape) != 1:
        raise NotUnderstood("its trees read something other than a table")
    nodes, leaves = len(ensemble.columns), len(ensemble.leaves)
    codes = np.concatenate([ensemble.yes, ensemble.no, ensemble.roots])
    if (codes >= nodes).any() or (codes < -leaves).any():
        raise NotUnderstood("its trees name nodes that are not there")
    if ((ensemble.columns < 0) | (ensemble.columns >= len(columns.needs))).any():
        raise NotUnderstood("its trees name columns that are not there")
    if not (np.isfinite(ensemble.leaves).all() and len(ensemble.roots)):
        raise NotUnderstood("its trees have weights that are not finite")
    _alone(columns, np.unique(ensemble.columns))
    return replace(ensemble, cut=ensemble.cutting())


def _alone(columns: Columns, used: Array) -> None:
    needs = columns.needs.ravel()
    if any(int(needs[place]).bit_count() > 1 for place in used.tolist()):
        raise NotUnderstood("it mixes features before it adds them up")


def _total(name: str, ensemble: Ensemble, share: float, dtype: str = "float32") -> Sum:
    """The sums of all trees, before base values."""
    targets = ensemble.leaves.shape[1]
    rounding = (len(ensemble.roots) + 4) * UNIT[dtype]
    total = sum_of(name, np.eye(targets), np.zeros(targets), rounding, dtype)
    return total if share == 1.0 else total.scaled(np.full(targets, share))


def _base(held: Any) -> Array:
    name = "base_values_as_tensor" if "base_values_as_tensor" in held else "base_values"
    return np.asarray(held.get(name, ()), dtype=np.float64)


def _transformed(walk: Walk, scores: Sum, held: Any) -> Value:
    match held.get("post_transform", "NONE"):
        case "NONE":
            return scores
        case "LOGISTIC":
            return walk.linking.sigmoid(scores)
        case "SOFTMAX":
            return walk.linking.softmax(scores)
        case other:
            raise NotUnderstood(f"its scores are transformed by {other}")


def linear_classifier(walk: Walk, node: Node) -> list[Value]:
    held = node.attributes
    intercepts = np.array(held.get("intercepts", ()), dtype=np.float64)
    labels = held.get("classlabels_ints") or held.get("classlabels_strings") or ()
    scores = _weighted(walk, node, len(intercepts)).shifted(intercepts)
    if len(intercepts) > 1:
        return [scores, _transformed(walk, scores, held)]
    if len(labels) != 2:
        raise NotUnderstood("it has one score for other than two classes")
    if held.get("post_transform", "NONE") == "PROBIT":
        raise NotUnderstood("its scores are transformed by PROBIT")
    if held.get("post_transform", "NONE") == "LOGISTIC":
        share = walk.linking.sigmoid(scores)
        both = walk.linking.picked(share, np.array([0, 0]), (2,))
        return [scores, walk.linking.scaled(both, np.array([-1.0, 1.0]), np.array([1.0, 0.0]))]
    return [scores, scores.mixed(np.array([[-1.0, 1.0]]), (2,)).shifted(np.array([1.0, 0.0]))]


def linear_regressor(walk: Walk, node: Node) -> Value:
    held = node.attributes
    targets = int(held.get("targets", 1))
    intercepts = np.array(held.get("intercepts", ()), dtype=np.float64)
    scores = _weighted(walk, node, targets)
    scores = scores.shifted(intercepts) if len(intercepts) == targets else scores
    return scores if targets == 1 else _transformed(walk, scores, held)


def _weighted(walk: Walk, node: Node, targets: int) -> Sum:
    """The weighted sums of a linear model; it reads whatever it is given as float32."""
    columns = walk.columns(node)
    weights = np.array(node.attributes["coefficients"], dtype=np.float64).reshape(targets, -1).T
    return product(columns, weights, "float32")


def product(columns: Columns, weights: Array, dtype: str) -> Sum:
    """Columns times a matrix."""
    if len(columns.shape) != 1 or columns.shape[0] != len(weights):
        raise NotUnderstood("it multiplies something other than a table")
    if not np.isfinite(weights).all():
        raise NotUnderstood("its weights are not finite")
    _alone(columns, np.flatnonzero(weights.any(axis=1)))
    # A unit more for each row of weights: the runtime may multiply and add in any order.
    rounding = (2 * len(weights) + 6) * UNIT[dtype]
    return sum_of(columns.name, weights.astype(np.float64), np.zeros(weights.shape[1]), rounding, dtype)


def matmul(walk: Walk, node: Node) -> Value:
    weights = walk.constant(node, 1)
    if weights is None or weights.ndim not in (1, 2):
        raise NotUnderstood("it multiplies by a matrix that is not constant")
    made = _times(walk.value(node), weights.astype(np.float64).reshape(len(weights), -1))
    return made if weights.ndim == 2 else made.picked(np.zeros(1, dtype=np.intp), ())


def _times(value: Value, weights: Array) -> Sum:
    if isinstance(value, Linked):
        raise NotUnderstood("it has layers, like a network")
    if isinstance(value, Columns):
        if value.dtype not in FLOATS:
            raise NotUnderstood("it multiplies whole numbers")
        return product(value, weights, value.dtype)
    if len(value.shape) != 1:
        raise NotUnderstood("it multiplies something other than a table")
    return value.mixed(weights, (weights.shape[1],))


def gemm(walk: Walk, node: Node) -> Value:
    held, weights = node.attributes, walk.constant(node, 1)
    if weights is None or held.get("transA"):
        raise NotUnderstood("it multiplies by a matrix that is not constant")
    scores = _times(walk.value(node), (weights.T if held.get("transB") else weights).astype(np.float64))
    if held.get("alpha", 1.0) != 1.0:
        scores = scores.scaled(np.full(len(scores.bias), held["alpha"]))
    if len(node.inputs) < 3 or not node.inputs[2]:
        return scores
    bias = walk.constant(node, 2)
    if bias is None:
        raise NotUnderstood("it adds something that is not constant to a matrix product")
    width = scores.shape[0]
    held_bias = np.broadcast_to(bias.astype(np.float64).reshape(-1), (width,))
    return scores.shifted(held_bias * held.get("beta", 1.0))


ADDING: dict[str, Rule] = {
    "TreeEnsembleClassifier": classifier,
    "TreeEnsembleRegressor": regressor,
    "TreeEnsemble": ensemble_5,
    "LinearClassifier": linear_classifier,
    "LinearRegressor": linear_regressor,
    "MatMul": matmul,
    "Gemm": gemm,
}
