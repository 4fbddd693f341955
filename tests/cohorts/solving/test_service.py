"""What a run writes of people is what a live server says of each of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from app.cohorts.tables import schemas
from lab.benchmarks.registers.register import register
from tests.cohorts.running import cohort, read
from tests.live.asking import ask, lines_of
from tests.support.live_server import live_server

CONSTRAINTS: dict[str, dict[str, Any]] = {
    "hcv": {"immutable": ["CHE"], "max_changes": 3, "correlated": [["ALT", "AST"]]},
    "mortgage": {"exclusive": [["pirat", "hirat"]], "formulas": ["lvrat implies chist"]},
    "thyroid": {"directions": {"TSH": "decrease"}},
    "synthetic": {"formulas": ["A xor B"]},
}
CONTEXT = {"hcv": ("sex", "age"), "thyroid": (), "mortgage": (), "synthetic": ()}
EACH = 125


@pytest.fixture(scope="module")
def server():
    with live_server() as running:
        yield running


MODELS = ["hcv", *(pytest.param(model, marks=pytest.mark.slow) for model in ("mortgage", "thyroid", "synthetic"))]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_a_sample_of_125_of_each_model_gets_the_answers_of_the_service(model: str, server, tmp_path: Path):
    """Most of them refused, and half of the models asked with rules: 500 in all."""
    table = register(model, EACH, 11, refused=True)
    pq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "constraints.json").write_text(json.dumps(CONSTRAINTS[model]))
    out = tmp_path / "answers"
    context = ["--context", ",".join(CONTEXT[model])] if CONTEXT[model] else []
    rules = ["--constraints", tmp_path / "constraints.json"]
    cohort(model, tmp_path / "people.parquet", "--out", out, "--id", "person", *context, *rules)
    people = {person["person"]: person for person in read(out, "people").to_pylist()}
    answers: dict[str, list[dict[str, Any]]] = {}
    for answer in read(out, "counterfactuals").to_pylist():
        answers.setdefault(answer["person"], []).append(answer)
    assert len(people) == EACH
    with server.client() as client:
        for row in table.to_pylist():
            body = {
                "instance": {name: row[name] for name in features(client, model)},
                "context": {name: row[name] for name in CONTEXT[model]},
                "constraints": CONSTRAINTS[model],
            }
            agree(people[row["person"]], answers.get(row["person"], []), lines_of(ask(client, body, model)))


def features(client, model: str) -> list[str]:
    return [feature["name"] for feature in client.get(f"/v1/models/{model}").json()["features"]]


def agree(person: dict[str, Any], answers: list[dict[str, Any]], lines: list[dict[str, Any]]) -> None:
    start, summary = lines[0], lines[-1]
    for name in ("outcome", "count", "complete", "complete_up_to", "stopped_by", "guarantee", "engine"):
        assert person[name] == summary[name]
    assert (person["label"], np.float32(person["score"])) == (
        start["prediction"]["label"],
        np.float32(start["prediction"]["score"]),
    )
    why = summary["no_recourse"]
    assert person["reason"] == (why and why["reason"])
    assert (person["in_the_way"] or []) == [way["items"] for way in (why or {}).get("relax", [])]
    if why and why["best"]:
        assert np.float32(person["best_score"]) == np.float32(why["best"]["prediction"]["score"])
        assert person["best_changes"] == [change["feature"] for change in why["best"]["changes"]]
    said = [line for line in lines if line["type"] == "counterfactual"]
    assert len(answers) == len(said)
    for ours, theirs in zip(answers, said, strict=True):
        assert (ours["rank"], ours["cost"]) == (theirs["rank"], theirs["cost"])
        assert np.float32(ours["score"]) == np.float32(theirs["prediction"]["score"])
        assert ours["label"] == theirs["prediction"]["label"]
        assert [(c["feature"], c["from"], c["to"]) for c in ours["changes"]] == [
            (c["feature"], c["from"], c["to"]) for c in theirs["changes"]
        ]


def test_scores_are_in_the_type_of_the_model():
    assert schemas(np.dtype(np.float64)).people.field("score").type == "double"
    assert schemas(np.dtype(np.float32)).counterfactuals.field("score").type == "float"
