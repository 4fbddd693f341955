"""All subsets of the movable features over HTTP: the same as /counterfactuals says, and refused where that is."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from onnx import TensorProto, helper

from app.api.describing.whole import Subsets
from app.api.examples import CONSTRAINTS
from app.api.examples import PERSON as PATIENT
from tests.live import endless
from tests.live.asking import PERSON, ask, lines_of, refused
from tests.support import graphs
from tests.support.live_server import ROOT, live_server
from tests.support.networks import Network
from tests.support.waiting import eventually

EXAMPLES = sorted((ROOT / "models").glob("*/examples/*.json"))
WIDE = [f"f{index}" for index in range(12)]


def subsets(client: httpx.Client, body: Any, model: str = "synthetic") -> httpx.Response:
    return client.post(f"/v1/models/{model}/subsets", json=body)


def shown(client: httpx.Client, body: Any, model: str = "synthetic") -> dict[str, Any]:
    response = subsets(client, body, model)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    Subsets.model_validate(response.json())
    return dict(response.json())


def of_role(whole: dict[str, Any], role: str) -> list[list[str]]:
    return [subset["features"] for subset in whole["subsets"] if subset["role"] == role]


def agree(client: httpx.Client, body: Any, model: str) -> int:
    """Hold the subsets against the answers to the same request; how many of these there were."""
    whole = shown(client, body, model)
    start, *found, summary = (line for line in lines_of(ask(client, body, model)) if line["type"] != "progress")
    assert {key: start[key] for key in ("model", "normal_ranges", "target")} == {
        key: whole[key] for key in ("model", "normal_ranges", "target")
    }
    movable = [feature["name"] for feature in start["features"] if feature["movable"]]
    assert whole["features"] == movable
    every = [list(subset) for size in range(len(movable) + 1) for subset in combinations(movable, size)]
    assert [subset["features"] for subset in whole["subsets"]] == every
    assert whole["subsets"][0]["score"] == start["prediction"]["score"]
    assert whole["subsets"][0]["favourable"] == start["prediction"]["favourable"]
    answers = {
        tuple(change["feature"] for change in line["changes"]): line["prediction"]["score"]
        for line in found
        if line["type"] == "counterfactual"
    }
    minimal = {tuple(subset["features"]): subset for subset in whole["subsets"] if subset["role"] == "minimal"}
    assert {features: subset["score"] for features, subset in minimal.items()} == answers
    assert all(subset["favourable"] and subset["allowed"] for subset in minimal.values())
    assert len(answers) == summary["count"]
    return len(answers)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: f"{file.parent.parent.name}-{file.stem}")
def test_the_minimal_ones_are_the_counterfactuals(client: httpx.Client, file: Path):
    body, model = json.loads(file.read_text()), file.parent.parent.name
    assert bool(agree(client, body, model)) == (file.stem in ("several-ways", "exactly-one-way"))
    first, second, *_ = body["instance"]
    for constraints in ({"max_changes": 1}, {"immutable": [second]}, {"formulas": [f'"{first}" -> "{second}"']}):
        agree(client, {**body, "constraints": constraints}, model)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_so_they_are_under_every_kind_of_constraint(client: httpx.Client, name: str):
    body = {**PATIENT, "constraints": CONSTRAINTS[name]}
    if name == "a conflict":
        conflict = subsets(client, body, "hcv")
        assert refused(conflict, 422) == refused(ask(client, body, "hcv"), 422)
        assert conflict.json()["type"].endswith("conflicting-constraints")
    else:
        assert agree(client, body, "hcv") > 0 or name == "no way left"


@pytest.mark.parametrize(
    "robustness",
    [
        {"noise": "registry", "require": 0.9},
        {"noise": {"AST": {"relative": 0.1}, "BIL": {"sd": 3}}, "models": ["hcv@2"], "require": 1, "draws": 30},
        {"noise": {}, "more": "require"},
        {"models": ["hcv@2"], "require": 0.5, "more": "require"},
    ],
    ids=str,
)
def test_so_they_are_if_plans_must_hold(client: httpx.Client, robustness: dict[str, Any]):
    patient = {"ALB": 31.3, "ALP": 75, "ALT": 45, "AST": 75, "BIL": 32.5, "CHE": 6, "CHOL": 5, "CREA": 80, "GGT": 60}
    body = {"instance": {**patient, "PROT": 70}, "context": {"sex": "female", "age": 40}, "robustness": robustness}
    bodies = [body, {**body, "registry": "hcv-paper-tight"}, {**body, "constraints": {"exclusive": [["AST", "ALT"]]}}]
    told = robustness.get("noise") == "registry"
    bodies = [each for each in bodies if not (told and "registry" in each)]
    kept = [agree(client, each, "hcv") for each in bodies]
    plain = [agree(client, {**each, "robustness": {}}, "hcv") for each in bodies]
    assert kept != plain


def test_what_is_not_allowed_is_scored_too(client: httpx.Client):
    free = shown(client, {"instance": PERSON})
    bound = shown(client, {"instance": PERSON, "constraints": {"max_changes": 0}})
    assert [subset["score"] for subset in bound["subsets"]] == [subset["score"] for subset in free["subsets"]]
    assert [subset["favourable"] for subset in bound["subsets"]] == [subset["favourable"] for subset in free["subsets"]]
    assert [subset["allowed"] for subset in bound["subsets"]] == [True] + [False] * 15
    assert (of_role(bound, "minimal"), of_role(bound, "maximal_failing")) == ([], [[]])
    assert of_role(free, "minimal") == [["A"], ["B", "C"], ["B", "D"]]
    assert of_role(free, "maximal_failing") == [["B"], ["C", "D"]]


def test_of_the_limits_only_the_deadline_holds(client: httpx.Client):
    limits = {"engine": "cemsp", "max_counterfactuals": 1, "max_model_rows": 1}
    assert shown(client, {"instance": PERSON, "limits": limits}) == shown(client, {"instance": PERSON})


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"instance": {"A": 1}}, "instance.B"),
        ({"colour": 1}, "colour"),
        ({"weights": {"E": 1}}, "weights.E"),
        ({"limits": {"deadline_ms": 0}}, "limits.deadline_ms"),
        ({"constraints": {"formulas": ["A xor"]}}, "constraints.formulas[0]"),
    ],
)
def test_it_refuses_what_counterfactuals_refuse(client: httpx.Client, part: dict[str, Any], field: str):
    body = {"instance": PERSON, **part}
    fields = refused(subsets(client, body), 422)
    assert field in fields
    assert fields == refused(ask(client, body), 422)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A wide model whose registry has constraints, one that gives no number for some rows, and a slow one."""
    folder = endless.write_endless(tmp_path_factory.mktemp("others"))
    graphs.write_network(folder / "models/wide/model.onnx", Network(np.ones((12, 1)), np.zeros(1), np.ones(1), -1.5))
    graphs.write_model_toml(folder / "models/wide", WIDE, registry="wide")
    registry = graphs.write_registry(folder / "ranges/wide.toml", dict.fromkeys(WIDE, "{ low = 1 }"))
    registry.write_text(registry.read_text() + '[constraints]\nformulas = ["f0 implies f1"]\n')
    nodes = [helper.make_node("Sqrt", ["features"], ["scores"])]
    graphs.save(folder / "models/root/model.onnx", nodes, {}, 2, TensorProto.DOUBLE)
    graphs.write_model_toml(folder / "models/root", ["a", "b"])
    with live_server(folder / "models", folder / "ranges") as server, server.client() as client:
        yield client


