"""The README and the page about registers keep their promises."""

import json
import re
import shlex
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from app.cohort_cli import cohort
from app.settings import Settings
from tests.cohorts.running import environment
from tests.live_server import FLIPSET, ROOT, LiveServer

README = (ROOT / "README.md").read_text()
COHORTS = (ROOT / "docs" / "cohorts.md").read_text()
EXAMPLES = re.findall(r"```sh\n(curl.*?)```\n\n```json\n(.*?)```", README, flags=re.DOTALL)


def timeless(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        line.pop("elapsed_ms", None)
    return lines


@pytest.mark.parametrize(("command", "answer"), EXAMPLES)
def test_a_command_gets_the_answer_that_is_printed_below_it(server: LiveServer, command: str, answer: str):
    here = command.replace("http://127.0.0.1:8000", server.url)
    done = subprocess.run(["bash", "-c", here], check=True, cwd=ROOT, capture_output=True, text=True)
    assert timeless(done.stdout) == timeless(answer)


def test_there_are_such_commands():
    assert len(EXAMPLES) == 2


def test_every_setting_is_listed_with_its_default():
    for name, field in Settings.model_fields.items():
        (default, description) = re.findall(rf"\| `FLIPSET_{name.upper()}` \| (.*?) \| (.*?) \|", README)[0]
        assert description == field.description
        if field.default in (None, (), ""):
            assert default == "unset"
        elif isinstance(field.default, bool):
            assert default == f"`{str(field.default).lower()}`"
        elif name != "search_threads":
            assert default == f"`{field.default}`"


def told(text: str) -> list[str]:
    """The lines of an output; spaces that nobody sees are none."""
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_examples_about_registers_print_what_stands_below_them(tmp_path: Path):
    """One after the other in one folder: what one writes the next ones read."""
    examples = re.findall(r"```(sh|python)\n([^`]*)```\n\n```text\n([^`]*)```", COHORTS)
    assert [language for language, _, _ in examples] == ["sh", "python", "python", "python", "sh", "python", "python"]
    shells = {"sh": ["bash", "-ec"], "python": [sys.executable, "-c"]}
    own = environment()
    path = {**own, "PATH": f"{Path(FLIPSET).parent}:{own['PATH']}"}
    for language, code, output in examples:
        done = subprocess.run(
            [*shells[language], code], cwd=tmp_path, env=path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, told(done.stdout)) == (0, told(output)), done.stderr


def test_the_manifest_asks_for_what_the_command_knows():
    (manifest,) = re.findall(r"```yaml\n(.*?)```", COHORTS, flags=re.DOTALL)
    job = yaml.safe_load(manifest)["spec"]
    command = typer.main.get_command(_only(cohort))
    options = command.make_context("cohort", shlex.split(job["entrypoint"])[2:]).params
    workers = job["rayClusterSpec"]["workerGroupSpecs"][0]
    (container,) = workers["template"]["spec"]["containers"]
    assert options["workers"] == workers["replicas"] * int(container["resources"]["limits"]["cpu"])
    assert (options["engine"], options["address"]) == ("ray", "auto")
    pins = (ROOT / "requirements-cluster.txt").read_text()
    assert f"ray=={job['rayClusterSpec']['rayVersion']}\n" in pins
    assert f"FROM rayproject/ray:{job['rayClusterSpec']['rayVersion']}-" in COHORTS


def test_every_option_of_a_run_is_explained():
    names = {name.replace("_", "-") for name in signature(cohort).parameters} - {"model", "people", "person", "form"}
    assert [name for name in sorted(names | {"id", "format"}) if f"--{name}" not in COHORTS] == []


def _only(command: Any) -> typer.Typer:
    app = typer.Typer()
    app.command()(command)
    return app
