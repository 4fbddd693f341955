"""Causes with amounts and derived features against brute force, mixed with steps and every other constraint."""

import pytest

from app.core.facts import Guarantee
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.stepped import (
    StepRun,
    cost_of,
    in_order,
    minimal_choices,
    stepped_case,
)

CHUNK = 40


def seeds(chunk: int, offset: int) -> Seeds:
    return Seeds(CHUNK, offset + chunk * CHUNK)


@pytest.mark.parametrize("chunk", range(scaled(2)))
def test_the_lattice_equals_brute_force_over_all_choices(chunk: int):
    for seed in seeds(chunk, 400_000):
        case, network = stepped_case(seed, follows=True)
        run, truth = StepRun(case, network, "lattice"), minimal_choices(case)
        if run.already:
            continue
        assert run.choices == in_order(case, list(truth)), seed
        assert [found.cost for found in run.found] == [cost_of(case, choice) for choice in run.choices], seed
        assert run.finished.complete, seed


@pytest.mark.parametrize("chunk", range(scaled(1)))
def test_the_solver_never_finds_a_wrong_choice(chunk: int):
    for seed in seeds(chunk, 500_000):
        case, network = stepped_case(seed, follows=True)
        run, truth = StepRun(case, network, "cemsp"), minimal_choices(case)
        if run.already:
            continue
        assert len(set(run.choices)) == len(run.choices), seed
        assert set(run.choices) <= truth, seed
        if run.finished.guarantee is Guarantee.EXACT:
            assert set(run.choices) == truth, seed


@pytest.mark.parametrize("chunk", range(scaled(1)))
def test_auto_is_right_as_far_as_it_says(chunk: int):
    for seed in seeds(chunk, 600_000):
        case, network = stepped_case(seed, follows=True)
        run = StepRun(case, network, "auto", rows=1 + 6 * len(case.case.values))
        if run.already:
            continue
        truth, up_to = minimal_choices(case), run.finished.complete_up_to
        assert set(run.choices) <= truth, seed
        assert {choice for choice in truth if sum(map(bool, choice)) <= up_to} <= set(run.choices), seed
        if run.finished.complete:
            assert set(run.choices) == truth, seed
