"""Constraints of every kind, in every mix, against brute force."""

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag, StoppedBy
from app.core.checking import obeys
from app.core.facts import Explained, Reason
from app.core.problem import Problem
from app.core.search import conflicts, solver
from app.core.search.conflicts import Conflict, find_conflict
from app.core.turns import run_through
from tests.support.brute_force import Case, Written, changed, favourable_sets, feasible_sets, minimal_sets, movable
from tests.support.constrained import constrained_case, with_constraints
from tests.support.networks import Network, at_least, random_case
from tests.support.scale import scaled
from tests.support.searching import Run, pose_case
from tests.support.seeds import Seeds

CHUNK = 100


def seeds(chunk: int, offset: int) -> Seeds:
    return Seeds(CHUNK, offset + chunk * CHUNK)


@pytest.mark.parametrize("chunk", range(scaled(6)))
def test_lattice_equals_brute_force_under_any_constraints(chunk: int):
    for seed in seeds(chunk, 0):
        case, network = constrained_case(seed)
        run = Run(case, network, "lattice")
        assert run.answers == sorted(minimal_sets(case), key=lambda answer: (len(answer), sorted(answer))), seed
        assert run.finished.complete


@pytest.mark.parametrize("chunk", range(scaled(2)))
def test_cemsp_equals_brute_force_for_monotone_models_under_any_constraints(chunk: int):
    for seed in seeds(chunk, 10_000):
        case, network = constrained_case(seed, monotone=True)
        run = Run(case, network, "cemsp")
        assert set(run.answers) == minimal_sets(case), seed


@pytest.mark.parametrize("chunk", range(scaled(1)))
@pytest.mark.parametrize("engine", ["cemsp", "auto"])
def test_no_engine_sends_a_wrong_answer_whatever_the_model(chunk: int, engine: str):
    for seed in seeds(chunk, 20_000):
        case, network = constrained_case(seed)
        run = Run(case, network, engine, rows=60 if engine == "auto" else 10**9)
        truth = minimal_sets(case)
        assert set(run.answers) <= truth, seed
        assert {answer for answer in truth if len(answer) <= run.finished.complete_up_to} <= set(run.answers), seed
        if run.finished.complete:
            assert set(run.answers) == truth, seed


def test_the_second_reading_of_every_statement_agrees_with_brute_force():
    for seed in Seeds(scaled(80), 30_000):
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


def conflict_in(problem: Problem) -> Conflict:
    return run_through(
        find_conflict(problem, Budget(Limits(0, 600.0), time.perf_counter, time.perf_counter(), StopFlag()))
    )


class Ticking:
    """A clock that goes on by one whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize("tabled", [12, -1])
def test_a_conflict_is_found_and_named_by_a_minimal_group(monkeypatch, tabled: int):
    """On the table of all subsets, and with the solver."""
    monkeypatch.setattr(conflicts, "MOST_TABLED", tabled)
    conflicting = 0
    for seed in Seeds(scaled(80), 40_000):
        case = conflicting_case(seed)
        if case is None:
            continue
        problem = pose_case(case)
        every = frozenset(item.path for item in problem.items)
        conflict = conflict_in(problem)
        assert conflict.settled
        group = frozenset(item.path for item in conflict.items)
        assert group
        assert not feasible_sets(without(case, every - group)), seed
        for path in group:
            assert feasible_sets(without(case, every - group | {path})), (seed, path)
        conflicting += 1
    assert conflicting > 0


def test_no_conflict_is_seen_where_there_is_none():
    for seed in Seeds(scaled(50), 50_000):
        case, _ = constrained_case(seed)
        assert conflict_in(pose_case(case)) == Conflict()


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
    for seed in Seeds(scaled(80), 60_000):
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
        assert explained.reason is (Reason.CONSTRAINTS if truth else Reason.RANGES)
        for items, relaxation in zip(told, explanation.relaxations, strict=True):
            answer = frozenset(run.problem.candidates[index].position for index in relaxation.found.moves)
            assert answer in minimal_sets(without(case, items)), seed
        if not truth:
            best = explained.best_without_rules or explained.best
            assert best_score(case, network) == pytest.approx(float(best.score))
        by_constraints += bool(truth)
        by_ranges += not truth
    assert by_constraints > 0
    assert by_ranges > 0


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
    clock = Ticking()
    budget = Budget(Limits(0, 1_000), clock, clock(), StopFlag())
    assert run_through(find_conflict(pose_case(case), budget)) == Conflict(settled=False)


def test_wherever_the_time_ends_nothing_wrong_is_said_of_conflicts(monkeypatch):
    """Cut short after any look at the clock: no group, or one that does contradict itself; settled only if minimal."""
    monkeypatch.setattr(conflicts, "MOST_TABLED", -1)
    unfinished_groups = 0
    for case in filter(None, map(conflicting_case, Seeds(scaled(40), first=70_000))):
        problem = pose_case(case)
        every = frozenset(item.path for item in problem.items)
        whole = conflict_in(problem)
        for looks in range(1, 60):
            clock = Ticking()
            conflict = run_through(find_conflict(problem, Budget(Limits(0, looks), clock, clock(), StopFlag())))
            group = frozenset(item.path for item in conflict.items)
            assert not group or not feasible_sets(without(case, every - group))
            assert not conflict.settled or conflict == whole
            unfinished_groups += bool(group) and not conflict.settled
    assert unfinished_groups


def test_both_ways_of_looking_for_conflicts_name_the_same_group(monkeypatch):
    for case in filter(None, map(conflicting_case, Seeds(scaled(40), first=80_000))):
        problem = pose_case(case)
        monkeypatch.setattr(conflicts, "MOST_TABLED", 12)
        on_the_table = conflict_in(problem)
        monkeypatch.setattr(conflicts, "MOST_TABLED", -1)
        assert conflict_in(problem) == on_the_table


def test_constraints_that_no_solver_can_hold_are_not_said_to_be_free_of_conflicts(monkeypatch):
    monkeypatch.setattr(conflicts, "MOST_TABLED", -1)
    monkeypatch.setattr(solver, "MOST_CLAUSES", 10)
    case, _ = at_least(1, of=5)
    stated = replace(case, formulas=[Written("exactly(2, f0, f1, f2, f3, f4)", lambda changed: len(changed) == 2)])
    assert conflict_in(pose_case(stated)) == Conflict(settled=False)


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
