"""`flipset compare` finds each of the usual mistakes, and names it."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.onboarding.comparing.comparing import Comparison, compare
from app.onboarding.failures import Unfit
from app.onboarding.reading.table import read_table
from tests.onboarding.commands import flipset
from tests.support import graphs
from tests.support.networks import Network

NAMES = ("age", "income", "debt", "late")
# Of the trainer: standard scores, then a hidden layer.
MIDDLE, SPREAD = np.array([45.0, 60.0, 0.4, 2.0]), np.array([12.0, 20.0, 0.1, 1.5])
FIRST = np.array([[0.6, -0.4], [1.0, 0.3], [-1.4, 0.8], [-0.9, 1.1]])
DESCRIPTION = """
title = "Loans"
version = "1.0.0"
[output]
kind = "classification"
activation = "{activation}"
classes = [{classes}]
favourable = ["approved"]
{features}
"""


def network(scaled: bool = True) -> Network:
    """Scores of standard values; `scaled`: of values in their units."""
    first = FIRST / SPREAD[:, None] if scaled else FIRST
    bias = np.array([0.2, 0.1]) - ((MIDDLE / SPREAD) @ FIRST if scaled else 0)
    return Network(first, bias, np.array([0.8, -0.7]), 0.1)


def people() -> np.ndarray:
    rng = np.random.default_rng(0)
    return (MIDDLE + SPREAD * rng.normal(size=(400, 4))).round(3)


def margins(rows: np.ndarray) -> np.ndarray:
    """What the trainer's own library computes, in float64."""
    hidden = np.maximum((rows - MIDDLE) / SPREAD @ FIRST + np.array([0.2, 0.1]), 0)
    return hidden @ np.array([0.8, -0.7]) + 0.1


def probabilities(rows: np.ndarray) -> np.ndarray:
    """The graph gives -z and z."""
    return 1 / (1 + np.exp(-2 * margins(rows)))


def written(
    folder: Path,
    scores: np.ndarray,
    order: tuple[str, ...] = NAMES,
    classes: str = '"denied", "approved"',
    activation: str = "softmax",
    scaled: bool = True,
    extra: str = "",
) -> Comparison:
    (folder / "models/loans").mkdir(parents=True)
    (folder / "normal_ranges").mkdir()
    graphs.write_network(folder / "models/loans/model.onnx", network(scaled))
    features = "\n".join(f'[[features]]\nname = "{name}"\n{extra}' for name in order)
    text = DESCRIPTION.format(activation=activation, classes=classes, features=features)
    assert tomllib.loads(text)
    (folder / "models/loans/model.toml").write_text(text)
    rows = [",".join(map(repr, [*row.tolist(), float(score)])) for row, score in zip(people(), scores, strict=True)]
    (folder / "people.csv").write_text("\n".join([",".join((*NAMES, "score")), *rows]) + "\n")
    model = load_catalog(folder / "models", folder / "normal_ranges").models["loans"]
    return compare(model, read_table(folder / "people.csv", None), "score", {})


def test_a_model_that_says_the_same_is_equal_for_everybody(tmp_path: Path):
    found = written(tmp_path, probabilities(people()))
    assert (found.people, found.equal, found.reason, found.first) == (400, 400, None, ())
    assert found.largest < 1e-5
    done = flipset(tmp_path, "compare", "loans", "people.csv", "--score", "score")
    assert done.returncode == 0
    assert "Equal for 400 of 400 people (100.0%)." in done.stdout


def with_swapped(folder: Path) -> Comparison:
    return written(folder, probabilities(people()), order=("age", "debt", "income", "late"))


def with_sorted(folder: Path) -> Comparison:
    return written(folder, probabilities(people()), order=("age", "debt", "income", "late")[::-1])


def without_scaling(folder: Path) -> Comparison:
    return written(folder, probabilities(people()), scaled=False)


def of_the_other_class(folder: Path) -> Comparison:
    return written(folder, 1 - probabilities(people()))


def with_classes_turned_round(folder: Path) -> Comparison:
    return written(folder, probabilities(people()), classes='"approved", "denied"')


def without_activation(folder: Path) -> Comparison:
    return written(folder, probabilities(people()), activation="none")


def of_margins(folder: Path) -> Comparison:
    return written(folder, 2 * margins(people()))


def of_labels(folder: Path) -> Comparison:
    return written(folder, (probabilities(people()) > 0.5).astype(float))


def in_float32(folder: Path) -> Comparison:
    """A few people lie at a split of the trainer's trees."""
    scores = probabilities(people())
    scores[[3, 77]] += 0.04
    return written(folder, scores)


def with_other_missing_values(folder: Path) -> Comparison:
    """The trainer put the mean where a value is missing; the description says 0."""
    found = written(folder, probabilities(people()), extra="default = 0")
    text = (folder / "people.csv").read_text().splitlines()
    spoilt = [",".join(["", *line.split(",")[1:]]) if row % 4 == 0 else line for row, line in enumerate(text[1:])]
    (folder / "people.csv").write_text("\n".join([text[0], *spoilt]) + "\n")
    model = load_catalog(folder / "models", folder / "normal_ranges").models["loans"]
    assert found.equal == found.people
    return compare(model, read_table(folder / "people.csv", None), "score", {})


MISTAKES: dict[str, tuple[Callable[[Path], Comparison], str]] = {
    "two columns swapped": (with_swapped, "the order of columns: debt and income are swapped in model.toml"),
    "columns in another order": (with_sorted, "the order of columns"),
    "scaling left out": (without_scaling, "scaling was left out: the graph wants scaled values (StandardScaler)"),
    "the other class": (of_the_other_class, "the probabilities of the other class, 'denied'"),
    "classes turned round": (with_classes_turned_round, "the probabilities of the other class"),
    "no activation": (without_activation, 'set activation = "softmax" in model.toml'),
    "margins": (of_margins, "the column has raw scores (margins)"),
    "labels": (of_labels, "the column holds decisions (0 and 1), not scores"),
    "float32": (in_float32, "float32: few people differ"),
    "missing values": (with_other_missing_values, "missing values: only people with one differ"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_found_and_named(mistake: str, tmp_path: Path):
    plant, reason = MISTAKES[mistake]
    found = plant(tmp_path)
    assert found.equal < found.people
    assert found.reason is not None
    assert reason in found.reason


def test_the_command_names_the_first_rows_and_ends_with_1(tmp_path: Path):
    in_float32(tmp_path)
    done = flipset(tmp_path, "compare", "loans", "people.csv", "--score", "score")
    assert done.returncode == 1
    assert "Equal for 398 of 400 people (99.5%)." in done.stdout
    assert "row 4: served" in done.stdout
    assert "row 78: served" in done.stdout
    assert "Likely reason: float32" in done.stdout


def test_what_cannot_be_compared_is_one_line(tmp_path: Path):
    written(tmp_path, probabilities(people()))
    model = load_catalog(tmp_path / "models", tmp_path / "normal_ranges").models["loans"]
    table = read_table(tmp_path / "people.csv", None)
    with pytest.raises(Unfit, match="--score scores: is not a column; did you mean 'score'"):
        compare(model, table, "scores", {})
    with pytest.raises(Unfit, match="--column age: wage: is not a column"):
        compare(model, table, "score", {"age": "wage"})
