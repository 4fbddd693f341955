"""What a caller may not choose: a model's policy binds everyone, a key's binds whoever asks with it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.adapters.keys.key import new_key
from app.adapters.keys.key_file import editing
from app.adapters.keys.key_rules import KeyRules
from tests.cli.test_flipset import flipset
from tests.live.answers.test_rules import folders
from tests.live.asking import ask, lines_of, refused
from tests.support.live_server import live_server
from tests.support.loans import PERSON, write_loans
from tests.support.scale import scaled
from tests.support.seeds import Seeds

POLICY = """
[policy]
registries = ["loans", "strict"]
least_threshold = 0.6
normal_ranges = "fixed"
guide = "fixed"
"""
KEYS = {
    "plain": {},
    "narrow": {
        "*": {"policy": {"target": "fixed"}},
        "ruled": {
            "policy": {"registries": ["strict"]},
            "constraints": {"immutable": ["late"], "max_changes": 2, "formulas": ["debt -> not home"]},
        },
    },
    "high": {"*": {"policy": {"least_threshold": 0.8, "normal_ranges": "fixed", "without_registry": False}}},
    "wrong": {"ruled": {"constraints": {"immutable": ["Late"]}}},
}


def write_ruled(folder: Path, policy: str = POLICY) -> Path:
    """Loans, free and with a policy, and a second registry that fits."""
    write_loans(folder)
    write_loans(folder, "ruled")
    file = folder / "models/ruled/model.toml"
    file.write_text(file.read_text().replace("[[features]]", "threshold = 0.7\n[[features]]", 1) + policy)
    strict = (folder / "ranges/loans.toml").read_text().replace("36.5", "30")
    (folder / "ranges/strict.toml").write_text(strict)
    (folder / "ranges/third.toml").write_text(strict)
    return file


def write_keys(file: Path) -> dict[str, httpx.Headers]:
    given = {}
    with editing(file) as keys:
        for name, rules in KEYS.items():
            key, text = new_key(name, None, None, "")
            keys[name] = replace(key, rules={model: KeyRules.model_validate(rule) for model, rule in rules.items()})
            given[name] = httpx.Headers({"Authorization": f"Bearer {text}"})
    return given


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("policy")
    write_ruled(folder)
    with live_server(folder / "models", folder / "ranges") as server, server.client() as connected:
        yield connected


@pytest.fixture(scope="module")
def with_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, httpx.Client]]:
    folder = tmp_path_factory.mktemp("keys")
    write_ruled(folder)
    given = write_keys(folder / "keys.toml")
    with live_server(folder / "models", folder / "ranges", keys_file=str(folder / "keys.toml")) as server:
        clients = {name: server.client(headers=headers) for name, headers in given.items()}
        yield clients
        for one in clients.values():
            one.close()


FORBIDDEN = [
    ({"registry": None}, {"registry": "is not one that this model allows; name 'loans' or 'strict'"}),
    ({"registry": "third"}, {"registry": "is not one that this model allows; name 'loans' or 'strict'"}),
    ({"target": {"threshold": 0.5}}, {"target.threshold": "must be 0.6 or more, as this model has it"}),
    ({"target": {"classes": ["denied"]}}, {"target.classes": "are fixed by this model; leave them out"}),
    ({"normal_ranges": {"debt": {"high": 90}}}, {"normal_ranges": "are fixed by this model; leave them out"}),
    ({"guide": {"years": 50}}, {"guide": "is fixed by this model; leave it out"}),
]


@pytest.mark.parametrize(("asked", "errors"), FORBIDDEN)
@pytest.mark.parametrize("path", ["counterfactuals", "subsets"])
def test_what_a_model_s_policy_forbids_is_refused(client: httpx.Client, asked: dict, errors: dict, path: str):
    body = {"instance": PERSON, **asked}
    assert refused(client.post(f"/v1/models/ruled/{path}", json=body), 422) == errors
    assert client.post(f"/v1/models/loans/{path}", json=body).status_code == 200


@pytest.mark.parametrize(("asked", "errors"), [entry for entry in FORBIDDEN if "target" in entry[0]])
def test_a_prediction_is_held_to_the_policy_too(client: httpx.Client, asked: dict, errors: dict):
    assert refused(client.post("/v1/models/ruled/predictions", json={"instance": PERSON, **asked}), 422) == errors


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"registry": "strict"},
        {"registry": "loans"},
        {"target": {"threshold": 0.6}},
        {"target": {"classes": ["approved"], "threshold": 0.9}},
        {"weights": {"debt": 2}, "constraints": {"max_changes": 3}, "context": {"x": 1}},
    ],
)
def test_what_it_leaves_free_is_free(client: httpx.Client, asked: dict):
    start = lines_of(ask(client, {"instance": PERSON, **asked}, "ruled"))[0]
    assert start["target"]["threshold"] == asked.get("target", {}).get("threshold", 0.7)
    assert start["normal_ranges"]["name"] == asked.get("registry", "loans")


def test_the_policy_is_told_before_and_with_an_answer(client: httpx.Client):
    told = client.get("/v1/models/ruled").json()
    assert told["registries"] == ["loans", "strict"]
    assert (told["policy"]["least_threshold"], told["policy"]["guide"], told["key"]) == (0.6, "fixed", None)
    rules = lines_of(ask(client, {"instance": PERSON}, "ruled"))[0]["rules"]
    assert {rule["item"]: rule["rule"] for rule in rules} == {
        "model:policy.registries": ["loans", "strict"],
        "model:policy.least_threshold": 0.6,
        "model:policy.normal_ranges": "fixed",
        "model:policy.guide": "fixed",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "flaw"),
    [
        ('registries = ["strict"]', "policy.registries: must include 'loans', the model's own"),
        ('registries = ["loans", "strickt"]', "policy.registries[1]: there is no registry 'strickt'; did you mean"),
        ("registries = []", "policy.registries: must not be empty"),
        ('registry = "loans"', "policy.registry: is not a known key; did you mean 'registries'?"),
        ("least_threshold = 0.8", "policy.least_threshold: must not be above the model's own threshold"),
        ('target = "frozen"', "policy.target: must be 'free' or 'fixed'"),
    ],
)
def test_a_policy_that_cannot_be_kept_is_named(tmp_path: Path, policy: str, flaw: str):
    file = write_ruled(tmp_path, f"[policy]\n{policy}\n")
    told = flipset("validate", **folders(tmp_path)).stderr.splitlines()
    assert len(told) == 1
    assert told[0].startswith(f"{file}: {flaw}")


@pytest.mark.slow
def test_a_registry_that_does_not_fit_is_no_choice(tmp_path: Path):
    file = write_ruled(tmp_path, '[policy]\nregistries = ["loans", "other"]\n')
    (tmp_path / "ranges/other.toml").write_text('title = "x"\nversion = "1"\n[features.z]\nranges = [{ low = 1 }]\n')
    reason = "policy.registries[1]: does not fit this model: features.z: model 'ruled' has no such feature"
    assert flipset("validate", **folders(tmp_path)).stderr == f"{file}: {reason}\n"


def test_the_command_line_is_held_to_the_policy(tmp_path: Path):
    write_ruled(tmp_path)
    body = json.dumps({"instance": PERSON, "registry": None})
    done = flipset("explain", "ruled", "-", stdin=body, **folders(tmp_path))
    assert (done.returncode, "registry: is not one that this model allows" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("key", "model", "asked", "status", "errors"),
    [
        ("plain", "ruled", {"registry": "loans"}, 200, {}),
        ("narrow", "loans", {"registry": None}, 200, {}),
        ("narrow", "loans", {"target": {"threshold": 0.9}}, 403, {"target": "is fixed by this key; leave it out"}),
        ("narrow", "ruled", {}, 403, {"registry": "is not one that this key allows; name 'strict'"}),
        ("narrow", "ruled", {"registry": "loans"}, 403, {"registry": "is not one that this key allows; name 'strict'"}),
        ("narrow", "ruled", {"registry": "strict"}, 200, {}),
        ("narrow", "ruled", {"registry": "nowhere"}, 422, {"registry": "is not known; for this model: strict"}),
        (
            "narrow",
            "ruled",
            {"registry": "strict", "target": {"threshold": 0.9}},
            403,
            {"target": "is fixed by this key; leave it out"},
        ),
        ("high", "ruled", {}, 200, {}),
        (
            "high",
            "ruled",
            {"target": {"threshold": 0.7}},
            403,
            {"target.threshold": "must be 0.8 or more, as this key has it"},
        ),
        ("high", "loans", {}, 403, {"target.threshold": "must be 0.8 or more, as this key has it"}),
        ("high", "loans", {"target": {"threshold": 0.8}}, 200, {}),
        (
            "high",
            "loans",
            {"registry": None, "target": {"threshold": 0.8}},
            403,
            {"registry": "is not one that this key allows; name 'loans', 'strict' or 'third'"},
        ),
    ],
)
def test_a_key_narrows_what_may_be_asked(
    with_key: dict[str, httpx.Client], key: str, model: str, asked: dict, status: int, errors: dict
):
    answer = ask(with_key[key], {"instance": PERSON, **asked}, model)
    assert (refused(answer, status) if errors else answer.status_code) == (errors or 200)


def test_a_key_that_asks_for_more_gets_more(with_key: dict[str, httpx.Client]):
    """The model's own threshold is 0.7, and the request names none."""
    start = lines_of(ask(with_key["high"], {"instance": PERSON}, "ruled"))[0]
    assert start["target"]["threshold"] == 0.8
    predicted = with_key["high"].post("/v1/models/ruled/predictions", json={"instance": PERSON}).json()
    assert predicted["target"] == start["target"]


