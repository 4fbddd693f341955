"""Reasons for a decision, against brute force and on problems whose reasons are known beforehand."""

import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.adapters.files.flaws import BrokenFiles
from app.answering.reasons import Outcome, Reasons
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.asking.schemas import CounterfactualsRequest
from app.core.turns import run_through
from app.settings import Settings
from app.writing.reasons import MOST_REASONS, reasons_json
from tests.support import graphs
from tests.support.brute_force import SEVERAL, Case, changed, minimal_sets, movable
from tests.support.constrained import constrained_case
from tests.support.networks import Network, random_case
from tests.support.scale import scaled
from tests.support.searching import constraints_json
from tests.support.seeds import Seeds


def serving(folder: Path, network: Network, width: int, whole: frozenset[int] = frozenset(), **fields: str) -> Service:
    names = [f"f{i}" for i in range(width)]
    graphs.write_network(folder / "models/m/model.onnx", network)
    graphs.write_model_toml(folder / "models/m", names, whole=[f"f{i}" for i in whole], **fields)
    (folder / "ranges").mkdir(exist_ok=True)
    settings = Settings(models_dir=folder / "models", normal_ranges_dir=folder / "ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def asked(case: Case, **fields: Any) -> CounterfactualsRequest:
    ranges: dict[str, Any] = {}
    for i, known in enumerate(case.ranges):
        if known is not None:
            policy, amount = case.move_to.get(i, ("nearest", 0.0))
            move_to = {policy: amount} if policy in ("margin", "value") else policy
            ranges[f"f{i}"] = {"low": known[0], "high": known[1], "move_to": move_to}
    guide = {f"f{i}": value for i, value in case.guides.items()}
    instance = {f"f{i}": value for i, value in enumerate(case.values)}
    body = {"instance": instance, "normal_ranges": ranges, "guide": guide, "constraints": constraints_json(case)}
    return CounterfactualsRequest.model_validate({**body, **fields})


def reasons_of(service: Service, request: CounterfactualsRequest, model: str = "m") -> Reasons:
    with service.admit(Admitted(time.perf_counter())) as admitted:
        return run_through(service.reasoning(request, service.model(model), admitted))


def unconstrained(case: Case) -> Case:
    return replace(case, immutable=(), directions={}, max_step={}, max_changes=None, **dict.fromkeys(SEVERAL, ()))


def by_definition(case: Case) -> list[tuple[int, int, int]]:
    """Each feature of a minimal set, with how many hold it and the size of the smallest, ranked by the rule."""
    sets = minimal_sets(unconstrained(case))
    held = Counter(i for each in sets for i in each)
    smallest = {i: min(len(each) for each in sets if i in each) for i in held}
    return sorted(((i, held[i], smallest[i]) for i in held), key=lambda row: (-row[1], row[2], row[0]))


@pytest.mark.parametrize("kind", ["single", "constrained"])
def test_reasons_are_those_of_brute_force(kind: str, tmp_path: Path):
    for seed in Seeds(scaled(20), first=2_500_000):
        case, network = random_case(seed) if kind == "single" else constrained_case(seed)
        service = serving(tmp_path / f"{kind}{seed}", network, len(case.values), case.whole)
        found = reasons_of(service, asked(case))
        service.close()
        expected = by_definition(case)
        assert [(r.position, r.sets, len(r.smallest.moves)) for r in found.ranked] == expected
        assert found.outcome == (Outcome.FOUND if expected else Outcome.NONE)
        free = unconstrained(case)
        targets, moves = movable(free), found.question.problem.moves
        for reason in found.ranked:
            chosen = frozenset(moves[move].position for move in reason.smallest.moves)
            assert reason.position in chosen
            assert case.favourable(changed(free, chosen, targets))


def summing(width: int, *, least: float) -> tuple[Network, Case]:
    """A model that adds up what it is given and wants at least so much, and a person who is nought everywhere."""
    network = Network(np.ones((width, 1)), np.zeros(1), np.ones(1), 0.5 - least)
    return network, Case([0.0] * width, [(1.0, None)] * width, network.favours)


def test_a_planted_sole_cause_is_reason_1(tmp_path: Path):
    """Whatever else is outside its range: only the planted feature turns the decision."""
    for seed in Seeds(scaled(10), first=2_600_000):
        rng = np.random.default_rng(seed)
        width = int(rng.integers(2, 10))
        cause = int(rng.integers(0, width))
        weights = np.zeros((width, 1))
        weights[cause] = 1
        network = Network(weights, np.zeros(1), np.ones(1), -0.5)
        service = serving(tmp_path / str(seed), network, width)
        _, case = summing(width, least=1)
        told = json.loads(reasons_json(reasons_of(service, asked(case))))
        service.close()
        (reason,) = told["reasons"]
        assert (reason["rank"], reason["feature"]) == (1, f"f{cause}")
        assert reason["necessity"] == {"share": 1.0, "sets": 1, "holds": "all"}
        assert reason["sufficiency"] == {"smallest_set": 1, "alone": True}
        assert sorted(told["without_effect"]) == sorted(f"f{i}" for i in range(width) if i != cause)


def test_what_nobody_can_change_is_a_reason_and_in_no_plan(tmp_path: Path):
    network, case = summing(3, least=2)
    service = serving(tmp_path, network, 3, constraints='{ immutable = ["f0"] }')
    with service.answering(asked(case), service.model("m")) as answer:
        plans = [event.found for event in answer.events() if hasattr(event, "found")]
        names = {answer.question.problem.moves[move].position for plan in plans for move in plan.moves}
    assert names == {1, 2}
    found = reasons_of(service, asked(case))
    assert [reason.position for reason in found.ranked] == [0, 1, 2]
    assert json.loads(reasons_json(found))["set_aside"] == ["model:immutable[0]"]


def test_a_protected_feature_is_never_a_reason(tmp_path: Path):
    network, case = summing(3, least=2)
    rule = '{ immutable = ["f0"] }'
    service = serving(tmp_path, network, 3, constraints=rule, protected='["f0"]')
    found = reasons_of(service, asked(case))
    assert [reason.position for reason in found.ranked] == [1, 2]
    told = json.loads(reasons_json(found))
    assert told["not_considered"] == [{"feature": "f0", "why": "protected"}]
    sole = reasons_of(
        serving(tmp_path / "sole", summing(3, least=3)[0], 3, constraints=rule, protected='["f0"]'), asked(case)
    )
    assert (sole.outcome, sole.ranked) == (Outcome.NONE, ())


@pytest.mark.parametrize(("protected", "reason"), [("f1", "constraints.immutable"), ("f9", "is not a feature")])
def test_a_protected_feature_must_be_known_and_immutable(tmp_path: Path, protected: str, reason: str):
    with pytest.raises(BrokenFiles, match=reason):
        serving(tmp_path, summing(2, least=1)[0], 2, protected=f'["{protected}"]')


def test_no_reason_is_stated_unless_all_sets_are_found(tmp_path: Path):
    network, case = summing(10, least=5)
    service = serving(tmp_path, network, 10)
    found = reasons_of(service, asked(case, limits={"max_model_rows": 100, "engine": "lattice"}))
    told = json.loads(reasons_json(found))
    assert (told["outcome"], told["reasons"], told["minimal_sets"]) == ("unknown", [], None)
    assert (told["complete"], told["stopped_by"]) == (False, "max_model_rows")


def test_limits_of_plans_do_not_count(tmp_path: Path):
    network, case = summing(6, least=3)
    service = serving(tmp_path, network, 6)
    request = asked(
        case,
        limits={"max_counterfactuals": 1},
        weights={"f0": 9},
        robustness={"require": 0.9, "noise": {"f0": {"sd": 1.0}}},
    )
    told = json.loads(reasons_json(reasons_of(service, request)))
    assert (told["outcome"], told["minimal_sets"], told["more"]) == ("found", 20, 2)
    assert [reason["feature"] for reason in told["reasons"]] == ["f0", "f1", "f2", "f3"]


def test_a_feature_with_steps_is_one_reason(tmp_path: Path):
    """Two points are needed: f0 has a step at 1 and one at 2, f1 and f2 give one point each."""
    network, _ = summing(3, least=2)
    service = serving(tmp_path, network, 3)
    ranges = {"f0": {"low": 2, "move_to": {"steps": [1, 2]}}, "f1": {"low": 1}, "f2": {"low": 1}}
    body = {"instance": {"f0": 0, "f1": 0, "f2": 0}, "normal_ranges": ranges}
    told = json.loads(reasons_json(reasons_of(service, CounterfactualsRequest.model_validate(body))))
    counted = [(reason["feature"], reason["necessity"]["sets"]) for reason in told["reasons"]]
    # The minimal choices: f0 at 2; f0 at 1 with f1; f0 at 1 with f2; f1 with f2.
    assert (told["minimal_sets"], counted) == (4, [("f0", 3), ("f1", 2), ("f2", 2)])
    assert told["reasons"][0]["sufficiency"]["alone"]


def denied_applicants(service: Service, count: int, seed: int) -> list[dict[str, float]]:
    """People drawn about as widely as applicants are, as far as the shipped model denies them."""
    rng, model = np.random.default_rng(seed), service.model("mortgage").model
    denied: list[dict[str, float]] = []
    while len(denied) < count:
        ratios = rng.uniform([0.1, 0.05, 0.3], [0.7, 0.5, 1.2]).round(2).tolist()
        grades = rng.integers([1, 1, 0], [7, 5, 2]).tolist()
        others = [round(float(rng.uniform(1, 10)), 1), *rng.integers(0, 2, 3).tolist()]
        row = [*ratios, *grades, *others]
        score = model.scorer(np.array([row], dtype=model.scorer.dtype))[0][1]
        if score < 0.76:
            denied.append(dict(zip(model.positions, row, strict=True)))
    return denied


def test_denied_applicants_get_at_most_four_reasons_each_out_of_range_and_with_effect():
    service = Service(Settings(), load_catalog(Settings().models_dir, Settings().normal_ranges_dir))
    stated = 0
    for person in denied_applicants(service, scaled(100), seed=25):
        found = reasons_of(service, CounterfactualsRequest(instance=person), "mortgage")
        told = json.loads(reasons_json(found))
        assert told["outcome"] in ("found", "none")
        assert len(told["reasons"]) <= MOST_REASONS
        assert "no legal determination" in told["note"]
        for reason in told["reasons"]:
            stated += 1
            assert reason["value"] > reason["high"]
            assert reason["text"]
            assert reason["code"] in ("1", "3", "4")
            assert reason["necessity"]["sets"] > 0
            # The model itself: without this one change of the variation the decision stands.
            row = person | {change["feature"]: change["to"] for change in reason["variation"]["changes"]}
            assert approves(service, row)
            assert not approves(service, row | {reason["feature"]: person[reason["feature"]]})
        assert {entry["feature"] for entry in told["not_considered"]} == {"unemp", "selfemp", "condomin", "hschool"}
    service.close()
    assert stated > 100


def approves(service: Service, person: dict[str, float]) -> bool:
    model = service.model("mortgage").model
    row = np.array([[person[feature.name] for feature in model.features]], dtype=model.scorer.dtype)
    return bool(model.scorer(row)[0][1] >= np.float32(0.76))
