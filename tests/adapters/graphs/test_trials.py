"""Files that are not to be trusted: each gets a flaw of its own, and none harms whoever asks."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from app.adapters.catalog import catalog_of
from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.snapshots import Snapshot, take_snapshot
from app.adapters.graphs.trials import TrialLimits, try_out
from tests.cli.test_flipset import flipset
from tests.support import graphs, hostile_graphs
from tests.support.networks import Network
from tests.support.waiting import PATIENCE

NETWORK = Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5)
# The time of a model that never answers; a longer one, if the machine is too busy for the others to answer by then.
SECONDS = (3, 30, PATIENCE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models and a registry, all in order."""
    for name in ("fine", "zealous"):
        graphs.write_network(tmp_path / f"models/{name}/model.onnx", NETWORK)
        graphs.write_model_toml(tmp_path / f"models/{name}", ["a", "b"], registry="r")
    graphs.write_registry(tmp_path / "ranges/r.toml", {"a": "{ low = 1 }"})
    return tmp_path


def snapshot(folder: Path, most_graph_bytes: int = 2**20) -> Snapshot:
    return take_snapshot(folder / "models", folder / "ranges", most_graph_bytes)


def tried(folder: Path, seconds: int = PATIENCE) -> list[str]:
    return told(folder, try_out(snapshot(folder), TrialLimits(seconds, memory_mb=400, features=1000)))


def refused(folder: Path, **options: int) -> list[str]:
    """The same without a child, for what is found before a model is loaded."""
    with pytest.raises(BrokenFiles) as broken:
        catalog_of(snapshot(folder, **options))
    return told(folder, broken.value.flaws)


def told(folder: Path, flaws: tuple[Flaw, ...]) -> list[str]:
    return [str(flaw).replace(f"{folder}/", "") for flaw in flaws]


def test_what_is_in_order_passes(folder: Path):
    assert tried(folder) == []


def test_ordinary_mistakes_are_told_as_ever(folder: Path):
    (folder / "models/fine/model.onnx").unlink()
    assert tried(folder) == ["models/fine/model.onnx: No such file or directory"]


@pytest.mark.slow
def test_models_that_take_a_process_down_are_named_and_the_others_still_tried(folder: Path):
    """One never returns; one wants a terabyte; one lacks a file; the rest is in order."""
    hostile_graphs.write_model(folder, "endless", hostile_graphs.that_counts_to(hostile_graphs.ENDLESS))
    hostile_graphs.write_model(folder, "greedy", hostile_graphs.that_grows(500_000))
    (folder / "models/lacking").mkdir()
    for seconds in SECONDS:
        flaws = tried(folder, seconds)
        if sum("did not load" in flaw for flaw in flaws) == 1:
            break
    assert flaws == [
        f"models/endless/model.onnx: did not load and answer within {seconds} s (FLIPSET_MODEL_LOAD_SECONDS)",
        "models/greedy/model.onnx: fails on a row of zeros: it needs more memory than its limit "
        "(FLIPSET_MODEL_MEMORY_MB)",
        "models/lacking/model.toml: No such file or directory",
    ]