def test_the_rules_of_a_key_are_named_as_such(with_key: dict[str, httpx.Client]):
    client = with_key["narrow"]
    body = {"instance": PERSON, "registry": "strict", "constraints": {"required": ["late"]}}
    assert refused(ask(client, body, "ruled"), 422) == {
        "key:immutable[0]": "late never changes",
        "constraints.required[0]": "late must be normal afterwards",
    }
    rules = lines_of(ask(client, {"instance": PERSON, "registry": "strict"}, "ruled"))[0]["rules"]
    assert {rule["item"]: rule["rule"] for rule in rules if rule["item"].startswith("key:")} == {
        "key:immutable[0]": "late",
        "key:max_changes": 2,
        "key:formulas[0]": "debt -> not home",
        "key:policy.target": "fixed",
        "key:policy.registries": ["strict"],
    }
    told = client.get("/v1/models/ruled").json()
    assert told["registries"] == ["strict"]
    assert told["key"]["constraints"]["immutable"] == ["late"]
    assert [policy["target"] for policy in told["key"]["policies"]] == ["fixed", "free"]


def test_rules_of_a_key_that_do_not_fit_let_nothing_through(with_key: dict[str, httpx.Client]):
    told = refused(ask(with_key["wrong"], {"instance": PERSON}, "ruled"), 403)
    assert list(told) == ["key:immutable[0]"]
    assert told["key:immutable[0]"].startswith("is not a feature of this model; did you mean 'late'? This is a rule")
    assert ask(with_key["wrong"], {"instance": PERSON}, "loans").status_code == 200