def test_more_movable_features_than_can_be_shown_are_refused(others: httpx.Client):
    body = {"instance": dict.fromkeys(WIDE, 0)}
    message = "leaves 12 features movable; at most 10 can be shown: name 2 more"
    assert refused(subsets(others, body, "wide"), 422) == {"constraints.immutable": message}
    locked = {**body, "constraints": {"immutable": ["f4", "f11"]}}
    assert len(shown(others, locked, "wide")["subsets"]) == 1024
    # Any two of ten, but f0 only with f1.
    assert agree(others, locked, "wide") == 37


def test_the_constraints_of_the_registry_hold_too(others: httpx.Client):
    body = {"instance": dict.fromkeys(WIDE, 0), "constraints": {"immutable": WIDE[3:]}}
    whole = shown(others, body, "wide")
    assert {**whole["normal_ranges"], "sha256": ""} == {"name": "wide", "version": "1", "sha256": ""}
    barred = [subset["features"] for subset in whole["subsets"] if not subset["allowed"]]
    assert barred == [["f0"], ["f0", "f2"]]
    assert of_role(whole, "minimal") == [["f0", "f1"], ["f1", "f2"]]
    assert of_role(whole, "maximal_failing") == [["f1"], ["f2"]]
    conflict = subsets(others, {**body, "constraints": {"immutable": ["f1"], "required": ["f0"]}}, "wide")
    assert "registry:formulas[0]" in refused(conflict, 422)


def test_a_score_that_is_no_number_is_null(others: httpx.Client):
    body = {"instance": {"a": 4, "b": 1}, "guide": {"a": 0.25, "b": -9}}
    whole = shown(others, body, "root")
    assert whole["normal_ranges"] is None
    assert [(subset["score"], subset["favourable"], subset["role"]) for subset in whole["subsets"]] == [
        (1.0, False, None),
        (1.0, True, "minimal"),
        (None, False, None),
        (None, False, "maximal_failing"),
    ]
    lost = {"instance": {"a": 4, "b": -1}}
    assert refused(subsets(others, lost, "root"), 422) == refused(ask(others, lost, "root"), 422)


def test_a_deadline_that_comes_before_all_are_scored_is_told(others: httpx.Client):
    body = {"instance": endless.INSTANCE, "constraints": {"immutable": endless.NAMES[10:]}}

    def begun() -> httpx.Response | None:
        response = subsets(others, {**body, "limits": {"deadline_ms": 30}}, "endless")
        # A machine that is too busy to begin by then says so.
        return None if response.status_code == 503 else response

    ((field, message),) = refused(eventually(begun), 422).items()
    assert field == "limits.deadline_ms"
    assert message.startswith("ended after 0.03 s, before every subset was scored")
    locked = {**body, "constraints": {"immutable": endless.NAMES[2:]}}
    assert len(shown(others, locked, "endless")["subsets"]) == 4
