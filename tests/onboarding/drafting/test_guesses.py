"""What cannot be read in the graph is held against the outcomes, and said."""

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from app.cli import cli
from app.onboarding.drafting.outputs import Output, fit, read_output
from app.onboarding.failures import Unfit
from app.onboarding.reading.outcomes import read_outcomes
from app.onboarding.reading.table import read_table
from tests.onboarding.drafted import OPTIONS, rows, write_graph
from tests.support import graphs
from tests.support.networks import Network


def output(folder: Path, outcomes: list[str], favourable: list[str], raw: np.ndarray, names: list[str] | None = None):
    file = folder / "people.csv"
    file.write_text("\n".join(["outcome,x", *(f"{outcome},1" for outcome in outcomes)]) + "\n")
    read = read_outcomes(read_table(file, None), "outcome", favourable)
    probe = SimpleNamespace(tensor="scores", names=names)
    return read_output(probe, raw, read, np.ones(len(raw), dtype=np.bool_))


def test_many_classes_are_put_in_the_order_that_the_scores_say(tmp_path: Path):
    """The trainer coded them 0, 1, 2 as they are here, not by their letters."""
    classes = ["low", "medium", "high"]
    found = output(tmp_path, classes * 20, ["low"], np.tile(np.eye(3), (20, 1)))
    assert found.classes == ("low", "medium", "high")
    assert found.doubts == ()


def test_classes_that_no_order_fits_are_doubted_aloud(tmp_path: Path):
    raw = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    raw[:, 0] = 0.5
    found = output(tmp_path, ["a", "b", "c"] * 20, ["a"], raw)
    assert found.classes == ("a", "b", "c")
    assert "hardly fit" in found.doubts[0]


def diseases(folder: Path, scores: list[float], names: list[str] | None) -> Output:
    """Five outcomes, two of them favourable; the graph knows two classes."""
    outcomes = ["donor", "suspect", "hepatitis", "fibrosis", "cirrhosis"] * 10
    score = np.array(scores * 10)
    return output(folder, outcomes, ["donor", "suspect"], np.column_stack([1 - score, score]), names)


@pytest.mark.parametrize(
    ("scores", "names", "classes", "favourable"),
    [
        ([0.9, 0.8, 0.2, 0.1, 0.3], None, ("unfavourable", "favourable"), ("favourable",)),
        ([0.1, 0.2, 0.8, 0.9, 0.7], None, ("favourable", "unfavourable"), ("favourable",)),
        ([0.1, 0.2, 0.8, 0.9, 0.7], ["well", "ill"], ("well", "ill"), ("well",)),
    ],
)
def test_two_classes_may_stand_for_many_outcomes(
    tmp_path: Path, scores: list[float], names: list[str] | None, classes: tuple[str, ...], favourable: tuple[str, ...]
):
    found = diseases(tmp_path, scores, names)
    assert (found.classes, found.favourable) == (classes, favourable)
    assert "the other class for cirrhosis, fibrosis or hepatitis" in found.doubts[0]


def test_two_classes_that_fit_many_outcomes_badly_are_refused(tmp_path: Path):
    with pytest.raises(Unfit, match="leave out the people whose outcome is not one of the model's"):
        diseases(tmp_path, [0.5] * 5, None)


def test_people_of_one_outcome_say_nothing_of_a_fit():
    assert fit(np.array([[0.1], [0.9]]), np.array([True, True])) == 0.5
    assert fit(np.array([[0.1], [0.9]]), np.array([True, False])) == 1


def test_of_many_outcomes_only_some_are_listed(tmp_path: Path):
    outcomes = [f"o{place}" for place in range(20)] * 5
    score = np.array([0.9 if outcome == "o0" else 0.1 for outcome in outcomes])
    found = output(tmp_path, outcomes, ["o0"], np.column_stack([1 - score, score]))
    assert found.classes == ("not o0", "o0")
    assert "for the 19 others" in found.doubts[0]


