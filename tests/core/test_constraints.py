"""Constraints of every kind, in every mix, against brute force."""

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from app.core import conflicts
from app.core.budget import StoppedBy
from app.core.checking import obeys
from app.core.conflicts import conflicting_items
from app.core.facts import Explained, Guarantee, Reason
from tests.brute_force import Case, Written, changed, favourable_sets, feasible_sets, minimal_sets, movable
from tests.constrained import constrained_case, with_constraints
from tests.networks import Network, random_case
from tests.searching import Run, pose_case

CHUNK = 250


def seeds(chunk: int, offset: int) -> range:
    return range(offset + chunk * CHUNK, offset + (chunk + 1) * CHUNK)


@pytest.mark.parametrize("chunk", range(20))
def test_lattice_equals_brute_force_under_any_constraints(chunk: int):
    for seed in seeds(chunk, 0):
        case, network = constrained_case(seed)
        run = Run(case, network, "lattice")
        assert run.answers == sorted(minimal_sets(case), key=lambda answer: (len(answer), sorted(answer))), seed
        assert run.finished.complete


@pytest.mark.parametrize("chunk", range(4))
def test_cemsp_equals_brute_force_for_monotone_models_under_any_constraints(chunk: int):
    for seed in seeds(chunk, 10_000):
        case, network = constrained_case(seed, monotone=True)
        run = Run(case, network, "cemsp")
        assert set(run.answers) == minimal_sets(case), seed


@pytest.mark.parametrize("chunk", range(2))
@pytest.mark.parametrize("engine", ["cemsp", "auto"])
def test_no_engine_sends_a_wrong_answer_whatever_the_model(chunk: int, engine: str):
    for seed in seeds(chunk, 20_000):
        case, network = constrained_case(seed)
        run = Run(case, network, engine, rows=60 if engine == "auto" else 10**9)
        truth = minimal_sets(case)
        assert set(run.answers) <= truth, seed
        assert {answer for answer in truth if len(answer) <= run.finished.complete_up_to} <= set(run.answers), seed
        if run.finished.complete and run.finished.guarantee is Guarantee.EXACT:
            assert set(run.answers) == truth, seed


def test_the_second_reading_of_every_statement_agrees_with_brute_force():
    for seed in range(30_000, 30_400):
        case, _ = constrained_case(seed)
        problem = pose_case(case)
        feasible = set(feasible_sets(case))
        every = [move.position for move in problem.candidates]
        for size in range(len(every) + 1):
            for subset in map(frozenset, combinations(every, size)):
                obeyed = all(obeys(subset, item.statement, problem.states) for item in problem.items)
                assert obeyed == (subset in feasible), (seed, subset)


def without(case: Case, items: frozenset[str]) -> Case:
    """The case less some of its items, named by their paths."""

    def kept(kind: str, entries):
        return tuple(entry for index, entry in enumerate(entries) if f"{kind}[{index}]" not in items)

    return replace(
        case,
        immutable=kept("immutable", case.immutable),
        directions={i: way for i, way in case.directions.items() if f"directions.f{i}" not in items},
        max_step={i: step for i, step in case.max_step.items() if f"max_step.f{i}" not in items},
        causal=kept("causal", case.causal),
        correlated=kept("correlated", case.correlated),
        exclusive=kept("exclusive", case.exclusive),
        required=kept("required", case.required),
        formulas=kept("formulas", case.formulas),
        max_changes=None if "max_changes" in items else case.max_changes,
    )


def conflicting_case(seed: int) -> Case | None:
    """A person whose constraints contradict each other, if this seed has one."""
    case, _ = random_case(seed)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        case = with_constraints(rng, case)
        if not feasible_sets(case):
            return case
    return None


@pytest.mark.parametrize("tabled", [12, -1])
def test_a_conflict_is_found_and_named_by_a_minimal_group(monkeypatch, tabled: int):
    """On the table of all subsets, and with the solver."""
    monkeypatch.setattr(conflicts, "MOST_TABLED", tabled)
    conflicting = 0
    for seed in range(40_000, 40_300):
        case = conflicting_case(seed)
        if case is None:
            continue
        problem = pose_case(case)
        every = frozenset(item.path for item in problem.items)
        group = frozenset(item.path for item in conflicting_items(problem, lambda: 60.0))
        assert group
        assert not feasible_sets(without(case, every - group)), seed
        for path in group:
            assert feasible_sets(without(case, every - group | {path})), (seed, path)
        conflicting += 1
    assert conflicting > 50


def test_no_conflict_is_seen_where_there_is_none():
    for seed in range(50_000, 50_200):
        case, _ = constrained_case(seed)
        assert conflicting_items(pose_case(case), lambda: 60.0) == ()


