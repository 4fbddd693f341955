"""Small networks on made-up data: who is asked about, what with, and what the methods answer."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from app.core.robust.noise import standard_errors
from lab.paper.conditions import CONDITIONS, NOISY, PLAIN
from lab.paper.measures.agreement import everyone
from lab.paper.methods import DRAWS, ERROR, REQUIRED, published, robust
from lab.paper.questions.asking import Asked, ask
from lab.paper.questions.datasets import RECIPES, DataSet, Recipe
from lab.paper.retraining import COMMITTEE, MODELS, train
from lab.paper.running import Run
from lab.paper.study import Study, favours, network_folder
from lab.training import network

BOUNDS = np.array([0.55, 0.45, 0.05, 0.55])


def read(_: Path, settings: network.Settings) -> DataSet:
    """The rule of the synthetic data on few rows, far from standardised."""
    rows = np.random.default_rng(settings.seed).normal(0.5, 2, size=(900, 4))
    a, b, c, d = rows.T
    labels = ((a > 0.5) | ((b > 0.4) & ((c > 0) | (d > 0.5)))).astype(np.int64)
    return DataSet(rows, labels, np.arange(900) < 600)


RECIPE = Recipe(
    "small", "synthetic", ("A", "B", "C", "D"), replace(RECIPES[0].settings, epochs=20), read, most_people=12
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    prepared = tmp_path_factory.mktemp("small")
    for number in range(MODELS * COMMITTEE):
        train(network_folder(prepared, number), RECIPE, read(prepared, RECIPE.settings), number)
    return prepared


@pytest.fixture(scope="module")
def study(folder) -> Study:
    return Study(folder, RECIPE, read(folder, RECIPE.settings))


def test_the_network_in_plain_arrays_is_the_model_file(study):
    for trained in study.networks:
        by_file = trained.judge.scores(study.data.rows.astype(np.float32))[:, 1]
        in_arrays = trained.network.scores(trained.scale.standardised(study.data.rows))
        assert in_arrays == pytest.approx(by_file, abs=1e-5)


def test_networks_from_other_seeds_differ(study):
    first, second = (trained.judge.scores(study.data.rows.astype(np.float32)) for trained in study.networks[:2])
    assert np.abs(first - second).max() > 0.01


def test_people_are_of_the_test_part_ill_and_refused(study):
    assert len(set(study.people)) == 12
    assert not study.data.trains[study.people].any()
    assert (study.data.labels[study.people] == 0).all()
    assert not favours(study.networks[0], study.data.rows[study.people]).any()


@pytest.mark.parametrize("condition", NOISY, ids=lambda condition: condition.name)
def test_noise_is_measured_in_standardised_units(study, condition):
    scale = study.networks[0].scale
    people = range(400)
    noise = np.array(
        [scale.standardised(study.values(condition, each) - study.data.rows[each] + scale.mean) for each in people]
    )
    assert noise.std() == pytest.approx(condition.sigma, rel=0.1)
    assert abs(noise.mean()) < condition.sigma / 5


def test_what_is_abnormal_is_judged_from_the_noisy_values(study):
    changed = 0
    for person in range(300):
        noisy = study.values(NOISY[-1], person)
        moves = {move.position for move in study.problem(noisy).moves}
        assert moves == set(np.flatnonzero(noisy < BOUNDS).tolist())
        changed += moves != set(np.flatnonzero(study.data.rows[person] < BOUNDS).tolist())
    assert changed > 10


def test_exact_answers_are_the_minimal_sets_at_their_targets(study):
    for person in study.people:
        asked = ask(study, PLAIN, person)
        exact = asked.answers["exact"]
        scale = study.networks[0].scale
        assert exact.valid == (True,) * len(asked.minimal)
        for row, subset in zip(exact.rows, asked.minimal, strict=True):
            moved = np.where([place in subset for place in range(4)], BOUNDS, study.data.rows[person])
            assert row.tolist() == scale.standardised(moved).tolist()


def test_a_person_is_answered_the_same_again_whoever_was_asked_about_before(study):
    before = ask(study, PLAIN, study.people[0])
    ask(study, CONDITIONS[3], study.people[1])
    assert as_plain(ask(study, PLAIN, study.people[0])) == as_plain(before)


def test_chances_are_drawn_anew_under_each_condition_and_kept_with_the_same_seed(study):
    person = study.people[0]
    plain, noisy = ask(study, PLAIN, person), ask(study, NOISY[0], person)
    fresh = np.abs(plain.answers["sns"].rows - noisy.answers["sns"].rows).max()
    kept = np.abs(plain.same_seed["sns"].rows - noisy.same_seed["sns"].rows).max()
    assert kept < fresh / 10


def test_what_z3_proposes_does_not_depend_on_earlier_people(study):
    trained = study.networks[1]
    posed = [study.posed(study.data.rows[person]) for person in study.people]
    forwards = [list(published(trained, each).answers()) for each in posed]
    backwards = [list(published(trained, each).answers()) for each in reversed(posed)]
    assert forwards == backwards[::-1]


def test_everyone_whom_a_network_refuses_is_compared_up_to_the_limit(folder, study):
    refused = int((~favours(study.networks[2], study.data.rows)).sum())
    assert everyone(study, 2).asked == refused
    assert everyone(Study(folder, replace(RECIPE, most_compared=7), study.data), 2).asked == 7


def test_answers_are_kept_by_what_they_depend_on(tmp_path):
    folder = Run(tmp_path, RECIPE, None).folder
    assert Run(tmp_path, RECIPE, None).folder == folder
    shorter = replace(RECIPE, settings=replace(RECIPE.settings, epochs=19))
    assert Run(tmp_path, shorter, None).folder != folder
    assert folder.is_dir()


def as_plain(asked: Asked) -> list:
    answers = [*asked.answers.items(), *asked.same_seed.items()]
    return [asked.minimal, *((name, answer.rows.tolist(), answer.valid) for name, answer in answers)]


def test_robust_answers_are_the_minimal_sets_that_hold_for_the_whole_committee(study):
    """All subsets, each judged by every network of the committee and every draw."""
    for person in study.people[:4]:
        values = study.values(PLAIN, person)
        posed, problem = study.posed(values), study.problem(values)
        committee = [study.networks[0], *study.companions[0]]
        errors = np.stack([standard_errors(name, DRAWS) for name in RECIPE.features], axis=1) * ERROR
        holding = set()
        for size in range(1, len(posed.targets) + 1):
            for subset in map(frozenset, combinations(posed.targets, size)):
                row = np.array([posed.targets[i] if i in subset else values[i] for i in range(len(values))])
                measured = row + errors * study.networks[0].scale.deviation
                if all(favours(each, row[None])[0] for each in committee):
                    holding |= {subset} if favours(study.networks[0], measured).mean() >= REQUIRED else set()
        truth = {subset for subset in holding if not any(smaller < subset for smaller in holding)}
        assert set(robust(study.networks[0], study.companions[0], problem)) == truth
    assert len({id(each) for side in study.companions for each in side}) == MODELS * (COMMITTEE - 1)
