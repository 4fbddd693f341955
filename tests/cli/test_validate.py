"""`flipset validate` on a folder with many different mistakes: one line each, with file and field."""

from pathlib import Path

import numpy as np

from tests.cli.test_flipset import flipset
from tests.support import graphs
from tests.support.networks import Network

NETWORK = Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5)

MODELS = {
    "m01": ('version = "1"', "", "version: is missing"),
    "m02": ('version = "1"', 'version = "1"\nauthor = "me"', "author: is not a known key"),
    "m03": ('version = "1"', 'version = "1"\nsha256 = "abc"', "sha256: must be 64 lower-case hexadecimal digits"),
    "m04": ('"classification"', '"ranking"', "output.kind: must be 'classification' or 'regression'"),
    "m05": ('favourable = ["yes"]', 'favourable = ["maybe"]', "output: favourable names 'maybe'"),
    "m06": ('favourable = ["yes"]', 'favourable = ["yes"]\nthreshold = "high"', "output.threshold: must be a number"),
    "m07": ('name = "b"', 'name = "a"', "features[1].name: 'a' is named twice"),
    "m08": ('name = "b"', 'name = "b"\ntype = "date"', "features[1].type: must be 'number', 'integer' or 'category'"),
    "m09": ('name = "b"', 'name = "b"\ntype = "category"', "features[1]: categories must name at least one category"),
    "m10": ('[[features]]\nname = "b"', "", "features: the graph reads 2 columns"),
    "m11": ("[output]", '[output]\ntensor = "p"', "output.tensor: the graph has no output 'p'"),
    "m12": (
        'version = "1"',
        'version = "1"\nnormal_ranges = "nowhere"',
        "normal_ranges: there is no registry 'nowhere'",
    ),
    "m13": ('version = "1"', 'version = "1"\nprototype = { z = 1 }', "prototype.z: is not a feature"),
    "m14": ('name = "b"', 'name = "b"\ndefault = "x"', "features[1]: default must be a number"),
    "m15": ('name = "b"', 'name = "b"\ntakes_missing = "yes"', "features[1].takes_missing: must be true or false"),
}
REGISTRIES = {
    "r15": ("{ low = 1 }", "{ low = 2, high = 1 }", "features.a.ranges[0]: low is above high"),
    "r16": ("{ low = 1 }", "{ lo = 1 }", "features.a.ranges[0].lo: is not a known key; did you mean 'low'?"),
    "r17": (
        "ranges",
        'move_to = "midpoint"\nranges',
        "features.a.move_to: midpoint needs a range with a low and a high",
    ),
    "r18": ("ranges", "move_to = { margin = -1 }\nranges", "features.a.move_to: margin must not be negative"),
    "r19": ('title = "A test"', "title = A test", "is not valid TOML"),
}


def test_as_many_mistakes_are_as_many_lines(tmp_path: Path):
    expected = [_broken_model(tmp_path, name, *change) for name, change in MODELS.items()]
    expected += [_broken_registry(tmp_path, name, *change) for name, change in REGISTRIES.items()]
    (tmp_path / "models/m20").mkdir()
    expected.append(("models/m20/model.toml", "No such file or directory"))
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    done = flipset("validate", **folders)
    lines = [line.removeprefix(f"{tmp_path}/") for line in done.stderr.splitlines()]
    assert done.returncode == 1
    assert len(lines) == len(expected) == 21
    for file, flaw in expected:
        assert any(line.startswith(f"{file}: {flaw}") for line in lines), (file, flaw, lines)


def _broken_model(folder: Path, name: str, old: str, new: str, flaw: str) -> tuple[str, str]:
    graphs.write_network(folder / f"models/{name}/model.onnx", NETWORK)
    _edit(graphs.write_model_toml(folder / f"models/{name}", ["a", "b"]), old, new)
    return f"models/{name}/model.toml", flaw


def _broken_registry(folder: Path, name: str, old: str, new: str, flaw: str) -> tuple[str, str]:
    _edit(graphs.write_registry(folder / f"ranges/{name}.toml", {"a": "{ low = 1 }"}), old, new)
    return f"ranges/{name}.toml", flaw


def _edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
