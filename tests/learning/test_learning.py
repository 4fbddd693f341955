"""What is learned from choices, held against weights that were planted."""

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.adapters.files.flaws import BrokenFiles
from app.adapters.files.snapshots import take_snapshot
from app.adapters.records.opening import ready_store
from app.adapters.records.record import Feedback
from app.adapters.rules.registries import load_registry
from app.cli.flipset import cli
from app.learning.choices import Choice
from app.learning.logit import hardness_of
from app.learning.suggesting import suggested_weights
from tests.live.asking import PERSON
from tests.support.live_server import ROOT
from tests.support.recorded import recorded
from tests.support.records import new_record
from tests.support.scale import scaled
from tests.support.seeds import Seeds

PLANTED = {"A": 0.2, "B": 0.8, "C": 1.5, "D": 2.5}


def simulated(rng: np.random.Generator, people: int) -> list[Choice]:
    """People who choose by the planted hardness, among plans of one to three changes."""
    choices = []
    for _ in range(people):
        plans = {frozenset(rng.choice(list(PLANTED), rng.integers(1, 4), replace=False).tolist()) for _ in range(5)}
        offered = tuple(sorted(plans, key=sorted))
        if len(offered) < 2:
            continue
        utility = np.array([-sum(PLANTED[name] for name in plan) for plan in offered])
        chance = np.exp(utility) / np.exp(utility).sum()
        choices.append(Choice(offered, int(rng.choice(len(offered), p=chance))))
    return choices


def test_planted_weights_lie_within_the_intervals():
    """Of 95 % intervals about 95 in 100 hold the truth: all but a few, over many people and many draws."""
    held = total = 0
    for seed in Seeds(scaled(20)):
        for each in hardness_of(simulated(np.random.default_rng(seed), 400)):
            total += 1
            held += each.low <= PLANTED[each.feature] <= each.high
    assert total == 4 * scaled(20)
    assert held / total > 0.85


def test_with_many_people_the_planted_weights_come_back():
    found = {each.feature: each for each in hardness_of(simulated(np.random.default_rng(1), 4_000))}
    assert {name: each.value for name, each in found.items()} == pytest.approx(PLANTED, abs=0.25)
    weights = suggested_weights(list(found.values()))
    assert sorted(weights, key=lambda name: weights[name]) == list(PLANTED)


def test_a_change_that_nobody_chooses_or_all_plans_share_does_no_harm():
    choices = [Choice((frozenset({"A", "X"}), frozenset({"B", "X"})), 0)] * 60
    found = {each.feature: each for each in hardness_of(choices)}
    assert set(found) == {"A", "B"}
    assert found["A"].value < 0 < found["B"].value
    assert np.isfinite([found["B"].low, found["B"].high]).all()
    assert suggested_weights(list(found.values()))["A"] == 0.05


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["records", "learn", *arguments])


def test_suggestions_come_from_records_and_feedback(address: str, tmp_path: Path):
    plans = [json.dumps({"rank": rank, "changes": [{"feature": name}]}) for rank, name in enumerate("AB", start=1)]
    with closing(ready_store(address)) as store:
        for number in range(60):
            new = new_record(f"p-{number}", request='{"instance":{},"normal_ranges":{"<A>":{"low":1}}}')
            new = replace(new, personal=replace(new.personal, plans=tuple(plans)))
            store.append([new])
            store.give_feedback(Feedback(new.id, 1 if number % 4 else 2, "accepted", None, 1))
            store.give_feedback(Feedback(new.id, 2, "declined", "too_costly", 2))
            store.give_feedback(Feedback(new.id, 1, "achieved" if number % 2 else "declined", None, 3))
    page = tmp_path / "page.html"
    done = run("hcv", "--store", address, "--page", str(page))
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("# Suggested from the choices of ")
    assert "[weights]" in done.stdout
    text = page.read_text()
    assert "too costly" in text
    assert "&lt;A&gt;" in text
    assert "<A>" not in text
    few = run("hcv", "--store", address, "--least", "1000")
    assert few.exit_code == 1
    assert "at least 1000 are needed" in few.stderr
    assert "the store has no records of a model of this name" in run("thyroid", "--store", address).stderr


def test_weights_of_a_registry_order_answers_of_one_size(tmp_path: Path):
    registry = tmp_path / "ranges/synthetic.toml"
    registry.parent.mkdir()
    text = (ROOT / "normal_ranges/synthetic.toml").read_text()
    models = tmp_path / "models"
    shutil.copytree(ROOT / "models/synthetic", models / "synthetic")
    orders = {}
    for weights in ("", "[weights]\nC = 5\n"):
        registry.write_text(f"{text}\n{weights}")
        with recorded(f"sqlite:///{tmp_path}/{len(weights)}.db", models, registry.parent) as made:
            made.ask("synthetic", {"instance": PERSON})
            lines = [json.loads(line) for line in made.lines if '"counterfactual"' in line]
            orders[weights] = [[change["feature"] for change in line["changes"]] for line in lines]
            made.ask("synthetic", {"instance": PERSON, "weights": {"C": 1}})
            own = [json.loads(line)["cost"] for line in made.lines if '"counterfactual"' in line]
            assert own == [1, 2, 2]
    assert orders == {"": [["A"], ["B", "C"], ["B", "D"]], "[weights]\nC = 5\n": [["A"], ["B", "D"], ["B", "C"]]}
    registry.write_text(f"{text}\n[weights]\nZ = 5\n")
    with pytest.raises(BrokenFiles, match=r"weights\.Z: is no feature of it"):
        load_registry(registry, take_snapshot(models, registry.parent))
