"""Rules that always hold: no request lifts a model's own, whatever it sends."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.test_flipset import flipset
from tests.live.asking import ask, changed_sets, lines_of, refused
from tests.support.live_server import live_server
from tests.support.loans import PERSON, write_loans

RULES = {"immutable": ["home"], "max_step": {"debt": 20}, "formulas": ["debt -> not late"]}
IN_TOML = """
[constraints]
immutable = ["home"]
max_step = { debt = 20 }
formulas = ["debt -> not late"]
"""


def folders(folder: Path) -> dict[str, str]:
    return {"FLIPSET_MODELS_DIR": str(folder / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(folder / "ranges")}


def write_ruled(folder: Path, rules: str = IN_TOML) -> Path:
    """Loans as they are, and loans with rules of the model's own."""
    write_loans(folder)
    write_loans(folder, "ruled")
    file = folder / "models/ruled/model.toml"
    file.write_text(file.read_text() + rules)
    return file


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("ruled")
    write_ruled(folder)
    with live_server(folder / "models", folder / "ranges") as server, server.client() as connected:
        yield connected


def answers(client: httpx.Client, model: str, **asked: Any) -> list[set[str]]:
    return changed_sets(lines_of(ask(client, {"instance": PERSON, **asked}, model)))


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"registry": None, "guide": {"debt": 30, "late": 0, "home": "owns", "years": 9}},
        {"normal_ranges": {"home": {"allowed": ["other"]}, "years": {"low": 9}}},
        {"constraints": {"immutable": [], "max_step": {"debt": 1000}, "max_changes": 2}},
        {"limits": {"engine": "cemsp"}},
    ],
    ids=["as it is", "no registry", "own ranges", "own rules", "solver"],
)
def test_a_model_s_rules_hold_as_if_every_request_asked_for_them(client: httpx.Client, asked: dict[str, Any]):
    own = asked.get("constraints", {})
    both = {**own, **RULES, "max_step": {"debt": 20}}
    assert answers(client, "ruled", **asked) == answers(client, "loans", **{**asked, "constraints": both})
    assert answers(client, "ruled", **asked) != answers(client, "loans", **asked)


def test_a_model_s_rules_are_named_as_such(client: httpx.Client):
    lines = lines_of(ask(client, {"instance": PERSON, "constraints": {"immutable": ["years"]}}, "ruled"))
    assert [(rule["item"], rule["rule"]) for rule in lines[0]["rules"]] == [
        ("model:immutable[0]", "home"),
        ("model:max_step.debt", 20),
        ("model:formulas[0]", "debt -> not late"),
        ("immutable[0]", "years"),
    ]
    home = lines[0]["features"][2]
    assert (home["movable"], home["why_not"]) == (False, "immutable")
    relaxed = {tuple(way["items"]) for way in lines[-1]["no_recourse"]["relax"]}
    assert relaxed == {("model:immutable[0]",), ("immutable[0]",)}
    told = client.get("/v1/models/ruled").json()["constraints"]
    assert {kind: rule for kind, rule in told.items() if rule} == RULES


def test_a_conflict_with_a_model_s_rule_says_whose_it_is(client: httpx.Client):
    body = {"instance": PERSON, "constraints": {"required": ["home"]}}
    assert refused(ask(client, body, "ruled"), 422) == {
        "model:immutable[0]": "home never changes",
        "constraints.required[0]": "home must be normal afterwards",
    }


@pytest.mark.slow
def test_a_mistake_in_a_model_s_rules_is_named(tmp_path: Path):
    file = write_ruled(tmp_path, '[constraints]\nimmutable = ["hone"]\nformulas = ["debt xor"]\nmax_changes = -1\n')
    assert flipset("validate", **folders(tmp_path)).stderr == f"{file}: constraints.max_changes: must be 0 or more\n"
    file = write_ruled(tmp_path, '[constraints]\nimmutable = ["hone"]\nformulas = ["debt xor"]\n')
    told = flipset("validate", **folders(tmp_path)).stderr.splitlines()
    assert told[0] == f"{file}: constraints.immutable[0]: is not a feature of this model; did you mean 'home'?"
    assert told[1].startswith(f"{file}: constraints.formulas[0]: line 1, column 9: expected")
    assert len(told) == 2


def test_the_command_line_keeps_to_a_model_s_rules(tmp_path: Path):
    write_ruled(tmp_path)
    done = flipset(
        "explain", "ruled", "-", stdin=json.dumps({"instance": PERSON, "registry": None}), **folders(tmp_path)
    )
    assert json.loads(done.stdout.splitlines()[0])["rules"][0] == {"item": "model:immutable[0]", "rule": "home"}
