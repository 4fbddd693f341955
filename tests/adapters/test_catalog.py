"""Loading models and registries: what is right loads, what is wrong is named, file and field."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from app.adapters.catalog import load_catalog
from app.adapters.files.flaws import BrokenFiles
from tests.support import graphs
from tests.support.networks import Network

NETWORK = Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model with two features and its registry, both in order."""
    graphs.write_network(tmp_path / "models/m/model.onnx", NETWORK)
    graphs.write_model_toml(tmp_path / "models/m", ["a", "b"], registry="r")
    graphs.write_registry(tmp_path / "ranges/r.toml", {"a": "{ low = 1 }"})
    return tmp_path


def load(folder: Path):
    return load_catalog(folder / "models", folder / "ranges")


def flaws(folder: Path) -> list[str]:
    with pytest.raises(BrokenFiles) as broken:
        load(folder)
    return [str(flaw).removeprefix(f"{folder}/") for flaw in broken.value.flaws]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_what_is_in_order_loads(folder: Path):
    catalog = load(folder)
    assert list(catalog.models) == ["m"]
    assert catalog.registries_for(catalog.models["m"]) == ["r"]
    assert catalog.models["m"].scorer(np.ones((1, 2), dtype=np.float32)).tolist() == [[-0.5, 0.5]]


def test_hidden_folders_and_loose_files_are_left_alone(folder: Path):
    (folder / "models/.cache").mkdir()
    (folder / "models/README.md").write_text("hello")
    assert list(load(folder).models) == ["m"]


@pytest.mark.parametrize(
    ("old", "new", "flaw"),
    [
        ('title = "A test"', "", "title: is missing"),
        ('version = "1"', "version = 1", "version: must be text"),
        ('version = "1"', 'version = "1"\ncolour = 3', "colour: is not a known key"),
        ('version = "1"', "version = ", "is not valid TOML: Invalid value (at line 2, column 11)"),
        (
            '"classification"',
            '"ranking"',
            "output.kind: must be 'classification' or 'regression'",
        ),
        (
            '["yes"]',
            '["maybe"]',
            "output: favourable names 'maybe', which is not one of the classes",
        ),
        (
            '["yes"]',
            '["yes", "no"]',
            "output: favourable must name some of the classes, each once, and leave at least one out",
        ),
        (
            '["yes"]',
            "3",
            "output.favourable: must be a list of classes or, for a regression, an interval with low, high or both",
        ),
        ('name = "b"', 'name = "a"', "features[1].name: 'a' is named twice"),
        (
            'name = "b"',
            'name = "b"\ntype = "text"',
            "features[1].type: must be 'number', 'integer' or 'category'",
        ),
        (
            '[[features]]\nname = "b"',
            "",
            "features: the graph reads 2 columns (features tensor(float) ['any', 2]), but the features take 1",
        ),
        ('normal_ranges = "r"', 'normal_ranges = "q"', "normal_ranges: there is no registry 'q'; known: r"),
        (
            "[output]",
            '[output]\ntensor = "p"',
            "output.tensor: the graph has no output 'p'; it offers scores",
        ),
        (
            '["no", "yes"]',
            '["no", "yes", "perhaps"]',
            "output: the graph gives 2 scores per row; 3 are needed",
        ),
        (
            'name = "b"',
            'name = "b"\ndefault = 1\nmissing_codes = [1]',
            "features[1]: default is itself one of the missing_codes",
        ),
        (
            'name = "b"',
            'name = "b"\nmissing_codes = [1]',
            "features[1]: missing_codes need a default, or takes_missing = true",
        ),
        (
            'name = "b"',
            'name = "b"\ntype = "category"\ncategories = ["x", "y"]\ncodes = [1e300, 1]',
            "features[1]: gives a number that the graph's float32 input cannot hold",
        ),
        (
            'name = "b"',
            'name = "b"\ndefault = 1e300',
            "features[1]: gives a number that the graph's float32 input cannot hold",
        ),
    ],
)
def test_a_mistake_in_a_model_is_named(folder: Path, old: str, new: str, flaw: str):
    edit(folder / "models/m/model.toml", old, new)
    assert flaws(folder) == [f"models/m/model.toml: {flaw}"]


