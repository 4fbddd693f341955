"""What `flipset validate` warns of: a model that can be served, and that is hardly what its owner meant."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.cli.doubts import doubts
from app.settings import Settings
from tests.cli.test_flipset import flipset
from tests.support import graphs, hostile_graphs
from tests.support.live_server import ROOT
from tests.support.networks import Network

SHIPPED = ["hcv", "mortgage", "synthetic", "thyroid"]


def told(folder: Path) -> list[str]:
    (folder / "ranges").mkdir(exist_ok=True)
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "ranges")
    service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
    return [str(doubt).removeprefix(f"{folder}/models/") for doubt in doubts(service)]


def shipped(folder: Path, name: str) -> Path:
    """A model that comes with us, to be changed: its description."""
    shutil.copytree(ROOT / "models" / name, folder / "models" / name)
    shutil.copytree(ROOT / "normal_ranges", folder / "ranges")
    return folder / "models" / name / "model.toml"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def swap_classes(file: Path) -> None:
    line = next(line for line in file.read_text().splitlines() if line.startswith("classes = "))
    classes = json.loads(line.removeprefix("classes = "))
    edit(file, line, f"classes = {json.dumps(classes[::-1])}")


@pytest.mark.parametrize("name", SHIPPED)
def test_of_what_comes_with_us_there_is_nothing_to_say(tmp_path: Path, name: str):
    file = shipped(tmp_path, name)
    assert told(tmp_path) == []
    shutil.rmtree(file.with_name("examples"))
    assert told(tmp_path) == []


@pytest.mark.parametrize("name", SHIPPED)
def test_swapped_classes_are_seen_in_the_examples(tmp_path: Path, name: str):
    file = shipped(tmp_path, name)
    swap_classes(file)
    [doubt] = told(tmp_path)
    assert doubt.startswith(f"{name}/model.toml: output: classes or favourable may be the wrong way round: for ")
    assert " examples, bringing values into range made '" in doubt
    assert doubt.endswith("' less likely")


@pytest.mark.parametrize("name", SHIPPED)
def test_swapped_classes_are_seen_in_people_who_are_made_up(tmp_path: Path, name: str):
    """Where there are no examples."""
    file = shipped(tmp_path, name)
    shutil.rmtree(file.with_name("examples"))
    swap_classes(file)
    [doubt] = told(tmp_path)
    assert doubt.startswith(f"{name}/model.toml: output: classes or favourable may be the wrong way round: for ")
    assert "for 300 made-up people, bringing values into range made '" in doubt
    assert doubt.endswith("' less likely on average")


def test_an_interval_that_ranges_lead_away_from_is_seen(tmp_path: Path):
    node = helper.make_node("ReduceSum", ["features", "axis"], ["scores"], keepdims=1)
    graphs.save(tmp_path / "models/m/model.onnx", [node], {"axis": np.array([1])}, 2, TensorProto.FLOAT, columns=1)
    file = graphs.write_model_toml(tmp_path / "models/m", ["a", "b"], registry="r")
    edit(file, 'kind = "classification"\nclasses = ["no", "yes"]\nfavourable = ["yes"]', "TARGET")
    graphs.write_registry(tmp_path / "ranges/r.toml", {"a": "{ low = 5 }", "b": "{ low = 5 }"})
    for low, count in (("low", 0), ("high", 1)):
        edit(file, "TARGET", f'kind = "regression"\nfavourable = {{ {low} = 8 }}')
        doubted = told(tmp_path)
        assert len(doubted) == count
        assert all("m/model.toml: output.favourable: " in doubt for doubt in doubted)
        edit(file, f'kind = "regression"\nfavourable = {{ {low} = 8 }}', "TARGET")


def write_labelled(folder: Path, classes: list[str]) -> None:
    """A graph that gives shares, and beside them the name of the likelier class."""
    graph = helper.make_graph(
        [
            helper.make_node("Softmax", ["features"], ["probabilities"]),
            helper.make_node("ArgMax", ["features"], ["place"], axis=1, keepdims=0),
            helper.make_node("Gather", ["names", "place"], ["label"]),
        ],
        "labelled",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, 2])],
        [
            helper.make_tensor_value_info("label", TensorProto.STRING, [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 2]),
        ],
        [numpy_helper.from_array(np.array(["denied", "approved"], dtype=object), "names")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    hostile_graphs.write_model(folder, "m", model)
    edit(folder / "models/m/model.toml", 'classes = ["no", "yes"]', f"classes = {json.dumps(classes)}")
    edit(folder / "models/m/model.toml", 'favourable = ["yes"]', f"favourable = {json.dumps(classes[1:])}")


@pytest.mark.parametrize(
    ("classes", "doubts"),
    [
        (["denied", "approved"], []),
        (["Denied", "Approved"], []),
        (["abgelehnt", "bewilligt"], []),
        (
            ["approved", "denied"],
            ["m/model.toml: output.classes: are swapped: in this order the graph calls them denied, approved"],
        ),
    ],
)
def test_classes_in_another_order_than_the_graph_s_own_labels_are_named(
    tmp_path: Path, classes: list[str], doubts: list[str]
):
    write_labelled(tmp_path, classes)
    assert told(tmp_path) == doubts


@pytest.mark.parametrize("activation", ["sigmoid", "softmax"])
@pytest.mark.parametrize("columns", [1, 2])
def test_an_activation_on_top_of_probabilities_is_named(tmp_path: Path, activation: str, columns: int):
    operator = "Softmax" if columns == 2 else "Sigmoid"
    node = helper.make_node(operator, ["features"], ["scores"])
    graphs.save(tmp_path / "models/m/model.onnx", [node], {}, columns, TensorProto.FLOAT, columns=columns)
    file = graphs.write_model_toml(tmp_path / "models/m", ["a", "b"][:columns])
    assert told(tmp_path) == []
    if columns == 1 and activation == "softmax":
        return
    edit(file, 'kind = "classification"', f'kind = "classification"\nactivation = "{activation}"')
    [doubt] = told(tmp_path)
    assert doubt.startswith(f"m/model.toml: output.activation: {activation} on scores that are probabilities already")


def test_an_activation_on_raw_scores_is_right(tmp_path: Path):
    graphs.write_network(tmp_path / "models/m/model.onnx", Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5))
    file = graphs.write_model_toml(tmp_path / "models/m", ["a", "b"])
    edit(file, 'kind = "classification"', 'kind = "classification"\nactivation = "softmax"')
    assert told(tmp_path) == []


def test_a_threshold_that_no_score_of_the_trial_comes_near_is_named(tmp_path: Path):
    """Two shares that are not shares of one: nothing says for sure that they end at 1."""
    node = helper.make_node("Sigmoid", ["features"], ["scores"])
    graphs.save(tmp_path / "models/m/model.onnx", [node], {}, 2, TensorProto.FLOAT)
    file = graphs.write_model_toml(tmp_path / "models/m", ["a", "b"])
    edit(file, 'favourable = ["yes"]', 'favourable = ["yes"]\nthreshold = 0.7')
    assert told(tmp_path) == []
    edit(file, "threshold = 0.7", "threshold = 70")
    assert told(tmp_path) == [
        "m/model.toml: output.threshold: lies outside of 0 to 1, where all scores of a trial with 200 made-up rows lie"
    ]


def drafted(folder: Path, *inputs: Any) -> Path:
    graph = helper.make_graph(
        [helper.make_node("Identity", [inputs[0].name], ["scores"])],
        "test",
        inputs,
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file = folder / "models/m/model.onnx"
    file.parent.mkdir(parents=True)
    file.write_bytes(model.SerializeToString())
    assert flipset("inspect", str(file)).returncode == 0
    return file.with_name("model.toml")


def test_what_a_draft_leaves_open_is_named_until_it_is_filled_in(tmp_path: Path):
    table = helper.make_tensor_value_info("columns", TensorProto.FLOAT, [None, 2])
    text = helper.make_tensor_value_info("town", TensorProto.STRING, [None, 1])
    file = drafted(tmp_path, table, text)
    assert told(tmp_path) == [
        "m/model.toml: title: is still that of the draft",
        "m/model.toml: output.classes: are still those of the draft: class 0, class 1",
        "m/model.toml: features: still have the names of the draft: columns_0, columns_1",
        "m/model.toml: features[2].categories: are still those of the draft",
    ]
    for old, new in (
        ('title = "..."', 'title = "A test"'),
        ('["class 0", "class 1"]', '["no", "yes"]'),
        ('favourable = ["class 1"]', 'favourable = ["yes"]'),
        ('"columns_0"', '"income"'),
        ('"columns_1"', '"debt"'),
        ('categories = ["..."]', 'categories = ["here"]'),
    ):
        edit(file, old, new)
    assert told(tmp_path) == []


def test_the_draft_of_a_regression_asks_what_is_favourable(tmp_path: Path):
    """Any number that stood there could be meant."""
    node = helper.make_node("ReduceSum", ["features"], ["scores"], keepdims=1)
    file = tmp_path / "models/m/model.onnx"
    graphs.save(file, [node], {}, 2, TensorProto.FLOAT, columns=1)
    (tmp_path / "ranges").mkdir()
    assert flipset("inspect", str(file)).returncode == 0
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    done = flipset("validate", **folders)
    assert done.returncode == 1
    assert "model.toml: output.favourable: needs a low, a high, or both" in done.stderr


def test_a_one_hot_group_that_shows_nan_without_saying_so_is_named(tmp_path: Path):
    node = helper.make_node("Identity", ["features"], ["scores"])
    graphs.save(tmp_path / "models/m/model.onnx", [node], {}, 2, TensorProto.FLOAT)
    file = graphs.write_model_toml(tmp_path / "models/m", ["a"])
    group = 'type = "category"\ncategories = ["x", "y"]\none_hot = true\n'
    file.write_text(f"{file.read_text()}{group}takes_missing = true\n")
    assert told(tmp_path) == [
        "m/model.toml: features[0].missing: null becomes NaN in all columns of the group, but encoders write zeros: "
        'set missing = "zeros", or "nan" if you mean NaN'
    ]
    for meant in ("zeros", "nan"):
        edit(file, "takes_missing = true", f'missing = "{meant}"')
        assert told(tmp_path) == []
        edit(file, f'missing = "{meant}"', "takes_missing = true")


def test_validate_tells_its_doubts_and_passes(tmp_path: Path):
    swap_classes(shipped(tmp_path, "mortgage"))
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    done = flipset("validate", **folders)
    assert done.returncode == 0
    warning, structure, order = done.stdout.splitlines()
    assert warning.startswith(f"warning: {tmp_path}/models/mortgage/model.toml: output: classes or favourable ")
    assert structure == "mortgage: structure trees"
    assert order == "In order, warnings aside: 1 model, 8 registries."


@pytest.mark.parametrize(
    ("rules", "rule"),
    [
        ('directions = { a = "increase" }', "constraints.directions.a"),
        ("max_step = { a = 9 }", "constraints.max_step.a"),
        ('immutable = ["a"]', "constraints.immutable"),
        ('required = ["a"]', None),
    ],
)
def test_a_missing_value_that_rules_keep_missing_is_named(tmp_path: Path, rules: str, rule: str | None):
    graphs.write_network(tmp_path / "models/m/model.onnx", Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5))
    edit(graphs.write_model_toml(tmp_path / "models/m", ["a", "b"], registry="r"), '"a"', '"a"\ndefault = 0')
    file = graphs.write_registry(tmp_path / "ranges/r.toml", {"a": "{ low = 1 }"}, if_missing={"a": '"target"'})
    file.write_text(f"{file.read_text()}[constraints]\n{rules}\n")
    doubted = [doubt.removeprefix(f"{tmp_path}/") for doubt in told(tmp_path)]
    reason = f"ranges/r.toml: features.a.if_missing: has no effect: {rule} forbids a move from a missing value"
    assert doubted == ([] if rule is None else [reason])


def test_a_missing_value_that_no_model_accepts_is_named(tmp_path: Path):
    graphs.write_network(tmp_path / "models/m/model.onnx", Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5))
    description = graphs.write_model_toml(tmp_path / "models/m", ["a", "b"], registry="r")
    graphs.write_registry(tmp_path / "ranges/r.toml", {"a": "{ low = 1 }"}, if_missing={"a": '"target"'})
    [doubt] = told(tmp_path)
    reason = "has no effect: a missing value is not accepted by model 'm'"
    assert f"ranges/r.toml: features.a.if_missing: {reason}" in doubt
    edit(description, 'name = "a"', 'name = "a"\ntakes_missing = true')
    assert told(tmp_path) == []