def any_request(rng: np.random.Generator) -> dict[str, Any]:
    """Whatever a caller who wants to get round the rules might send."""

    def some(*choices: Any) -> Any:
        return choices[rng.integers(len(choices))]

    body = {
        "target": some({}, {"threshold": 0.1}, {"classes": ["denied"]}, {"threshold": 0.9}, {"threshold": 0.7}),
        "normal_ranges": some({}, {"late": {"high": 0}}, {"home": {"allowed": ["other"]}, "years": {"low": 9}}),
        "guide": some({}, {"late": 0}, {"debt": 1, "late": 0, "home": "owns", "years": 30}),
        "constraints": some({}, {"immutable": []}, {"max_changes": 4}, {"formulas": ["debt and late or home"]}),
        "weights": some({}, {"late": 0.001}),
        "limits": some({}, {"engine": "cemsp"}, {"engine": "lattice", "max_model_rows": 7}),
        "context": some({}, {"home": "owns"}),
    }
    kept = {name: value for name, value in body.items() if rng.random() < 0.3}
    registry = some({}, {"registry": None}, {"registry": "loans"}, *[{"registry": "strict"}] * 5)
    return {"instance": {**PERSON, "debt": some(40, 48, 60)}, **registry, **kept}


def test_no_field_lifts_a_rule(with_key: dict[str, httpx.Client]):
    """Whatever is sent: it is refused, or answered within the rules of the model and of the key."""
    answered = 0
    for seed in Seeds(scaled(300)):
        answer = ask(with_key["narrow"], any_request(np.random.default_rng(seed)), "ruled")
        assert answer.status_code in (200, 403, 422)
        if answer.status_code == 200:
            answered += 1
            start, *found, _ = lines_of(answer)
            assert (start["target"]["threshold"], start["target"]["classes"]) == (0.7, ["approved"])
            assert start["normal_ranges"]["name"] == "strict"
            for line in found:
                changed = {change["feature"] for change in line.get("changes", ())}
                assert "late" not in changed
                assert len(changed) <= 2
                assert not {"debt", "home"} <= changed
    assert answered > scaled(300) // 20
