"""Plans that hold, asked of a real server: what it tells is what the models say when they are asked one by one."""

import re
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.core.robust.noise import standard_errors
from tests.cli.test_flipset import flipset
from tests.live.asking import ask, changed_sets, lines_of, refused
from tests.support.live_server import live_server
from tests.support.loans import PERSON, write_loans

NOISE = {"debt": {"relative": 0.2}, "late": {"sd": 0.8}, "years": {"sd": 1.5}}
DRAWS = 40


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Loans, the same in another order, one that asks for more, one with other features; a registry with noise."""
    folder = tmp_path_factory.mktemp("robust")
    write_loans(folder)
    write_loans(folder, "turned", order=(2, 0, 3, 1))
    write_loans(folder, "strict")
    strict = folder / "models/strict/model.toml"
    strict.write_text(
        strict.read_text().replace('favourable = ["approved"]', 'favourable = ["approved"]\nthreshold = 2.0')
    )
    write_loans(folder, "other")
    other = folder / "models/other/model.toml"
    other.write_text(
        other.read_text()
        .replace('name = "years"', 'name = "months"')
        .replace("years = 5", "months = 5")
        .replace('"loans"', '"others"')
    )
    registry = (folder / "ranges/loans.toml").read_text()
    (folder / "ranges/others.toml").write_text(registry)
    noisy = registry.replace("[features.late]", 'noise = { relative = 0.1, source = "made up" }\n[features.late]')
    (folder / "ranges/noisy.toml").write_text(noisy)
    with live_server(folder / "models", folder / "ranges", workers="2") as server, server.client() as asking:
        yield asking


def answer(client: httpx.Client, robustness: dict[str, Any] | None = None, **body: Any) -> list[dict[str, Any]]:
    asked = {} if robustness is None else {"robustness": robustness}
    return lines_of(ask(client, {"instance": PERSON, **body, **asked}, "loans"))


def plans_of(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == "counterfactual"]


def favoured(client: httpx.Client, rows: list[dict[str, Any]], model: str = "loans") -> list[bool]:
    response = client.post(f"/v1/models/{model}/predictions", json={"instances": rows})
    return [each["favourable"] for each in response.json()["predictions"]]


def measured(row: dict[str, Any], draw: int) -> dict[str, Any]:
    """A row as one draw measures it."""
    found = dict(row)
    for name, noise in NOISE.items():
        sd = noise["sd"] if "sd" in noise else noise["relative"] * abs(row[name])
        found[name] = row[name] + sd * float(standard_errors(name, DRAWS)[draw])
    return found | {"late": round(found["late"])}


def test_without_being_asked_nothing_is_told(client: httpx.Client):
    lines = answer(client)
    assert "robustness" not in lines[0]
    assert "stability" not in lines[-1]
    assert all("stability" not in plan for plan in plans_of(lines))


def test_the_share_is_that_of_the_measurements_that_the_model_approves(client: httpx.Client):
    lines = answer(client, {"noise": NOISE, "draws": DRAWS})
    plans = plans_of(lines)
    assert len(plans) > 1
    assert changed_sets(lines) == changed_sets(answer(client))
    for plan in plans:
        passed = favoured(client, [measured(plan["instance"], draw) for draw in range(DRAWS)])
        assert plan["stability"]["share"] == sum(passed) / DRAWS
        assert plan["stability"]["draws"] == DRAWS
    assert lines[-1]["stability"]["plans"] == len(plans)
    assert 0 < min(plan["stability"]["share"] for plan in plans) < 1


def test_a_plan_is_certified_or_a_measurement_is_shown_that_breaks_it(client: httpx.Client):
    """The model is linear and the noise small or large, so there is nothing that is not known."""
    known = set()
    in_steps = {"debt": {"low": 0, "high": 30, "move_to": {"steps": [45, 40, 35, 30]}}}
    for share, ranges in product((0.01, 0.05, 1.0), ({}, in_steps)):
        asked = {"noise": {"debt": {"relative": 0.2 * share}, "late": {"sd": 0.8}, "years": {"sd": 1.5 * share}}}
        for plan in plans_of(answer(client, asked, normal_ranges=ranges)):
            stability, row = plan["stability"], plan["instance"]
            known.add(stability["certified"])
            reach = {"debt": 0.6 * share * abs(row["debt"]), "late": 2.4, "years": 4.5 * share}
            if not stability["certified"]:
                shown = stability["counterexample"]
                assert all(abs(shown["measured"][name] - row[name]) <= far + 0.5 for name, far in reach.items())
                assert shown["prediction"] == predicted(client, [row | shown["measured"]])[0]
                assert not shown["prediction"]["favourable"]
                continue
            assert stability["share"] == 1
            assert stability["counterexample"] is None
            corners = product((-1, 1), repeat=3)
            assert all(favoured(client, [cornered(row, reach, signs) for signs in corners]))
    assert known == {True, False}


def cornered(row: dict[str, Any], reach: dict[str, float], signs: tuple[int, ...]) -> dict[str, Any]:
    far = {name: row[name] + sign * reach[name] for name, sign in zip(reach, signs, strict=True)}
    return row | far | {"late": round(far["late"])}


def predicted(client: httpx.Client, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.post("/v1/models/loans/predictions", json={"instances": rows}).json()[
        "predictions"
    ]
    return found


def test_another_model_says_of_a_plan_what_it_says_of_its_row(client: httpx.Client):
    plans = plans_of(answer(client, {"models": ["strict"]}))
    said = client.post("/v1/models/strict/predictions", json={"instances": [plan["instance"] for plan in plans]}).json()
    told = [plan["stability"]["models"][0] for plan in plans]
    assert told == [{"name": "strict", **each} for each in said["predictions"]]
    assert {each["favourable"] for each in told} == {True, False}


@pytest.mark.parametrize("engine", ["auto", "lattice", "cemsp", "through"])
@pytest.mark.parametrize("require", [0.3, 0.6, 0.9])
def test_what_is_required_holds_and_is_minimal(client: httpx.Client, engine: str, require: float):
    """All subsets of the movable features, each judged by both models and every draw."""
    asked = {"noise": NOISE, "draws": DRAWS, "models": ["strict"], "require": require}
    lines = answer(client, asked, limits={"engine": engine})
    targets = {feature["name"]: feature["target"] for feature in lines[0]["features"] if feature["movable"]}
    subsets = [set(names) for size in range(len(targets) + 1) for names in combinations(targets, size)]
    holding = [names for names in subsets if holds(client, PERSON | {name: targets[name] for name in names}, require)]
    truth = [names for names in holding if not any(smaller < names for smaller in holding)]
    assert sorted(map(sorted, changed_sets(lines))) == sorted(map(sorted, truth))
    assert all(plan["stability"]["share"] >= require for plan in plans_of(lines))
    if not truth and lines[-1]["outcome"] == "no_recourse":
        best = lines[-1]["no_recourse"]["best"]
        passed = favoured(client, [measured(best["instance"], draw) for draw in range(DRAWS)])
        assert best["stability"]["share"] == sum(passed) / DRAWS


def test_what_comes_closest_says_its_share_within_the_rules_and_without(client: httpx.Client):
    """The error is so large that nothing holds."""
    asked = {"noise": {"debt": {"sd": 100}}, "draws": DRAWS, "models": ["strict"], "require": 1}
    why = answer(client, asked, constraints={"max_changes": 1})[-1]["no_recourse"]
    errors = standard_errors("debt", DRAWS).tolist()
    for best in (why["best"], why["best_without_rules"]):
        row = best["instance"]
        passed = favoured(client, [row | {"debt": row["debt"] + 100 * error} for error in errors])
        assert best["stability"]["share"] == sum(passed) / DRAWS < 1
        assert [each["name"] for each in best["stability"]["models"]] == ["strict"]


def holds(client: httpx.Client, row: dict[str, Any], require: float) -> bool:
    if not favoured(client, [row])[0] or not favoured(client, [row], "strict")[0]:
        return False
    return sum(favoured(client, [measured(row, draw) for draw in range(DRAWS)])) / DRAWS >= require


def test_the_registry_s_noise_is_told_without_being_asked_for(client: httpx.Client):
    lines = answer(client, registry="noisy")
    assert lines[0]["robustness"]["noise"] == {"debt": {"relative": 0.1}}
    assert lines[0]["robustness"]["plans"] == 20
    assert all(plan["stability"]["draws"] == 100 for plan in plans_of(lines))
    asked = answer(client, {"noise": "registry"}, registry="noisy")
    pairs = zip(plans_of(asked), plans_of(lines), strict=True)
    for proved, told in ((one["stability"], other["stability"]) for one, other in pairs):
        # Proofs are made for those who ask.
        assert told["certified"] in (None, proved["certified"])
        assert {**proved, "certified": None, "counterexample": None} == {
            **told,
            "certified": None,
            "counterexample": None,
        }
    plain = {key: value for key, value in lines[-1].items() if key not in ("elapsed_ms", "stability")}
    assert plain == {key: value for key, value in answer(client)[-1].items() if key != "elapsed_ms"}


def test_the_order_is_the_one_asked_for(client: httpx.Client):
    by_share = plans_of(answer(client, {"noise": NOISE, "order": "stability"}))
    shares = [plan["stability"]["share"] for plan in by_share]
    assert shares == sorted(shares, reverse=True)
    assert [plan["rank"] for plan in by_share] == list(range(1, len(by_share) + 1))
    weights = {"debt": 1, "late": 5, "home": 2, "years": 0.5}
    costs = [plan["cost"] for plan in plans_of(answer(client, {"order": "cost"}, weights=weights))]
    assert costs == sorted(costs)


def test_the_same_request_gets_the_same_bytes(client: httpx.Client):
    asked = {"instance": PERSON, "robustness": {"noise": NOISE, "models": ["strict"], "require": 0.5, "more": "tell"}}
    told = {re.sub(r'"elapsed_ms":(\{[^}]*\}|[\d.e-]+)', "", ask(client, asked, "loans").text) for _ in range(10)}
    assert len(told) == 1


@pytest.mark.parametrize(
    "asked",
    [{}, {"require": 0.3}, {"more": "tell"}, {"more": "require"}, {"require": 0.3, "more": "require"}],
    ids=str,
)
def test_permuting_the_features_permutes_the_answer(client: httpx.Client, asked: dict[str, Any]):
    """A model with the same columns in another order says the same of the same plans; only their order may differ."""
    robustness = {"noise": NOISE, "draws": DRAWS, "models": ["strict"], **asked}
    body = {"instance": PERSON, "robustness": robustness, "limits": {"engine": "lattice"}}
    plain, turned = (lines_of(ask(client, body, model)) for model in ("loans", "turned"))
    assert [feature["name"] for feature in turned[0]["features"]] == ["home", "debt", "years", "late"]
    assert by_changes(turned) == by_changes(plain) != {}
    for key in ("outcome", "count", "model_rows", "complete", "guarantee", "stability"):
        assert turned[-1][key] == plain[-1][key], key


def by_changes(lines: list[dict[str, Any]]) -> dict[frozenset[str], Any]:
    """What is said of each plan, apart from its place in the answer."""
    return {
        frozenset(change["feature"] for change in plan["changes"]): (plan["instance"], plan["stability"], plan["cost"])
        for plan in plans_of(lines)
    }


def test_more_tells_which_further_changes_undo_a_plan(client: httpx.Client):
    """The model likes every change, so none does; with a guide that does harm, one does."""
    assert all(
        plan["stability"]["more"] == {"holds": True, "breaks_with": None}
        for plan in plans_of(answer(client, {"more": "tell"}))
    )
    harmful = {"guide": {"years": -20}}
    told = {
        tuple(change["feature"] for change in plan["changes"]): plan["stability"]["more"]
        for plan in plans_of(answer(client, {"more": "tell"}, **harmful))
    }
    assert told
    assert all(more == {"holds": False, "breaks_with": ["years"]} for more in told.values())
    lasting = answer(client, {"more": "require"}, **harmful)
    assert (lasting[-1]["outcome"], plans_of(lasting)) == ("no_recourse", [])
    kept = answer(client, {"more": "require"}, constraints={"immutable": ["years"]}, **harmful)
    assert changed_sets(kept) == [set(names) for names in told]


@pytest.mark.parametrize(
    ("robustness", "field", "message"),
    [
        ({"noise": {"dept": {"sd": 1}}}, "robustness.noise.dept", "did you mean 'debt'"),
        ({"noise": {"debt": {"sd": -1}}}, "robustness.noise.debt", "not negative"),
        ({"noise": {"debt": {"sd": 1, "relative": 1}}}, "robustness.noise.debt", "one number"),
        ({"noise": {"debt": 3}}, "robustness.noise.debt", "sd or relative"),
        ({"noise": {"home": {"sd": 1}}}, "robustness.noise.home", "categories have no noise"),
        ({"noise": {"debt": {"sd": 1e308}}}, "robustness.noise.debt", "too large for the model"),
        ({"noise": {"debt": {"relative": 1e38}}}, "robustness.noise.debt", "too large for the model"),
        ({"noise": "registry"}, "robustness.noise", "not in the registry"),
        ({"noise": "regitsry"}, "robustness.noise", "the text registry"),
        ({"models": ["strickt"]}, "robustness.models[0]", "did you mean 'strict'"),
        ({"models": ["loans"]}, "robustness.models[0]", "is the model that is asked"),
        ({"models": ["strict", "strict"]}, "robustness.models[1]", "twice"),
        ({"models": ["other"]}, "robustness.models[0]", "only one of the two models has 'months'"),
        ({"noise": {"debt": {"sd": 1}}, "require": 0}, "robustness.require", "above 0"),
        ({"noise": {"debt": {"sd": 1}}, "require": 1.5}, "robustness.require", "at most 1"),
        ({"require": 0.9}, "robustness.require", "name noise or models"),
        ({"noise": {"debt": {"sd": 1}}, "draws": 10_000_000}, "robustness.draws", "10,000"),
        ({"noise": {"debt": {"sd": 1}}, "draws": 0}, "robustness.draws", "1 or more"),
        ({"more": "maybe"}, "robustness.more", "tell"),
        ({"order": "stability"}, "robustness.order", "no noise"),
        ({"nose": {}}, "robustness.nose", ""),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_field(
    client: httpx.Client, robustness: dict[str, Any], field: str, message: str
):
    errors = refused(ask(client, {"instance": PERSON, "robustness": robustness}, "loans"), 422)
    assert field in errors, errors
    assert message in errors[field], errors


def test_a_value_that_was_not_sent_is_no_fault_of_another_model(client: httpx.Client):
    instance = {name: value for name, value in PERSON.items() if name != "debt"}
    errors = refused(ask(client, {"instance": instance, "robustness": {"models": ["strict"]}}, "loans"), 422)
    assert errors == {"instance.debt": "is missing"}


def test_a_registry_s_noise_needs_a_source_and_a_number(tmp_path: Path):
    write_loans(tmp_path)
    file = tmp_path / "ranges/loans.toml"
    file.write_text(file.read_text().replace("[features.late]", "noise = { sd = 1 }\n[features.late]"))
    env = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    said = flipset("validate", **env)
    assert said.returncode != 0
    assert "features.debt.noise: must be an object with sd or relative, and the source" in said.stdout + said.stderr