def made(folder: Path, graph: Path, people: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.chdir(folder)
    (folder / "models").mkdir()
    (folder / "normal_ranges").mkdir()
    file = folder / "people.ndjson"
    file.write_text("".join(json.dumps(person) + "\n" for person in people))
    return CliRunner().invoke(cli, ["init", "loans", str(graph), str(file), *OPTIONS])


@pytest.mark.parametrize("is_last", [True, False])
def test_one_hot_columns_may_stand_behind_the_numbers_as_get_dummies_writes_them(
    is_last: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The table has the category first; of both orders only one tells the outcomes apart."""
    numbers, regions = [[-0.1], [-1.0], [0.05]], [[0.0], [0.0]]
    network = Network(
        np.array([*numbers, *regions] if is_last else [*regions, *numbers]), np.array([20.0]), np.ones(1), -17.5
    )
    graphs.write_network(tmp_path / "m.onnx", network)
    people = [{"region": person.pop("region"), **person} for person in rows()]
    done = made(tmp_path, tmp_path / "m.onnx", people, monkeypatch)
    assert done.exit_code == 0, done.output
    described = tomllib.loads((tmp_path / "models/loans/model.toml").read_text())
    found = [feature["name"] for feature in described["features"]]
    assert found == (["debt", "late", "income", "region"] if is_last else ["region", "debt", "late", "income"])
    assert ("with the numbers first" in done.stdout) == is_last


def test_names_and_outcomes_with_line_breaks_stay_in_their_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    evil = "debt\n[evil]\nx = 1 #"
    people = [{evil if key == "debt" else key: value for key, value in person.items()} for person in rows()]
    people = [
        {key: f"{value}\n[evil]" if key == "decision" and value == "denied" else value for key, value in person.items()}
        for person in people
    ]
    for person in people:
        del person["region"]
        person["constant\n[evil]"] = 1
    graph = write_graph(tmp_path / "m.onnx")
    graphs.write_network(graph, Network(np.array([[-0.1], [-1.0], [0.05], [0.0]]), np.array([20.0]), np.ones(1), -17.5))
    done = made(tmp_path, graph, people, monkeypatch)
    assert done.exit_code in (0, 1)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    for file in tmp_path.rglob("*.toml"):
        assert "evil" not in tomllib.loads(file.read_text())
    assert "is not valid TOML" not in done.output


def test_a_feature_that_gives_the_outcome_away_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    people = [
        {**person, "debt": 10.0 + place % 7 + 50 * (person["decision"] == "denied")}
        for place, person in enumerate(rows())
    ]
    for person in people:
        del person["region"]
    done = made(tmp_path, write_graph(tmp_path / "m.onnx"), people, monkeypatch)
    assert "debt alone nearly tells the outcomes apart (AUC 1.000)" in done.stdout, done.output
    assert "late alone" not in done.stdout


def test_a_code_for_a_missing_value_is_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    people = [
        {**person, "income": -999 if place % 50 == 0 else person["income"]} for place, person in enumerate(rows())
    ]
    for person in people:
        del person["region"]
    done = made(tmp_path, write_graph(tmp_path / "m.onnx"), people, monkeypatch)
    told = "income holds -999, far from its other values. If that stands for a missing value, leave those cells empty"
    assert told in " ".join(done.stdout.split()), done.output
    assert "late holds" not in done.stdout


@pytest.mark.parametrize("count", [400, 1500])
def test_numbers_with_a_unit_are_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int):
    """Also where so many differ that they look like free text."""
    people = [{**person, "debt": f"{40 + place / 100} mg/dl"} for place, person in enumerate(rows(count))]
    for person in people:
        del person["region"]
    done = made(tmp_path, write_graph(tmp_path / "m.onnx"), people, monkeypatch)
    assert done.exit_code == 1
    assert "debt: holds numbers with their unit: leave only the numbers" in " ".join(done.output.split())
    assert not (tmp_path / "models/loans").exists()
