"""What versions held is written down by `flipset validate --lock`, and `flipset validate` compares."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_flipset import flipset
from tests.support.live_server import ROOT, live_server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "models/synthetic", tmp_path / "models/synthetic")
    (tmp_path / "ranges").mkdir()
    shutil.copy(ROOT / "normal_ranges/synthetic.toml", tmp_path / "ranges")
    return tmp_path


def validate(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    folders = {"FLIPSET_MODELS_DIR": str(folder / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(folder / "ranges")}
    return flipset("validate", *options, **folders)


STRUCTURE = "synthetic: structure network"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_content_that_changed_under_its_version_is_warned_of(folder: Path):
    model, registry = folder / "models/synthetic/model.toml", folder / "ranges/synthetic.toml"
    recorded = validate(folder, "--lock")
    assert recorded.stdout.splitlines() == [
        STRUCTURE,
        "In order: 1 model, 1 registry.",
        f"Recorded in {folder}/models/versions.lock and {folder}/ranges/versions.lock.",
    ]
    assert validate(folder).stdout == f"{STRUCTURE}\nIn order: 1 model, 1 registry.\n"
    edit(registry, "0.55", "0.6")
    edit(model, 'title = "Feature A"', 'title = "A"')
    done = validate(folder)
    reason = "as before, but {} has changed since it was recorded; change the version"
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            f"warning: {model}: version: is '1.0.0' {reason.format('synthetic/model.toml')}",
            f"warning: {registry}: version: is '2026-11' {reason.format('synthetic.toml')}",
            STRUCTURE,
            "In order, warnings aside: 1 model, 1 registry.",
        ],
    )


@pytest.mark.slow
def test_another_version_is_another_content_and_the_old_one_is_remembered(folder: Path):
    registry = folder / "ranges/synthetic.toml"
    validate(folder, "--lock")
    edit(registry, "0.55", "0.6")
    edit(registry, 'version = "2026-11"', 'version = "2026-12"')
    assert "warning" not in validate(folder, "--lock").stdout
    edit(registry, 'version = "2026-12"', 'version = "2026-11"')
    assert f"warning: {registry}: version: is '2026-11' as before" in validate(folder).stdout
    validate(folder, "--lock")
    assert "warning" not in validate(folder).stdout


@pytest.mark.slow
def test_a_server_that_starts_with_changed_content_says_so(folder: Path):
    validate(folder, "--lock")
    edit(folder / "ranges/synthetic.toml", "0.55", "0.6")
    with live_server(folder / "models", folder / "ranges") as server:
        assert server.logs("synthetic.toml has changed since it was recorded")


@pytest.mark.parametrize("text", ["versions = 3", '[versions.a.b]\n"c" = 1', "no toml", "[version]"])
def test_a_broken_lock_is_named(folder: Path, text: str):
    lock = folder / "models/versions.lock"
    lock.write_text(text)
    done = validate(folder)
    assert (done.returncode, done.stderr.startswith(f"{lock}: ")) == (1, True)


def test_a_folder_that_cannot_be_written_is_named(folder: Path):
    (folder / "models/versions.lock").mkdir()
    done = validate(folder, "--lock")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert done.stderr.startswith(f"{folder}/models/versions.lock: ")
