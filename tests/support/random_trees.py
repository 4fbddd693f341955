"""Tree ensembles drawn at random, as ONNX writes them: splits on few values, so that ties are common."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
# Splits and values come from here: they meet all the time.
VALUES = np.array([-1.5, -1.0, -0.3, 0.0, 0.1, 0.2, 0.3, 1.0, 2.0, 3.0])


@dataclass
class Forest:
    """Nodes in the lists of TreeEnsembleClassifier and TreeEnsembleRegressor."""

    columns: int
    targets: int
    modes: tuple[str, ...] = ("BRANCH_LEQ",)
    missing: bool = False
    sparse: bool = False
    positive: bool = False
    nodes: dict[str, list[Any]] = field(default_factory=dict)
    weights: dict[str, list[Any]] = field(default_factory=dict)

    def grow(self, rng: np.random.Generator, trees: int, depth: int) -> "Forest":
        names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
        self.nodes = {name: [] for name in (*names, "missing_value_tracks_true")}
        self.weights = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
        for tree in range(trees):
            self._count = 0
            self._node(rng, tree, int(rng.integers(0, depth + 1)))
        return self

    def _node(self, rng: np.random.Generator, tree: int, depth: int) -> int:
        number, self._count = self._count, self._count + 1
        place = len(self.nodes["treeids"])
        leaf = depth == 0
        for name, value in {
            "treeids": tree,
            "nodeids": number,
            "featureids": int(rng.integers(self.columns)),
            "modes": "LEAF" if leaf else str(rng.choice(self.modes)),
            "values": float(np.float32(rng.choice(VALUES))),
            "truenodeids": 0,
            "falsenodeids": 0,
            "missing_value_tracks_true": int(self.missing and rng.random() < 0.5),
        }.items():
            self.nodes[name].append(value)
        if leaf:
            self._weigh(rng, tree, number)
        else:
            self.nodes["truenodeids"][place] = self._node(rng, tree, depth - 1)
            self.nodes["falsenodeids"][place] = self._node(rng, tree, depth - 1)
        return number

    def _weigh(self, rng: np.random.Generator, tree: int, number: int) -> None:
        for target in range(self.targets):
            if self.sparse and self.weights["ids"] and rng.random() < 0.3:
                continue
            weight = float(np.float32(rng.choice(VALUES) / 8 + rng.integers(0, 2) / 4))
            held = (tree, number, target, abs(weight) if self.positive else weight)
            for name, value in zip(("treeids", "nodeids", "ids", "weights"), held, strict=True):
                self.weights[name].append(value)

    def attributes(self, prefix: str, double: bool = False) -> dict[str, Any]:
        held = {f"nodes_{name}": list(values) for name, values in self.nodes.items()}
        held |= {f"{prefix}_{name}": list(values) for name, values in self.weights.items()}
        for name in ("nodes_values", f"{prefix}_weights") if double else ():
            held[f"{name}_as_tensor"] = numpy_helper.from_array(np.array(held.pop(name), dtype=np.float64))
        return held


def model(
    operator: str,
    columns: int,
    attributes: dict[str, Any],
    *,
    opset: int = 3,
    input_type: int = TensorProto.FLOAT,
    output_type: int = TensorProto.FLOAT,
) -> ModelProto:
    """A graph of one operator, whose scores are called `scores`."""
    outputs = ["label", "scores"] if "Classifier" in operator else ["scores"]
    node = helper.make_node(operator, ["features"], outputs, domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [node],
        "trees",
        [helper.make_tensor_value_info("features", input_type, [None, columns])],
        [helper.make_tensor_value_info("scores", output_type, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def opset_5(forest: Forest, rng: np.random.Generator, dtype: Any = np.float32, members: bool = False) -> dict[str, Any]:
    """The same trees as a TreeEnsemble, with other weights. A tree without splits becomes one that parts nothing."""
    nodes, leaves = forest.nodes, {"targetids": [], "weights": []}
    inner: list[dict[str, Any]] = []
    roots, sets = [], []
    places = {key: place for place, key in enumerate(zip(nodes["treeids"], nodes["nodeids"], strict=True))}

    def leaf() -> int:
        leaves["targetids"].append(int(rng.integers(forest.targets)))
        leaves["weights"].append(rng.choice(VALUES) / 8)
        return len(leaves["weights"]) - 1

    def add(place: int) -> tuple[int, int]:
        if nodes["modes"][place] == "LEAF":
            return leaf(), 1
        number = len(inner)
        is_member = members and rng.random() < 0.5
        if is_member:
            sets.append(rng.choice([1.0, 2.0, 3.0, 0.1, 17.0], int(rng.integers(1, 4)), replace=False))
        mode = 6 if is_member else MODES.index(nodes["modes"][place])
        inner.append({"mode": mode, "column": nodes["featureids"][place], "split": nodes["values"][place]})
        inner[number]["missing"] = nodes["missing_value_tracks_true"][place]
        tree = nodes["treeids"][place]
        inner[number]["yes"] = add(places[tree, nodes["truenodeids"][place]])
        inner[number]["no"] = add(places[tree, nodes["falsenodeids"][place]])
        return number, 0

    for (_, node), place in places.items():
        if node != 0:
            continue
        if nodes["modes"][place] == "LEAF":
            roots.append(len(inner))
            only = leaf()
            inner.append({"mode": 0, "column": 0, "split": 0.0, "missing": 0, "yes": (only, 1), "no": (only, 1)})
        else:
            roots.append(add(place)[0])
    # The members of a node stand in the order of the nodes, which is that of the calls above.
    held = {
        "tree_roots": roots,
        "nodes_featureids": [each["column"] for each in inner],
        "nodes_modes": numpy_helper.from_array(np.array([each["mode"] for each in inner], dtype=np.uint8)),
        "nodes_splits": numpy_helper.from_array(np.array([each["split"] for each in inner], dtype=dtype)),
        "nodes_truenodeids": [each["yes"][0] for each in inner],
        "nodes_trueleafs": [each["yes"][1] for each in inner],
        "nodes_falsenodeids": [each["no"][0] for each in inner],
        "nodes_falseleafs": [each["no"][1] for each in inner],
        "nodes_missing_value_tracks_true": [each["missing"] for each in inner],
        "leaf_targetids": leaves["targetids"],
        "leaf_weights": numpy_helper.from_array(np.array(leaves["weights"], dtype=dtype)),
        "n_targets": forest.targets,
    }
    if sets:
        values = np.concatenate([np.append(each, np.nan) for each in sets]).astype(dtype)
        held["membership_values"] = numpy_helper.from_array(values)
    return held