@pytest.mark.parametrize(
    ("old", "new", "flaw"),
    [
        (
            "{ low = 1 }",
            "",
            "features.a: needs either ranges or, for a category, allowed values",
        ),
        ("{ low = 1 }", "{ }", "features.a.ranges[0]: needs a low, a high, or both"),
        ("{ low = 1 }", "{ low = 2, high = 1 }", "features.a.ranges[0]: low is above high"),
        ("{ low = 1 }", '{ low = "1" }', "features.a.ranges[0].low: must be a number"),
        ("{ low = 1 }", "{ low = nan }", "features.a.ranges[0].low: must be a finite number"),
        (
            "{ low = 1 }",
            "{ low = 1, when = { age = { low = 5, high = 4 } } }",
            "features.a.ranges[0].when.age: low is above high",
        ),
        (
            "{ low = 1 }",
            "{ low = 1, when = { age = [5] } }",
            "features.a.ranges[0].when.age: must be text, a number, true or false, "
            "or an interval with low, high or both",
        ),
        (
            "ranges =",
            'move_to = "midpoint"\nranges =',
            "features.a.move_to: midpoint needs a range with a low and a high (ranges[0])",
        ),
        (
            "ranges =",
            'move_to = "middle"\nranges =',
            "features.a.move_to: must be nearest, midpoint, or an object with one of margin, value, steps and any_of",
        ),
        (
            "ranges =",
            "move_to = { value = 0 }\nranges =",
            "features.a.move_to: value lies outside the range (ranges[0])",
        ),
        (
            "ranges =",
            "if_missing = { value = 0 }\nranges =",
            "features.a.if_missing: value lies outside the range (ranges[0])",
        ),
        (
            "ranges =",
            'if_missing = { value = "much" }\nranges =',
            "features.a.if_missing: value must be a number, like the ends of the range (ranges[0])",
        ),
        (
            "ranges = [{ low = 1 }]",
            'if_missing = "target"\nranges = [{ low = 1, high = 2 }]',
            "features.a.if_missing: a missing value is neither low nor high, and the range has a target for each: "
            "give a value (ranges[0])",
        ),
        (
            "ranges =",
            'if_missing = "nearest"\nranges =',
            "features.a.if_missing: must be target, or an object with a value: a number or a category",
        ),
        (
            "ranges =",
            'unit = "g"\nranges =',
            "features.a.unit: the unit is 'g' here and not given in model 'm'",
        ),
        ('[features."a"]', '[features."c"]', "features.c: model 'm' has no such feature"),
        ('[features."a"]', '[features."A"]', "features.A: model 'm' has no such feature; did you mean 'a'?"),
        ("ranges = [{ low = 1 }]", "low = 1", "features.a: low belongs into a range: write ranges = [{ low = ... }]"),
        (
            "{ low = 1 }",
            "{ low = 1 }, { low = 2 }",
            "features.a.ranges[1]: is never reached: an earlier range applies to everyone",
        ),
        (
            "[features",
            "[constraints]\nimmutable = ['a', 'z']\n[features",
            "constraints.immutable[1]: is not a feature of this model; known: a, b",
        ),
        (
            "[features",
            "[constraints]\nformulas = ['a and']\n[features",
            "constraints.formulas[0]: line 1, column 6: expected one of: a feature, an opening bracket, "
            "'at_most', 'at_least', 'exactly' or 'not'; found the end",
        ),
        (
            "ranges =",
            "z = " + "[" * 3000 + "]" * 3000 + "\nranges =",
            "holds a number that is too long, or is nested too deeply",
        ),
        ("low = 1", "low = " + "1" * 5000, "holds a number that is too long, or is nested too deeply"),
    ],
)
def test_a_mistake_in_a_registry_is_named(folder: Path, old: str, new: str, flaw: str):
    edit(folder / "ranges/r.toml", old, new)
    assert flaws(folder) == [f"ranges/r.toml: {flaw}"]


def test_every_flaw_of_every_file_is_told_at_once(folder: Path):
    edit(folder / "models/m/model.toml", 'title = "A test"', "")
    edit(folder / "ranges/r.toml", "{ low = 1 }", "{ }")
    (folder / "models/n").mkdir()
    assert len(flaws(folder)) == 3


def test_a_digest_that_does_not_match_refuses_the_model(folder: Path):
    graphs.write_model_toml(folder / "models/m", ["a", "b"], registry="r", sha256=f'"{"0" * 64}"')
    digest = hashlib.sha256((folder / "models/m/model.onnx").read_bytes()).hexdigest()
    assert flaws(folder) == [f"models/m/model.toml: sha256: model.onnx is a different file: its sha256 is {digest}"]


def test_a_file_that_is_no_graph_is_refused(folder: Path):
    (folder / "models/m/model.onnx").write_bytes(b"not a graph")
    (flaw,) = flaws(folder)
    assert flaw.startswith("models/m/model.onnx: ONNX Runtime cannot load it")