def true_relaxations(case: Case, paths: list[str]) -> set[frozenset[str]]:
    """The minimal sets of items without which there is an answer, by trying all of them."""
    found: set[frozenset[str]] = set()
    for size in range(len(paths) + 1):
        for items in map(frozenset, combinations(paths, size)):
            if not any(known <= items for known in found) and favourable_sets(without(case, items)):
                found.add(items)
    return found


def hopeless(seed: int) -> tuple[Case, Network] | None:
    case, network = constrained_case(seed)
    return None if favourable_sets(case) or len(pose_case(case).items) > 6 else (case, network)


@pytest.mark.parametrize("engine", ["lattice", "cemsp"])
def test_what_to_give_up_is_right_and_minimal(engine: str):
    by_constraints = by_ranges = 0
    for seed in range(60_000, 60_250):
        found = hopeless(seed)
        if found is None:
            continue
        case, network = found
        run = Run(case, network, engine)
        assert run.answers == []
        (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
        explanation = explained.explanation
        paths = [item.path for item in run.problem.items]
        truth = true_relaxations(case, paths)
        told = [frozenset(paths[index] for index in relaxation.items) for relaxation in explanation.relaxations]
        assert set(told) == truth, seed
        assert [len(items) for items in told] == sorted(len(items) for items in told)
        assert explanation.complete
        assert explanation.reason is (Reason.CONSTRAINTS if truth else Reason.RANGES)
        for items, relaxation in zip(told, explanation.relaxations, strict=True):
            answer = frozenset(run.problem.candidates[index].position for index in relaxation.found.moves)
            assert answer in minimal_sets(without(case, items)), seed
        if not truth:
            assert best_score(case, network) == pytest.approx(float(explained.best.score))
        by_constraints += bool(truth)
        by_ranges += not truth
    assert by_constraints > 20
    assert by_ranges > 5


def best_score(case: Case, network: Network) -> float:
    """The best that any subset of the abnormal features reaches, whatever the constraints say."""
    free = without(case, frozenset(item.path for item in pose_case(case).items))
    targets = movable(free)
    return max(float(network.value(np.array(changed(free, subset, targets)))) for subset in feasible_sets(free))


def test_an_explanation_that_was_cut_short_says_so():
    case, network = next(found for seed in range(60_000, 60_100) if (found := hopeless(seed)) is not None)
    rows = Run(case, network, "lattice").rows
    run = Run(case, network, "lattice", rows=rows - 1)
    (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
    assert not explained.explanation.complete
    assert run.finished.complete


def test_open_subsets_that_cannot_be_remembered_end_the_search():
    """Exactly 6 of 12 must change: more than 100 smaller subsets are infeasible, and must be kept in mind."""
    network = Network(np.ones((12, 1)), np.zeros(1), np.ones(1), -5.5)
    names = ", ".join(f"f{i}" for i in range(12))
    formula = Written(f"exactly(6, {names})", lambda changed: len(changed) == 6)
    case = Case([0.0] * 12, [(1.0, None)] * 12, network.favours, formulas=[formula])
    run = Run(case, network, "lattice", rows=100)
    assert (run.finished.stopped_by, run.finished.complete_up_to) == (StoppedBy.MAX_MODEL_ROWS, 2)
    assert len(Run(case, network, "lattice").answers) == 924


def test_contradictions_are_not_looked_for_without_end():
    """Fifty parities over 40 features are more than the solver can tell in a moment."""
    rng = np.random.default_rng(0)
    texts = [" xor ".join(f"f{i}" for i in rng.permutation(40)[:20]) for _ in range(49)]
    case = Case([0.0] * 40, [(1.0, None)] * 40, lambda row: False, formulas=[Written(t, lambda c: True) for t in texts])
    until = time.perf_counter() + 0.3
    assert conflicting_items(pose_case(case), lambda: until - time.perf_counter()) == ()


def test_an_explanation_of_very_many_ways_ends():
    """Any 10 of 18, all immutable: there are 43,758 sets of items to give up."""
    network = Network(np.ones((18, 1)), np.zeros(1), np.ones(1), -9.5)
    case = Case([0.0] * 18, [(1.0, None)] * 18, network.favours, immutable=tuple(range(18)))
    run = Run(case, network, "lattice")
    (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
    assert not explained.explanation.complete
    assert {len(relaxation.items) for relaxation in explained.explanation.relaxations} == {10}


def test_of_equal_ways_the_cheaper_answer_is_shown():
    network = Network(np.ones((3, 1)), np.zeros(1), np.ones(1), -1.5)
    case = Case([0.0] * 3, [(1.0, None)] * 3, network.favours, max_changes=1)
    run = Run(case, network, "lattice", weights={0: 5.0, 1: 1.0, 2: 2.0})
    (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
    (relaxation,) = explained.explanation.relaxations
    assert relaxation.found.moves == (1, 2)
