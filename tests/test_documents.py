"""The documents keep their promises: examples print what they say, tables are complete, links lead somewhere."""

import json
import re
import shlex
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import yaml

from app.api.problems import TABLE, UNEXPECTED
from app.cli.cohort import cohort
from tests.cohorts.running import environment
from tests.support.live_server import FLIPSET, ROOT, LiveServer

DOCUMENTS = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "lab/training/README.md")
]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in [*DOCUMENTS, *ROOT.glob("docs/**/*.md")]}
WITH_COMMANDS = ("http", "lender", "clinic", "locales", "following", "kserve")
EXAMPLES = [
    example
    for page in ("README.md", *(f"docs/{name}.md" for name in WITH_COMMANDS))
    for example in re.findall(r"```sh\n(curl.*?)```\n\n```(?:json|text)\n(.*?)```", PAGES[page], flags=re.DOTALL)
]


def timeless(text: str) -> list[Any]:
    """The lines, without the times that they tell."""
    lines = [json.loads(line) if line.startswith("{") else line for line in text.splitlines()]
    for line in lines:
        if isinstance(line, dict):
            line.pop("elapsed_ms", None)
    return lines


@pytest.mark.parametrize(("command", "answer"), EXAMPLES)
def test_a_command_gets_the_answer_that_is_printed_below_it(server: LiveServer, command: str, answer: str):
    here = command.replace("http://127.0.0.1:8000", server.url)
    done = subprocess.run(["bash", "-c", here], check=True, cwd=ROOT, capture_output=True, text=True)
    assert timeless(done.stdout) == timeless(answer)


def test_there_are_such_commands():
    assert len(EXAMPLES) == 10


def test_the_readme_is_short():
    assert len(PAGES["README.md"].encode()) <= 8 * 1024


def test_the_tables_of_the_reference_pages_are_those_of_the_code():
    command = [sys.executable, "docs/reference.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_request_with_every_kind_of_field_is_accepted(client: httpx.Client):
    (request,) = re.findall(r"```json\n(\{\"instance\".*?)```", PAGES["docs/http.md"], flags=re.DOTALL)
    assert client.post("/v1/models/mortgage/counterfactuals", json=json.loads(request)).status_code == 200


def test_every_problem_is_listed_with_its_status():
    listed = re.findall(r"^\| `([a-z-]+)` \| (\d+) \|", PAGES["docs/http.md"], flags=re.MULTILINE)
    kinds = {(kind.slug, str(int(kind.status))) for kind in (*TABLE.values(), UNEXPECTED)}
    assert set(listed) == kinds | {("not-found", "404"), ("method-not-allowed", "405")}


def test_every_metric_is_listed(client: httpx.Client):
    names = re.findall(r"^# TYPE (\w+)", client.get("/metrics").text, flags=re.MULTILINE)
    assert names
    assert [name for name in names if f"| `{name}` |" not in PAGES["docs/monitoring.md"]] == []


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_link_leads_somewhere(page: str):
    text = re.sub(r"```.*?```", "", PAGES[page], flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert [link for link in links if not leads_somewhere(page, link)] == []


def leads_somewhere(page: str, link: str) -> bool:
    path, _, fragment = link.partition("#")
    file = (ROOT / page).parent / path if path else ROOT / page
    return file.exists() and (not fragment or fragment in fragments(file.read_text()))


def fragments(text: str) -> set[str]:
    """The fragments that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_on_the_map():
    pages = [name.removeprefix("docs/") for name in PAGES if re.fullmatch(r"docs/(\w|-)+\.md", name)]
    assert [page for page in pages if page != "README.md" and f"]({page})" not in PAGES["docs/README.md"]] == []


def told(text: str) -> list[str]:
    """The lines of an output; spaces that nobody sees are none."""
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.mark.slow
def test_the_examples_about_registers_print_what_stands_below_them(tmp_path: Path):
    """One after the other in one folder: what one writes the next ones read."""
    examples = re.findall(r"```(sh|python)\n([^`]*)```\n\n```text\n([^`]*)```", PAGES["docs/cohorts.md"])
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
    (manifest,) = re.findall(r"```yaml\n(.*?)```", PAGES["docs/ray.md"], flags=re.DOTALL)
    job = yaml.safe_load(manifest)["spec"]
    command = typer.main.get_command(_only(cohort))
    options = command.make_context("cohort", shlex.split(job["entrypoint"])[2:]).params
    workers = job["rayClusterSpec"]["workerGroupSpecs"][0]
    (container,) = workers["template"]["spec"]["containers"]
    assert options["workers"] == workers["replicas"] * int(container["resources"]["limits"]["cpu"])
    assert (options["engine"], options["address"]) == ("ray", "auto")
    pins = (ROOT / "requirements/cluster.txt").read_text()
    assert f"ray=={job['rayClusterSpec']['rayVersion']}\n" in pins
    assert f"FROM rayproject/ray:{job['rayClusterSpec']['rayVersion']}-" in PAGES["docs/ray.md"]


def test_every_option_of_a_run_is_explained():
    names = {name.replace("_", "-") for name in signature(cohort).parameters} - {"model", "people", "person", "form"}
    explained = PAGES["docs/cohort-reference.md"]
    assert [name for name in sorted(names | {"id", "format"}) if f"| `--{name}" not in explained] == []


def _only(command: Any) -> typer.Typer:
    app = typer.Typer()
    app.command()(command)
    return app
