"""The snippets of docs/models.md: what they export is served, and scores as the trainer itself does."""

import re
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.adapters.graphs.runs import Runs
from app.answering.predictions import predicting
from app.asking.schemas import PredictionsRequest
from app.core.turns import run_through
from tests.cli.test_flipset import flipset
from tests.support.live_server import ROOT

SECTION = (
    (ROOT / "docs/models.md").read_text().partition("## Exporting XGBoost and LightGBM\n")[2].partition("\n## ")[0]
)
SNIPPETS = re.findall(r"```python\n(.*?)```", SECTION, flags=re.DOTALL)
OUTPUT = re.findall(r"```toml\n(.*?)```", SECTION, flags=re.DOTALL)[0]
NAMES = ["debt_ratio", "late_payments", "income"]
FEATURES = "".join(f'[[features]]\nname = "{name}"\ntakes_missing = true\n' for name in NAMES)
HEAD = 'title = "Small loans"\nversion = "1"\n'


def people() -> tuple[np.ndarray, np.ndarray]:
    """Some values are missing; what is approved depends on all columns."""
    rng = np.random.default_rng(3)
    rows = rng.normal([0.35, 2, 40], [0.1, 2, 15], size=(1500, 3)).astype(np.float32)
    labels = (rows[:, 2] / 40 - rows[:, 0] * 2 - rows[:, 1] / 4 + rng.normal(0, 0.2, 1500) > -0.3).astype(int)
    return np.where(rng.random(rows.shape) < 0.05, np.nan, rows).astype(np.float32), labels


def run(snippet: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **known: Any) -> Any:
    """Run a snippet in a folder; the model that it has trained."""
    monkeypatch.chdir(folder)
    exec(compile(snippet, "docs/models.md", "exec"), known)  # noqa: S102  # this is what the page tells people to run
    return known["model"]


def described(folder: Path, output: str) -> None:
    (folder / "model.toml").write_text(HEAD + output + FEATURES)
    (folder.parent.parent / "ranges").mkdir()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "models/loans"
    made.mkdir(parents=True)
    return made


def scores_of(folder: Path, rows: np.ndarray) -> np.ndarray:
    """What Flipset says of each row."""
    catalog = load_catalog(folder.parent, folder.parent.parent / "ranges")
    instances = [
        {name: None if np.isnan(value) else float(value) for name, value in zip(NAMES, row, strict=True)}
        for row in rows
    ]
    asked = PredictionsRequest.model_validate({"instances": instances})
    said = run_through(predicting(asked, catalog.models["loans"], Runs(inf)))
    return said.verdict.score


def test_there_is_one_for_each_trainer():
    assert ["xgboost" in SNIPPETS[0], "lightgbm" in SNIPPETS[1], len(SNIPPETS)] == [True, True, 2]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["xgboost", "lightgbm"])
def test_what_is_exported_scores_as_it_was_trained(folder: Path, snippet: str, monkeypatch: pytest.MonkeyPatch):
    rows, labels = people()
    model = run(snippet, folder, monkeypatch, rows=rows, labels=labels)
    described(folder, OUTPUT)
    assert np.allclose(scores_of(folder, rows), model.predict_proba(rows)[:, 1], atol=1e-6)
    # The shipped translations know the shipped models only, and would be said to leave this one in English.
    locales = folder.parent.parent / "locales"
    locales.mkdir()
    folders = {
        "FLIPSET_LOCALES_DIR": str(locales),
        "FLIPSET_MODELS_DIR": str(folder.parent),
        "FLIPSET_NORMAL_RANGES_DIR": str(folder.parent.parent / "ranges"),
    }
    done = flipset("validate", **folders)
    assert (done.stdout, done.stderr) == ("loans: structure trees\nIn order: 1 model, 0 registries.\n", "")


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["xgboost", "lightgbm"])
def test_a_regression_is_exported_in_the_same_way(folder: Path, snippet: str, monkeypatch: pytest.MonkeyPatch):
    rows, labels = people()
    model = run(snippet.replace("Classifier", "Regressor"), folder, monkeypatch, rows=rows, labels=labels * 100.0)
    described(folder, '[output]\nkind = "regression"\ntensor = "variable"\nfavourable = { low = 50 }\n')
    assert np.allclose(scores_of(folder, rows), model.predict(rows), atol=1e-3)
