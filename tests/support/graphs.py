"""Small ONNX graphs and the folders that go with them, for tests that need a model of their own."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support.networks import Network


def write_network(file: Path, network: Network, *, input_type: int = TensorProto.FLOAT, opaque: bool = False) -> None:
    """The network as a graph: outputs (-z, z) under the name `scores`. If `opaque`, nobody sees through it."""
    dtype = helper.tensor_dtype_to_np_dtype(input_type)
    weights = {
        "w1": network.first,
        "b1": network.first_bias,
        "w2": np.stack([-network.second, network.second], axis=1),
        "b2": np.array([-network.second_bias, network.second_bias]),
    }
    nodes = [
        helper.make_node("MatMul", ["features", "w1"], ["p1"]),
        helper.make_node("Add", ["p1", "b1"], ["a1"]),
        helper.make_node("Relu", ["a1"], ["h1"]),
        # Changes nothing: what is not negative is its own absolute value.
        *([helper.make_node("Abs", ["h1"], ["h2"])] if opaque else []),
        helper.make_node("MatMul", ["h2" if opaque else "h1", "w2"], ["p2"]),
        helper.make_node("Add", ["p2", "b2"], ["scores"]),
    ]
    save(file, nodes, {name: value.astype(dtype) for name, value in weights.items()}, len(network.first), input_type)


def write_slow_network(file: Path, width: int, size: int = 1_500, layers: int = 6, others: int = 3) -> None:
    """Says yes when the first feature is 1, or any three (`others`) of the others; by way of large matrices.

    Absolute values of noughts keep anybody from seeing through it.
    """
    idle = np.zeros((size, size), dtype=np.float32)
    weights = {
        "spread": np.zeros((width, size), dtype=np.float32),
        "idle": idle,
        "fold": np.zeros((size, 2), dtype=np.float32),
        "sum": np.array([[-others, others]] + [[-1.0, 1.0]] * (width - 1), dtype=np.float32),
        "bias": np.array([others - 0.5, 0.5 - others], dtype=np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["features", "spread"], ["noughts"]),
        helper.make_node("Abs", ["noughts"], ["h0"]),
    ]
    nodes += [helper.make_node("MatMul", [f"h{layer}", "idle"], [f"h{layer + 1}"]) for layer in range(layers)]
    nodes += [
        helper.make_node("MatMul", [f"h{layers}", "fold"], ["nothing"]),
        helper.make_node("MatMul", ["features", "sum"], ["count"]),
        helper.make_node("Add", ["count", "nothing"], ["total"]),
        helper.make_node("Add", ["total", "bias"], ["scores"]),
    ]
    save(file, nodes, weights, width, TensorProto.FLOAT)


def write_lookup(file: Path, table: Sequence[float]) -> None:
    """Looks up a table by the one feature, a whole number: beyond its end there is no answer, and the model fails."""
    nodes = [
        helper.make_node("Cast", ["features"], ["places"], to=TensorProto.INT64),
        helper.make_node("Gather", ["table", "places"], ["found"]),
        helper.make_node("Sigmoid", ["found"], ["scores"]),
    ]
    save(file, nodes, {"table": np.array(table, dtype=np.float32)}, 1, TensorProto.FLOAT, columns=1)


def save(
    file: Path,
    nodes: list[onnx.NodeProto],
    weights: dict[str, np.ndarray],
    width: int,
    input_type: int,
    columns: int | None = 2,
) -> None:
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("features", input_type, [None, width])],
        [helper.make_tensor_value_info("scores", input_type, [None, columns])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(file))


def write_model_toml(
    folder: Path, names: Sequence[str], *, registry: str | None = None, whole: Sequence[str] = (), **fields: str
) -> Path:
    """A plain description of a model with two classes; `fields` replaces or adds lines at the top."""
    top = {"title": '"A test"', "version": '"1"', **({"normal_ranges": f'"{registry}"'} if registry else {}), **fields}
    lines = [f"{key} = {value}" for key, value in top.items()]
    lines += ["[output]", 'kind = "classification"', 'classes = ["no", "yes"]', 'favourable = ["yes"]']
    for name in names:
        lines += ["[[features]]", f"name = {json.dumps(name)}", *(['type = "integer"'] if name in whole else [])]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "model.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def write_registry(
    file: Path,
    ranges: dict[str, str],
    move_to: Mapping[str, str] | None = None,
    if_missing: Mapping[str, str] | None = None,
) -> Path:
    """A registry with the given text of `ranges`, and perhaps of `move_to` and `if_missing`, for each feature."""
    lines = ['title = "A test"', 'version = "1"']
    for name, text in ranges.items():
        lines += [f"[features.{json.dumps(name)}]", f"ranges = [{text}]"]
        lines += [f"move_to = {move_to[name]}"] if move_to and name in move_to else []
        lines += [f"if_missing = {if_missing[name]}"] if if_missing and name in if_missing else []
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")
    return file


def slow_model(folder: Path, names: list[str], layers: int = 6) -> Path:
    """A model that takes up to 10 ms a row, in a folder with its registry: every feature is normal from 1 upwards.

    With more layers it takes longer, for tests that need a search to outlast its deadline on any machine.
    """
    write_slow_network(folder / "models/slow/model.onnx", len(names), layers=layers)
    write_model_toml(folder / "models/slow", names, registry="slow")
    write_registry(folder / "ranges/slow.toml", dict.fromkeys(names, "{ low = 1 }"))
    return folder
