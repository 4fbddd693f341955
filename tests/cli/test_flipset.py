"""The command line, run as a person runs it."""

import json
import os
import pty
import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.cli.terminal import show
from app.settings import Settings
from tests.support import graphs
from tests.support.answers import events_of
from tests.support.live_server import FLIPSET, ROOT
from tests.support.networks import random_case
from tests.support.waiting import PATIENCE

EXAMPLE = str(ROOT / "models/synthetic/examples/several-ways.json")


def flipset(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FLIPSET, *arguments],
        check=False,
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=PATIENCE,
    )


def test_explain_writes_json_lines_into_a_pipe():
    done = flipset("explain", "synthetic", EXAMPLE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert lines[0]["type"] == "start"
    assert lines[-1]["count"] == 3


def test_explain_reads_from_the_input():
    done = flipset("explain", "synthetic", "-", stdin=Path(EXAMPLE).read_text())
    assert json.loads(done.stdout.splitlines()[-1])["count"] == 3


def test_explain_draws_a_table_in_a_terminal():
    leader, follower = pty.openpty()
    process = subprocess.Popen([FLIPSET, "explain", "synthetic", EXAMPLE], cwd=ROOT, stdout=follower, stderr=follower)
    os.close(follower)
    drawn = ""
    while True:
        try:
            drawn += os.read(leader, 65536).decode()
        except OSError:  # the terminal is gone: the command has ended
            break
    os.close(leader)
    assert process.wait() == 0
    assert "What would turn the decision" in drawn
    assert "Feature A: -0.8 → 0.55" in drawn
    assert "3 minimal sets of changes found. This is complete and exact." in drawn


def test_explain_says_what_is_wrong_with_the_request():
    done = flipset("explain", "synthetic", "-", stdin='{"instance": {"A": "x", "B": 1, "C": 1, "D": 1}}')
    assert done.returncode == 1
    assert "instance.A: must be a number, not text" in done.stderr
    assert not done.stdout


@pytest.mark.slow
def test_explain_says_which_model_or_file_is_missing():
    assert "Did you mean 'synthetic'?" in flipset("explain", "sinthetic", EXAMPLE).stderr
    assert "nope.json: No such file" in flipset("explain", "synthetic", "nope.json").stderr


def test_validate_is_content_with_what_is_shipped():
    done = flipset("validate")
    assert done.returncode == 0
    *structures, order = done.stdout.splitlines()
    assert order == "In order: 6 models, 8 registries."
    assert "mortgage: structure trees" in structures
    assert len(structures) == 6


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_broken_file_stops_the_start_with_one_readable_message(tmp_path: Path, workers: str):
    _, network = random_case(1)
    graphs.write_network(tmp_path / "models/m/model.onnx", network)
    graphs.write_model_toml(tmp_path / "models/m", [f"f{index}" for index in range(len(network.first))], registry="r")
    graphs.write_registry(tmp_path / "ranges/r.toml", {"f0": "{ low = 2, high = 1 }"})
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    flaw = f"{tmp_path}/ranges/r.toml: features.f0.ranges[0]: low is above high\n"
    started = flipset("serve", FLIPSET_WORKERS=workers, **folders)
    assert (started.returncode, started.stderr) == (1, f"Flipset cannot start:\n{flaw}")
    checked = flipset("validate", **folders)
    assert (checked.returncode, checked.stderr) == (1, flaw)


@pytest.mark.slow
def test_validate_tries_the_examples(tmp_path: Path):
    _, network = random_case(1)
    names = [f"f{index}" for index in range(len(network.first))]
    graphs.write_network(tmp_path / "models/m/model.onnx", network)
    graphs.write_model_toml(tmp_path / "models/m", names)
    (tmp_path / "models/m/examples").mkdir()
    (tmp_path / "models/m/examples/e.json").write_text(json.dumps({"instance": dict.fromkeys(names[1:], 0)}))
    (tmp_path / "ranges").mkdir()
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    done = flipset("validate", **folders)
    assert (done.returncode, done.stderr) == (1, f"{tmp_path}/models/m/examples/e.json: instance.f0: is missing\n")


def drawn_of(model: str, request: dict[str, Any]) -> str:
    """What a terminal shows of the answer to a request."""
    service = Service(Settings(), load_catalog(ROOT / "models", ROOT / "normal_ranges"))
    drawn = StringIO()
    show(events_of(service, request, model), Console(file=drawn, width=200))
    return drawn.getvalue()


def test_a_terminal_tells_what_stands_in_the_way():
    drawn = drawn_of("synthetic", json.loads((ROOT / "models/synthetic/examples/no-way-out.json").read_text()))
    assert "Constraints are in the way:" in drawn
    assert "without max_changes (at most 1 feature changes): Raise Feature B" in drawn


def test_a_terminal_says_what_the_score_is_held_against():
    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    assert "; healthy must score highest" in drawn_of("hcv", request)


def test_a_terminal_tells_what_of_the_context_no_range_knows():
    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    drawn = drawn_of("hcv", {**request, "context": {"sex": "f", "age": 39, "gender": "f"}})
    assert "context.sex: no range knows this value, so the ranges for female or male do not apply" in drawn
    assert "context.gender: no range uses it" in drawn
    assert "no range knows" not in drawn_of("hcv", {**request, "context": {"sex": "female", "age": 39}})


def test_a_terminal_says_which_plans_hold_and_what_else_is_short_of_it():
    request = json.loads((ROOT / "models/hcv/examples/several-ways.json").read_text())
    told = drawn_of("hcv", {**request, "robustness": {"models": ["hcv@2"]}})
    assert "in 97 of 100 repeated measurements" in told
    assert "not approved by hcv@2" in told
    assert "undone if alkaline phosphatase improves too" in told
    required = drawn_of("hcv", {**request, "robustness": {"models": ["hcv@2"], "require": 0.95}})
    assert "Plans that hold" in required
    assert "proved for every error up to three standard deviations" in required
    assert "not for every error up to three standard deviations" in required
    noisy = {"noise": {"ALP": {"sd": 60}, "AST": {"sd": 40}}, "require": 0.99}
    none = drawn_of("hcv", {**request, "robustness": noisy, "constraints": {"max_changes": 1}})
    assert "No allowed set of changes holds. This is complete and exact." in none
    assert none.count("Holds: in ") == 2
    approved = json.loads((ROOT / "models/hcv/examples/already-favourable.json").read_text())
    unsure = drawn_of("hcv", {**approved, "robustness": {"noise": {"ALP": {"sd": 400}}, "require": 0.99}})
    assert "healthy, favourable, but that does not hold as you require" in unsure
    lasting = {"robustness": {"more": "require"}, "limits": {"max_model_rows": 1}}
    unknown = drawn_of("hcv", {**approved, **lasting})
    assert "healthy, favourable, but that is not known to hold as you require" in unknown


def test_a_terminal_does_not_call_an_assumption_a_proof():
    request = json.loads((ROOT / "models/hcv/examples/no-way-out.json").read_text())
    request |= {"limits": {"engine": "cemsp", "max_model_rows": 2}, "constraints": {"immutable": ["BIL"]}}
    drawn = drawn_of("hcv", request)
    assert "No set of changes was found, but there may be one. The search assumed that one more" in drawn
    assert "complete" not in drawn
    assert "What comes closest, with a score of" in drawn


@pytest.mark.slow
def test_a_misspelt_setting_is_noticed():
    done = flipset("validate", FLIPSET_POTR="1")
    assert done.returncode == 0
    assert "FLIPSET_POTR is not a setting and is ignored; did you mean 'FLIPSET_PORT'?" in done.stderr


@pytest.mark.slow
def test_a_registry_that_is_nobody_s_own_is_checked_too(tmp_path: Path):
    shutil.copytree(ROOT / "models/hcv", tmp_path / "models/hcv")
    shutil.copytree(ROOT / "normal_ranges", tmp_path / "ranges")
    paper = tmp_path / "ranges/hcv-paper.toml"
    paper.write_text(paper.read_text() + '\n[constraints]\nformulas = ["ALT xor (AST"]\n')
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    done = flipset("validate", **folders)
    assert done.stderr.startswith(f"{paper}: constraints.formulas[0]: line 1, column 13: expected a closing bracket")


@pytest.mark.slow
def test_a_flaw_of_a_registry_is_one_line_however_many_models_it_does_not_fit(tmp_path: Path):
    for name in ("hcv", "hcv@2", "hcv@3"):
        shutil.copytree(ROOT / "models/hcv", tmp_path / "models" / name)
    third = tmp_path / "models/hcv@3/model.toml"
    third.write_text(third.read_text().replace('unit = "U/L"', 'unit = "IU/L"'))
    (tmp_path / "ranges").mkdir()
    registry = tmp_path / "ranges/hcv.toml"
    shipped = (ROOT / "normal_ranges/hcv.toml").read_text()
    registry.write_text(
        shipped.replace('[features.ALT]\nunit = "U/L"', '[features.ALT]\nunit = "g/L"')
        + '\n[features.X]\nranges = [{ low = 1 }]\n[constraints]\nimmutable = ["BILL"]\n'
    )
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    lines = flipset("validate", **folders).stderr.splitlines()
    told = dict(line.removeprefix(f"{registry}: ").split(": ", 1) for line in lines)
    assert len(told) == len(lines)
    assert told.pop("features.ALT.unit") == (
        "the unit is 'g/L' here and 'U/L' in models 'hcv' and 'hcv@2'; it does not fit 'hcv@3' either"
    )
    assert told.pop("features.X") == "models 'hcv', 'hcv@2' and 'hcv@3' have no such feature"
    assert told.pop("constraints.immutable[0]") == "is not a feature of this model; did you mean 'BIL'?"
    assert set(told.values()) == {"the unit is 'U/L' here and 'IU/L' in model 'hcv@3'"}


def test_a_setting_that_makes_no_sense_is_named():
    done = flipset("serve", FLIPSET_PORT="door")
    assert done.returncode == 1
    assert done.stderr == "FLIPSET_PORT: must be a whole number\n"
    assert flipset("serve", FLIPSET_PORT="70000").stderr == "FLIPSET_PORT: must be 65535 or less\n"
    assert flipset("serve", FLIPSET_WORKERS="0").stderr == "FLIPSET_WORKERS: must be 1 or more\n"
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_setting_that_names_no_file_is_named():
    """Where the variable is set and empty, `.` would be meant, which is never what was meant."""
    for name in ("FLIPSET_KEYS_FILE", "FLIPSET_MODELS_DIR", "FLIPSET_NORMAL_RANGES_DIR"):
        done = flipset("serve", **{name: ""})
        assert (done.returncode, done.stderr) == (1, f"{name}: is empty; set it to a path, or unset it\n")
