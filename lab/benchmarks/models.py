"""The models of the bench, written as ONNX files into a folder that the service loads like any other.

Every feature is called f0, f1, ..., is normal from 1 upwards, and stands at 0: all of them are movable, to 1.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from lab.benchmarks.searches.sizes import Sizes
from tests.support.graphs import save, write_model_toml, write_network, write_registry
from tests.support.live_server import ROOT
from tests.support.networks import Network

# For the deadlines, which do not shrink in the quick form.
DEADLINE_WIDTHS = (30, 40)
TREES = 150
TREE_DEPTH = 5


def write_models(models: Path, ranges: Path, sizes: Sizes) -> None:
    """Every model that a figure needs, and the shipped one of the hepatitis data."""
    ranges.mkdir(parents=True)
    shutil.copytree(ROOT / "models" / "hcv", models / "hcv")
    for file in (ROOT / "normal_ranges").glob("hcv*.toml"):
        shutil.copy(file, ranges)
    for name, (width, write) in _graphs(sizes).items():
        write_model_toml(models / name, names(width), registry=f"from-one-{width}")
        write_registry(ranges / f"from-one-{width}.toml", dict.fromkeys(names(width), "{ low = 1 }"))
        write(models / name / "model.onnx", width)


def _graphs(sizes: Sizes) -> dict[str, tuple[int, Callable[[Path, int], None]]]:
    """For each model its name, how many features it has, and what writes it."""
    thresholds = {sizes.many_answers, sizes.wide, *DEADLINE_WIDTHS}
    networks = {sizes.lattice, sizes.wide, *DEADLINE_WIDTHS}
    return {
        **{f"five-of-{width}": (width, five_suffice) for width in thresholds},
        **{f"network-{width}": (width, network) for width in networks},
        f"four-of-{sizes.wide}": (sizes.wide, four_suffice),
        f"trees-{sizes.lattice}": (sizes.lattice, boosted_trees),
        "any-four": (max(sizes.growing), any_four),
    }


def names(width: int) -> list[str]:
    return [f"f{position}" for position in range(width)]


def five_suffice(file: Path, width: int) -> None:
    """Says yes when the changes weigh enough. Monotone, and exact: all its sums are small whole numbers."""
    write_network(file, _rising_sum(_uneven(width), 44))


def four_suffice(file: Path, width: int) -> None:
    """The same with one change less."""
    write_network(file, _rising_sum(_uneven(width), 35))


def _uneven(width: int) -> np.ndarray:
    """A change weighs 8, 9 or 10, so that some sets need one change more than others."""
    return np.random.default_rng(16).integers(8, 11, width)


def any_four(file: Path, width: int) -> None:
    """Says yes to any four changes, so that the number of answers follows from that of the movable features."""
    write_network(file, _rising_sum(np.ones(width), 4))


def _rising_sum(weights: np.ndarray, suffices: int) -> Network:
    """Sixteen hidden units see the same sum; each wakes up a little later than the one before, all of them in time."""
    hidden = 16
    wakes = np.floor(np.linspace(0, suffices - 1, hidden))
    layer = Network(np.repeat(weights[:, None], hidden, axis=1).astype(float), -wakes, np.ones(hidden), 0.0)
    below, enough = (np.maximum(total - wakes, 0).sum() for total in (suffices - 1, suffices))
    layer.second_bias = -float(below + enough) / 2
    return layer


def network(file: Path, width: int) -> None:
    """A network of 64 and 64 hidden units with softmax. Its weights keep the scores away from 0 and 1."""
    rng = np.random.default_rng(20)
    shapes = [(width, 64), (64, 64), (64, 2)]
    weights = {}
    nodes = []
    before = "features"
    for layer, (rows, columns) in enumerate(shapes):
        weights[f"w{layer}"] = rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype(np.float32)
        weights[f"b{layer}"] = rng.normal(0, 0.1, columns).astype(np.float32)
        nodes.append(helper.make_node("Gemm", [before, f"w{layer}", f"b{layer}"], [f"sum{layer}"]))
        nodes.append(helper.make_node("Relu", [f"sum{layer}"], [f"out{layer}"]))
        before = f"out{layer}"
    nodes[-1] = helper.make_node("Softmax", [f"sum{len(shapes) - 1}"], ["scores"], axis=1)
    save(file, nodes, weights, width, TensorProto.FLOAT)


def boosted_trees(file: Path, width: int) -> None:
    """150 full trees of depth 5, as boosting leaves them: many small votes, added up, then the logistic function.

    Written by hand: only the shape decides how long they take, and so no trainer is needed.
    """
    rng = np.random.default_rng(150)
    nodes: dict[str, list[float | str]] = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes")}
    nodes |= {"truenodeids": [], "falsenodeids": []}
    inner = 2**TREE_DEPTH - 1
    for tree in range(TREES):
        for node in range(2 * inner + 1):
            splits = node < inner
            nodes["treeids"].append(tree)
            nodes["nodeids"].append(node)
            nodes["featureids"].append(int(rng.integers(width)) if splits else 0)
            nodes["values"].append(0.5 if splits else 0.0)
            nodes["modes"].append("BRANCH_LEQ" if splits else "LEAF")
            nodes["truenodeids"].append(2 * node + 1 if splits else 0)
            nodes["falsenodeids"].append(2 * node + 2 if splits else 0)
    leaves = TREES * (inner + 1)
    ensemble = helper.make_node(
        "TreeEnsembleClassifier",
        ["features"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        class_ids=[0] * leaves,
        class_nodeids=list(range(inner, 2 * inner + 1)) * TREES,
        class_treeids=[tree for tree in range(TREES) for _ in range(inner + 1)],
        class_weights=rng.normal(0, 0.1, leaves).tolist(),
        classlabels_int64s=[0, 1],
        post_transform="LOGISTIC",
        **{f"nodes_{key}": values for key, values in nodes.items()},
    )
    graph = helper.make_graph(
        [ensemble],
        "trees",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, width])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 2]),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(file))