def test_missing_files_are_named(folder: Path):
    (folder / "models/m/model.onnx").unlink()
    assert flaws(folder) == ["models/m/model.onnx: No such file or directory"]
    (folder / "models/m/model.toml").unlink()
    assert flaws(folder) == ["models/m/model.toml: No such file or directory"]


def test_missing_folders_are_named(tmp_path: Path):
    assert flaws(tmp_path) == [
        "models: is not a folder; set FLIPSET_MODELS_DIR to the right one",
        "ranges: is not a folder; set FLIPSET_NORMAL_RANGES_DIR to the right one",
    ]


def test_a_folder_without_models_is_refused(tmp_path: Path):
    (tmp_path / "models").mkdir()
    (tmp_path / "ranges").mkdir()
    assert flaws(tmp_path) == ["models: holds no model: add a folder with model.onnx and model.toml"]


@pytest.mark.parametrize(("text", "reason"), [("{", "is not valid JSON"), ("[]", "is not a request")])
def test_a_broken_example_is_named(folder: Path, text: str, reason: str):
    (folder / "models/m/examples").mkdir()
    (folder / "models/m/examples/e.json").write_text(text)
    (flaw,) = flaws(folder)
    assert flaw.startswith(f"models/m/examples/e.json: {reason}")


def test_an_integer_needs_a_whole_number_in_its_range(folder: Path):
    edit(folder / "models/m/model.toml", 'name = "a"', 'name = "a"\ntype = "integer"')
    edit(folder / "ranges/r.toml", "{ low = 1 }", "{ low = 1.2, high = 1.8 }")
    (flaw,) = flaws(folder)
    assert flaw == "ranges/r.toml: features.a.ranges[0]: holds no whole number, and the feature is an integer"


def test_a_graph_of_whole_numbers_needs_integer_features(folder: Path):
    nodes = [
        helper.make_node("Cast", ["features"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Identity", ["floats"], ["scores"]),
    ]
    graph = helper.make_graph(
        nodes,
        "whole",
        [helper.make_tensor_value_info("features", TensorProto.INT64, [None, 2])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "models/m/model.onnx").write_bytes(model.SerializeToString())
    assert flaws(folder) == [
        "models/m/model.toml: features[0].type: the graph reads whole numbers, so the type must be integer",
        "models/m/model.toml: features[1].type: the graph reads whole numbers, so the type must be integer",
    ]


def write_shares(folder: Path, operator: str, threshold: float) -> None:
    """Two scores a row that the graph itself makes of raw ones."""
    node = helper.make_node(operator, ["features"], ["scores"])
    graphs.save(folder / "models/m/model.onnx", [node], {}, 2, TensorProto.FLOAT)
    edit(folder / "models/m/model.toml", 'favourable = ["yes"]', f'favourable = ["yes"]\nthreshold = {threshold}')


@pytest.mark.parametrize("threshold", [70, -1, 1.0001])
def test_a_threshold_that_no_probability_can_have_is_refused(folder: Path, threshold: float):
    write_shares(folder, "Softmax", threshold)
    assert flaws(folder) == [
        "models/m/model.toml: output.threshold: must lie between 0 and 1: the graph's scores are probabilities"
    ]


@pytest.mark.parametrize("threshold", [0, 0.7, 1])
def test_a_threshold_that_a_probability_can_have_is_taken(folder: Path, threshold: float):
    write_shares(folder, "Softmax", threshold)
    assert load(folder).models["m"].probabilities


def test_raw_scores_take_any_threshold(folder: Path):
    write_shares(folder, "Identity", 70)
    assert not load(folder).models["m"].probabilities


def test_what_a_missing_value_would_become_has_to_be_a_value_of_the_feature(folder: Path):
    edit(folder / "models/m/model.toml", 'name = "a"', 'name = "a"\ntype = "integer"\ndefault = 1')
    edit(folder / "ranges/r.toml", "ranges =", "if_missing = { value = 1.5 }\nranges =")
    assert flaws(folder) == ["ranges/r.toml: features.a.if_missing: value must be a whole number"]


def test_what_a_missing_category_would_become_has_to_be_allowed(folder: Path):
    category = 'name = "a"\ntype = "category"\ncategories = ["x", "y"]\ncodes = [0, 1]\ndefault = "x"'
    edit(folder / "models/m/model.toml", 'name = "a"', category)
    edit(folder / "ranges/r.toml", "ranges = [{ low = 1 }]", 'allowed = ["y"]\nif_missing = { value = "x" }')
    assert flaws(folder) == ["ranges/r.toml: features.a.if_missing: value is not one of the allowed values"]