def test_a_child_that_is_killed_names_the_model_that_it_was_at(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """As the kernel does with one that takes too much memory. The child finds the trap in its own folder."""
    trap = "import os, signal, app.adapters.graphs.models as m\nold = m.load_model\ndef load_model(folder, snapshot):\n"
    trap += "    if folder.name == 'fine': os.kill(os.getpid(), signal.SIGKILL)\n    return old(folder, snapshot)\n"
    (folder / "sitecustomize.py").write_text(f"{trap}m.load_model = load_model\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    assert tried(folder) == [
        f"models/fine/model.onnx: crashed the process that loaded it ({signal.SIGKILL.name}), perhaps out of memory "
        "(FLIPSET_MODEL_MEMORY_MB)"
    ]


@pytest.mark.slow
def test_validate_tells_of_a_model_that_never_returns(folder: Path):
    hostile_graphs.write_model(folder, "endless", hostile_graphs.that_counts_to(hostile_graphs.ENDLESS))
    for seconds in SECONDS:
        done = flipset(
            "validate",
            FLIPSET_MODELS_DIR=str(folder / "models"),
            FLIPSET_NORMAL_RANGES_DIR=str(folder / "ranges"),
            FLIPSET_MODEL_LOAD_SECONDS=str(seconds),
        )
        if len(done.stderr.splitlines()) == 1:
            break
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.endswith(
        f"models/endless/model.onnx: did not load and answer within {seconds} s (FLIPSET_MODEL_LOAD_SECONDS)"
    )


@pytest.mark.parametrize("location", ["secret.bin", "../secret.bin", "/etc/hostname"])
def test_weights_in_another_file_are_not_read(folder: Path, location: str, monkeypatch: pytest.MonkeyPatch):
    """Wherever that file is: here it is in the working directory, and in the model's folder."""
    file = hostile_graphs.write_model(folder, "m", hostile_graphs.with_weights_elsewhere(location))
    for place in (folder / "secret.bin", file.with_name("secret.bin")):
        place.write_bytes(np.ones((2, 2), dtype=np.float32).tobytes())
    monkeypatch.chdir(folder)
    assert refused(folder) == [
        "models/m/model.onnx: ONNX Runtime cannot load it: its weights are in another file; "
        "export it with its weights inside the one file"
    ]


def test_a_foreign_operator_is_refused_by_its_name(folder: Path):
    hostile_graphs.write_model(folder, "m", hostile_graphs.with_foreign_operator())
    assert refused(folder) == [
        "models/m/model.onnx: ONNX Runtime cannot load it: it uses the operator example.evil:Shell, "
        "which is not one of the runtime's; custom operators are not served"
    ]


@pytest.mark.parametrize(
    ("inside", "elsewhere", "named"),
    [
        ("models/m", "elsewhere", "models/m"),
        ("models/fine/model.onnx", "elsewhere/model.onnx", "models/fine/model.onnx"),
        ("models/fine/model.toml", "elsewhere/model.toml", "models/fine/model.toml"),
        ("models/fine/examples", "elsewhere/examples", "models/fine/examples"),
        ("models/fine/examples/e.json", "elsewhere/examples/e.json", "models/fine/examples/e.json"),
    ],
)
def test_a_link_that_leads_out_of_the_models_is_refused(folder: Path, inside: str, elsewhere: str, named: str):
    graphs.write_network(folder / "elsewhere/model.onnx", NETWORK)
    graphs.write_model_toml(folder / "elsewhere", ["a", "b"])
    (folder / "elsewhere/examples").mkdir()
    (folder / "elsewhere/examples/e.json").write_text('{"instance": {"a": 0, "b": 0}}')
    (folder / inside).unlink(missing_ok=True)
    (folder / inside).parent.mkdir(exist_ok=True)
    (folder / inside).symlink_to(folder / elsewhere)
    assert refused(folder) == [f"{named}: is a symbolic link that leads out of models: put the files there instead"]


def test_a_registry_that_leads_out_is_refused(folder: Path):
    graphs.write_registry(folder / "elsewhere.toml", {"a": "{ low = 1 }"})
    (folder / "ranges/s.toml").symlink_to("../elsewhere.toml")
    assert refused(folder) == [
        "ranges/s.toml: is a symbolic link that leads out of ranges: put the files there instead"
    ]


def test_links_within_a_folder_are_followed(folder: Path):
    """The way that Kubernetes mounts files."""
    (folder / "models/..data").mkdir()
    (folder / "models/fine/model.onnx").rename(folder / "models/..data/graph")
    (folder / "models/fine/model.onnx").symlink_to("../..data/graph")
    (folder / "ranges/r.toml").rename(folder / "ranges/..r")
    (folder / "ranges/r.toml").symlink_to("..r")
    assert list(catalog_of(snapshot(folder)).models) == ["fine", "zealous"]


@pytest.mark.parametrize("file", ["models/fine/model.onnx", "models/fine/model.toml", "ranges/s.toml"])
def test_a_pipe_in_place_of_a_file_is_refused(folder: Path, file: str):
    """And nobody waits for what might come out of it."""
    (folder / file).unlink(missing_ok=True)
    os.mkfifo(folder / file)
    assert refused(folder) == [f"{file}: is not a plain file"]


def test_a_file_that_is_too_large_is_refused(folder: Path):
    (folder / "models/fine/model.onnx").write_bytes(bytes(2**20 + 1))
    (folder / "ranges/r.toml").write_bytes(b"#" * (4 * 2**20 + 1))
    assert refused(folder) == [
        "models/fine/model.onnx: is larger than 1 MB; raise FLIPSET_MODEL_FILE_MB to allow it",
        "ranges/r.toml: is larger than 4 MB",
    ]


@pytest.mark.parametrize("character", ["\\u001b", "\\u0007", "\\u009b", "\\u202e"])
def test_control_characters_are_refused(folder: Path, character: str):
    graphs.write_model_toml(folder / "models/fine", ["a", "b"], registry="r", title=f'"A {character}test"')
    assert refused(folder) == ["models/fine/model.toml: title: holds a control character"]


def test_a_file_name_cannot_command_the_terminal(folder: Path):
    (folder / "models/a\x1b[31m\n").mkdir()
    assert refused(folder) == ["models/a\\x1b[31m\\n/model.toml: No such file or directory"]
