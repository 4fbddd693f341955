"""Choices of steps against brute force: every engine finds what the definition says."""

from collections import Counter

import pytest

from app.core.budget import StoppedBy
from app.core.facts import Explained, Guarantee, LevelFinished
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.stepped import StepRun, cost_of, in_order, minimal_choices, reachable, stepped_case

CHUNK = 40


def seeds(chunk: int, offset: int) -> Seeds:
    return Seeds(CHUNK, offset + chunk * CHUNK)


@pytest.mark.parametrize("chunk", range(scaled(2)))
def test_the_lattice_equals_brute_force_over_all_choices(chunk: int):
    for seed in seeds(chunk, 0):
        case, network = stepped_case(seed)
        run, truth = StepRun(case, network, "lattice"), minimal_choices(case)
        if run.already:
            continue
        assert run.choices == in_order(case, list(truth)), seed
        assert [found.cost for found in run.found] == [cost_of(case, choice) for choice in run.choices], seed
        assert run.finished.complete, seed
        assert run.finished.complete_up_to == sum(1 for way in reachable(case) if way), seed


@pytest.mark.parametrize("chunk", range(scaled(2)))
def test_the_solver_never_finds_a_wrong_choice(chunk: int):
    missed = 0
    for seed in seeds(chunk, 10_000):
        case, network = stepped_case(seed)
        run, truth = StepRun(case, network, "cemsp"), minimal_choices(case)
        if run.already:
            continue
        assert len(set(run.choices)) == len(run.choices), seed
        assert set(run.choices) <= truth, seed
        if run.finished.guarantee is Guarantee.EXACT:
            assert set(run.choices) == truth, seed
        missed += len(truth) - len(run.choices)
    assert missed < 10 * CHUNK


@pytest.mark.parametrize("chunk", range(scaled(1)))
def test_auto_is_right_as_far_as_it_says(chunk: int):
    for seed in seeds(chunk, 20_000):
        case, network = stepped_case(seed)
        run = StepRun(case, network, "auto", rows=1 + 6 * len(case.case.values))
        if run.already:
            continue
        truth, up_to = minimal_choices(case), run.finished.complete_up_to
        assert set(run.choices) <= truth, seed
        assert {choice for choice in truth if sum(map(bool, choice)) <= up_to} <= set(run.choices), seed
        if run.finished.complete:
            assert set(run.choices) == truth, seed


def test_a_size_is_reported_finished_once_all_its_choices_were_sent():
    for seed in seeds(0, 30_000):
        case, network = stepped_case(seed)
        run, truth = StepRun(case, network, "lattice"), minimal_choices(case)
        if run.already:
            continue
        sent = 0
        for fact in run.facts:
            if isinstance(fact, LevelFinished):
                assert sent == sum(sum(map(bool, choice)) <= fact.size for choice in truth), seed
            sent += len(fact) if hasattr(fact, "moves") else 0


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_with_little_to_spend_nothing_is_claimed_that_brute_force_contradicts(engine: str):
    """Steps, several allowed values, relations and constraints, in so few rows that most searches end early."""
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(25), 40_000):
        case, network = stepped_case(seed)
        truth = minimal_choices(case)
        for rows in (2, 5, 17, 60, 200):
            run = StepRun(case, network, engine, rows=rows, answers=2 if seed % 3 == 0 else None)
            if run.already:
                break
            choices, finished = set(run.choices), run.finished
            assert choices <= truth, (seed, rows)
            assert {choice for choice in truth if sum(map(bool, choice)) <= finished.complete_up_to} <= choices, seed
            assert not finished.complete or choices == truth, (seed, rows)
            for explained in (fact for fact in run.facts if isinstance(fact, Explained)):
                assert explained.proved == finished.complete, (seed, rows)
                assert explained.proved or explained.reason is None, (seed, rows)
            seen["found" if choices else "no_recourse" if finished.complete else "unknown"] += 1
    assert min(seen[outcome] for outcome in ("found", "no_recourse", "unknown")) > 0


def test_what_is_cut_off_counts_by_its_features_and_not_by_its_steps():
    """The solver passes over three answers of one feature each. The one that is not sent goes two steps."""
    case, network = stepped_case(151118000040069)
    run = StepRun(case, network, "cemsp", answers=2)
    assert {sum(map(bool, choice)) for choice in minimal_choices(case) - set(run.choices)} == {1}
    assert (run.finished.stopped_by, run.finished.complete_up_to) == (StoppedBy.MAX_COUNTERFACTUALS, 0)
