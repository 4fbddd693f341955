"""`flipset init`, as a person runs it: one command, and the model can be served."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.onboarding.commands import files_in, flipset
from tests.onboarding.drafted import NAMES, OPTIONS, rows, write_graph, write_people

WRITTEN = [
    "models/loans/examples/favourable.json",
    "models/loans/examples/refused.json",
    "models/loans/model.onnx",
    "models/loans/model.toml",
    "normal_ranges/loans.toml",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which `init` has run, and what it printed."""
    folder = tmp_path_factory.mktemp("made")
    graph, people = write_graph(folder / "trained.onnx"), write_people(folder / "people.csv", rows())
    done = flipset(folder, "init", "loans", graph, people, *OPTIONS, "--by", "region", "--context", "region")
    assert (done.returncode, done.stderr) == (0, "")
    return folder, done.stdout


def test_everything_is_written_and_valid(made: tuple[Path, str]):
    folder, _ = made
    assert [file for file in files_in(folder) if file.startswith(("models", "normal"))] == WRITTEN
    done = flipset(folder, "validate")
    assert done.returncode == 0
    assert "In order: 1 model, 1 registry." in done.stdout


def test_the_description_says_what_was_seen_and_what_was_guessed(made: tuple[Path, str]):
    text = (made[0] / "models/loans/model.toml").read_text()
    described = tomllib.loads(text)
    assert [feature["name"] for feature in described["features"]] == list(NAMES)
    assert [feature["type"] for feature in described["features"]] == ["number", "integer", "number"]
    # Raw scores, whose second is that of the approved: sorted it would be the first.
    assert described["output"]["activation"] == "softmax"
    assert described["output"]["classes"] == ["denied", "approved"]
    assert "# the classes in this order, not sorted: so the scores fit the outcomes (AUC 0.9" in text
    assert "# guessed: whole numbers only, as in the table" in text


def test_it_ends_with_what_to_do_next_and_one_answer(made: tuple[Path, str]):
    assert "One answer, for the made-up person in examples/refused.json" in made[1]
    assert "What would turn the decision" in made[1]
    assert "flipset validate" in made[1]


def test_the_examples_are_nobody_and_show_both_outcomes(made: tuple[Path, str]):
    folder, _ = made
    people = [tuple(person[name] for name in NAMES) for person in rows()]
    outcomes = {}
    for name in ("favourable", "refused"):
        file = folder / f"models/loans/examples/{name}.json"
        assert tuple(json.loads(file.read_text())["instance"].values()) not in people
        done = flipset(folder, "explain", "loans", file)
        outcomes[name] = json.loads(done.stdout.splitlines()[-1])["outcome"]
    assert outcomes == {"favourable": "already_favourable", "refused": "found"}


def test_nothing_is_replaced_without_force(made: tuple[Path, str]):
    folder, _ = made
    before = {file: (folder / file).read_bytes() for file in WRITTEN}
    again = ("init", "loans", folder / "trained.onnx", folder / "people.csv", *OPTIONS, "--context", "region")
    done = flipset(folder, *again)
    assert done.returncode == 1
    assert done.stderr == "models/loans: this model exists already; use another name, or --force to replace it\n"
    assert {file: (folder / file).read_bytes() for file in WRITTEN} == before
    assert flipset(folder, *again, "--force", "--policy").returncode == 0
    assert [file for file in files_in(folder) if file.startswith(("models", "normal"))] == WRITTEN
    assert (folder / "normal_ranges/loans.toml").read_bytes() != before["normal_ranges/loans.toml"]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path):
    graph, people = write_graph(tmp_path / "trained.onnx"), write_people(tmp_path / "people.csv", rows())
    (tmp_path / "normal_ranges").write_text("a file where a folder should be")
    (tmp_path / "models").mkdir()
    before = files_in(tmp_path)
    done = flipset(tmp_path, "init", "loans", graph, people, *OPTIONS, "--context", "region", ready=False)
    assert done.returncode == 1
    assert "normal_ranges/loans.toml: cannot be written" in done.stderr
    assert files_in(tmp_path) == before
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--favourable", ">=50", "--favourable", "<=60"), "a number takes one limit"),
        (("--favourable", ">=50", "--threshold", "0.5"), "--threshold is for classes"),
    ],
)
def test_a_regression_is_asked_for_with_one_limit(tmp_path: Path, options: tuple[str, ...], told: str):
    graph, people = write_graph(tmp_path / "trained.onnx"), write_people(tmp_path / "people.csv", rows())
    done = flipset(tmp_path, "init", "loans", graph, people, "--outcome", "income", *options)
    assert done.returncode == 1
    assert told in done.stderr
