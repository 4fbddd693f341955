"""Constraints over HTTP: the worked examples of the documentation, conflicts, ways to relax, and registries' own."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.api.describing import lines as described
from app.api.examples import CONSTRAINTS, PERSON
from tests.live.asking import ask, changed_sets, lines_of, refused
from tests.support import graphs
from tests.support.live_server import ROOT, live_server
from tests.support.networks import Network

DOCUMENT = (ROOT / "docs/constraints.md").read_text()
EXAMPLES = re.findall(r"```json\n([^`]*)```\n```text\n([^`]*)```", DOCUMENT)


def told(response: httpx.Response) -> list[str]:
    """An answer in the shorthand of the documentation."""
    if response.status_code == 422:
        return ["conflict: " + " ".join(refused(response, 422))]
    lines = lines_of(response)
    described.Summary.model_validate(lines[-1])
    if lines[-1]["no_recourse"] is None:
        return [" ".join(change["feature"] for change in line["changes"]) for line in lines if "changes" in line]
    return [
        f"without {' '.join(way['items'])}: {' '.join(c['feature'] for c in way['counterfactual']['changes'])}"
        for way in lines[-1]["no_recourse"]["relax"]
    ]


@pytest.mark.parametrize(("constraints", "answers"), EXAMPLES)
def test_a_worked_example_is_answered_as_it_is_documented(client: httpx.Client, constraints: str, answers: str):
    response = ask(client, {**PERSON, "constraints": json.loads(constraints)}, "hcv")
    assert told(response) == answers.splitlines()


def test_the_documented_examples_are_those_of_the_openapi_document(client: httpx.Client):
    documented = [json.loads(constraints) for constraints, _ in EXAMPLES]
    by_name = {name: value for name, value in CONSTRAINTS.items() if value}
    assert sorted(map(str, documented)) == sorted(map(str, by_name.values()))
    document = client.get("/openapi.json").json()
    body = document["paths"]["/v1/models/{model}/counterfactuals"]["post"]["requestBody"]
    assert {example["value"]["registry"] for example in body["content"]["application/json"]["examples"].values()} == {
        "hcv-paper-tight"
    }
    for example in body["content"]["application/json"]["examples"].values():
        assert ask(client, example["value"], "hcv").status_code in (200, 422)


@pytest.mark.parametrize(
    "formula",
    [
        "exactly(1, ALT, exactly(1, AST, BIL, ALB), CHE)",
        "at_least(2, AST, AST, GGT xor PROT, at_most(1, ALT, ALT, BIL))",
        "exactly(2, AST, not exactly(1, GGT, CHE), (ALT iff CHOL) xor PROT)",
    ],
)
def test_a_count_in_a_count_is_answered_by_every_engine(client: httpx.Client, formula: str):
    """The first ended in an error with `cemsp`."""
    body = {**PERSON, "constraints": {"formulas": [formula]}}
    exact = lines_of(ask(client, {**body, "limits": {"engine": "lattice"}}, "hcv"))
    for limits in ({"engine": "cemsp"}, {"engine": "auto", "max_model_rows": 60}):
        lines = lines_of(ask(client, {**body, "limits": limits}, "hcv"))
        assert lines[-1]["type"] == "summary"
        assert lines[-1]["count"] > 0
        assert all(answer in changed_sets(exact) for answer in changed_sets(lines))


GOLDEN = sorted((ROOT / "tests/golden").glob("hcv-*.json"))


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_the_use_case_of_the_paper(client: httpx.Client, file: Path):
    golden = json.loads(file.read_text())

    def answers(engine: str) -> list[dict[str, Any]]:
        lines = lines_of(ask(client, {**golden["request"], "limits": {"engine": engine}}, "hcv"))
        return [
            {"changes": [change["feature"] for change in line["changes"]], "score": line["prediction"]["score"]}
            for line in lines
            if line["type"] == "counterfactual"
        ]

    assert answers("lattice") == golden["answers"]
    assert answers("auto") == golden["answers"]
    # The model is not monotone here: the solver's search may miss some, and finds nothing else.
    assert all(answer in golden["answers"] for answer in answers("cemsp"))


def test_there_are_golden_files():
    assert len(GOLDEN) == 6


@pytest.mark.parametrize(
    ("constraints", "field", "message"),
    [
        ({"immutable": ["BILL"]}, "constraints.immutable[0]", "is not a feature of this model; did you mean 'BIL'?"),
        ({"required": ["ALT", "ALT"]}, "constraints.required[1]", "names 'ALT' twice"),
        ({"correlated": [["ALT", "ALT"]]}, "constraints.correlated[0][1]", "names 'ALT' twice"),
        ({"exclusive": [[]]}, "constraints.exclusive[0]", "must not be empty"),
        (
            {"causal": [{"cause": "ALT", "effects": ["ALT"]}]},
            "constraints.causal[0].effects",
            "names the cause as its own effect",
        ),
        ({"causal": [{"cause": "ALT"}]}, "constraints.causal[0].effects", "is missing"),
        (
            {"formulas": ["ALT )"]},
            "constraints.formulas[0]",
            "line 1, column 5: expected the end; found ')'",
        ),
        ({"formulas": ["ALT"] * 51}, "constraints.formulas", "holds more than 50 formulas"),
        ({"formulas": ["x" * 10_001]}, "constraints.formulas[0]", "is longer than 10,000 characters"),
        (
            {"formulas": [" & ".join(["ALT"] * 1_500)] * 2},
            "constraints.formulas",
            "name more than 2,000 features in total",
        ),
        (
            {"directions": {"BILL": "increase"}},
            "constraints.directions.BILL",
            "is not a feature of this model; did you mean 'BIL'?",
        ),
        ({"max_changes": -1}, "constraints.max_changes", "must be 0 or more"),
    ],
)
def test_a_constraint_that_cannot_be_accepted_is_named(client, constraints: dict[str, Any], field: str, message: str):
    assert refused(ask(client, {**PERSON, "constraints": constraints}, "hcv"), 422) == {field: message}


def test_a_mistake_inside_a_formula_has_its_place_and_no_other_has(client: httpx.Client):
    constraints = {
        "immutable": ["BILL"],
        "formulas": ["ALT", "ALT and\n  (AST or BILL)", "ALT xor AST xor", "x" * 10_001],
    }
    response = ask(client, {**PERSON, "constraints": constraints}, "hcv")
    assert len(refused(response, 422)) == 4
    places = {
        error["field"]: (error["line"], error["column"]) if "line" in error else set(error)
        for error in response.json()["errors"]
    }
    assert places == {
        "constraints.immutable[0]": {"field", "message"},
        "constraints.formulas[1]": (2, 11),
        "constraints.formulas[2]": (1, 16),
        "constraints.formulas[3]": {"field", "message"},
    }


def deepest() -> str:
    """Every operator in every bracket, as deep as the limits allow."""
    text = "ALT"
    for _ in range(20):
        text = f"!({text})&ALT^{'^'.join(['AST'] * 11)}|ALT->ALT<->{'<->'.join(['AST'] * 11)}"
    return text


def test_a_formula_at_the_limits_is_answered(client: httpx.Client):
    body = {**PERSON, "constraints": {"formulas": [deepest()]}}
    assert ask(client, body, "hcv").status_code == 200


@pytest.mark.parametrize("formulas", [["ALT|" * 2_499] * 50, ["!" * 9_999] * 50])
def test_very_much_to_read_is_refused_unread(client: httpx.Client, formulas: list[str]):
    fields = refused(ask(client, {**PERSON, "constraints": {"formulas": formulas}}, "hcv"), 422)
    assert fields == {"constraints.formulas": "hold more than 10,000 words and signs in total"}


def test_very_many_items_are_refused(client: httpx.Client):
    constraints = {"exclusive": [["ALT", "AST"]] * 600}
    assert refused(ask(client, {**PERSON, "constraints": constraints}, "hcv"), 422) == {
        "constraints": "hold more than 1,000 items"
    }


def test_a_conflict_is_told_in_the_words_of_the_request(client: httpx.Client):
    constraints = {
        "causal": [{"cause": "ALT", "effects": ["AST"]}],
        "required": ["ALT"],
        "immutable": ["BIL", "AST"],
        "max_changes": 8,
    }
    assert refused(ask(client, {**PERSON, "constraints": constraints}, "hcv"), 422) == {
        "constraints.immutable[1]": "AST never changes",
        "constraints.required[0]": "ALT must be normal afterwards",
        "constraints.causal[0]": "if ALT changes, AST must be normal",
    }


def test_a_rule_that_cannot_be_met_at_all_says_why(client: httpx.Client):
    person = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())
    response = ask(client, {**person, "constraints": {"formulas": ["unemp and pirat"]}}, "mortgage")
    why = "unemp and pirat (unemp has neither a range nor a guide, so it cannot change)"
    assert refused(response, 422) == {"constraints.formulas[0]": why}
    assert response.json()["detail"] == f"No set of changes can satisfy constraints.formulas[0]: {why}."
    several = ask(client, {**person, "constraints": {"formulas": ["unemp or phist", "pirat"]}}, "mortgage")
    assert refused(several, 422) == {
        "constraints.formulas[0]": "unemp or phist (unemp has neither a range nor a guide, so it cannot change; "
        "phist is already normal, so it cannot change)"
    }


def test_a_conflict_is_refused_even_where_nothing_needs_to_change(client: httpx.Client):
    request = json.loads((ROOT / "models/hcv/examples/already-favourable.json").read_text())
    fine = lines_of(ask(client, {**request, "constraints": {"required": ["GGT"]}}, "hcv"))[-1]
    assert fine["outcome"] == "already_favourable"
    refused(ask(client, {**request, "constraints": {"required": ["GGT"], "immutable": ["GGT"]}}, "hcv"), 422)


def test_an_effect_that_is_already_normal_does_not_forbid_the_cause(client: httpx.Client):
    """ALP is normal; CHE cannot move."""
    normal = {"causal": [{"cause": "AST", "effects": ["ALP"]}]}
    assert len(changed_sets(lines_of(ask(client, {**PERSON, "constraints": normal}, "hcv")))) == 5
    stuck = {"causal": [{"cause": "AST", "effects": ["CHE"]}], "immutable": ["CHE"]}
    summary = lines_of(ask(client, {**PERSON, "constraints": stuck}, "hcv"))[-1]
    assert summary["outcome"] == "no_recourse"
    assert [way["items"] for way in summary["no_recourse"]["relax"]] == [["immutable[0]"], ["causal[0]"]]


def test_a_normal_partner_asks_for_nothing(client: httpx.Client):
    body = {**PERSON, "constraints": {"correlated": [["AST", "ALP"]]}}
    assert len(changed_sets(lines_of(ask(client, body, "hcv")))) == 5


def test_without_a_way_even_without_constraints_the_closest_is_told(client: httpx.Client):
    request = json.loads((ROOT / "models/hcv/examples/no-way-out.json").read_text())
    summary = lines_of(ask(client, request, "hcv"))[-1]
    why = summary["no_recourse"]
    assert (why["reason"], why["complete"], why["relax"]) == ("ranges", True, [])
    assert [change["feature"] for change in why["best"]["changes"]] == ["BIL", "GGT"]
    assert why["best"]["prediction"]["favourable"] is False
    again = client.post("/v1/models/hcv/predictions", json={"instance": why["best"]["instance"]}).json()
    assert again["prediction"] == why["best"]["prediction"]


def test_what_always_holds_stands_in_the_registry(tmp_path: Path):
    network = Network(np.ones((3, 1)), np.zeros(1), np.ones(1), -1.5)
    graphs.write_network(tmp_path / "models/m/model.onnx", network)
    graphs.write_model_toml(tmp_path / "models/m", ["a", "b", "c"], registry="r")
    registry = graphs.write_registry(tmp_path / "ranges/r.toml", dict.fromkeys("abc", "{ low = 1 }"))
    registry.write_text(registry.read_text() + '[constraints]\nimmutable = ["a"]\nformulas = ["b implies c"]\n')
    with live_server(tmp_path / "models", tmp_path / "ranges") as server, server.client() as client:
        person = {"instance": {"a": 0, "b": 0, "c": 0}}
        lines = lines_of(ask(client, person, "m"))
        assert changed_sets(lines) == [{"b", "c"}]
        assert lines[0]["features"][0]["why_not"] == "immutable"
        blocked = lines_of(ask(client, {**person, "constraints": {"max_changes": 1}}, "m"))[-1]
        assert [way["items"] for way in blocked["no_recourse"]["relax"]] == [["max_changes"]]
        conflict = ask(client, {**person, "constraints": {"required": ["a"]}}, "m")
        assert refused(conflict, 422) == {
            "registry:immutable[0]": "a never changes",
            "constraints.required[0]": "a must be normal afterwards",
        }
        assert client.get("/v1/normal-ranges/r").json()["constraints"]["formulas"] == ["b implies c"]
        free = {**person, "registry": None, "guide": {"a": 1, "b": 1}}
        assert changed_sets(lines_of(ask(client, free, "m"))) == [{"a", "b"}]
