"""What a search says of itself, with little to spend, against brute force: it claims nothing that is not so."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from app.core.budget import StoppedBy
from app.core.facts import Best, Engine, Explained, Guarantee
from app.core.search import explaining, whole_lattice
from app.core.subsets import dense_frontier
from tests.support.brute_force import Case, changed, favourable_sets, feasible_sets, minimal_sets, movable
from tests.support.constrained import constrained_case
from tests.support.networks import Network, at_least, random_case
from tests.support.scale import scaled
from tests.support.searching import Run
from tests.support.seeds import Seeds

PROBLEMS = scaled(40)
BUDGETS = (2, 5, 17, 60, 200, 5_000)


@dataclass
class Problem:
    """A person whom a network refuses that is mostly not monotone, every second one with constraints."""

    case: Case
    network: Network
    truth: set[frozenset[int]]

    @classmethod
    def of(cls, seed: int) -> "Problem":
        case, network = constrained_case(seed) if seed % 2 else random_case(seed)
        return cls(case, network, minimal_sets(case))


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_nothing_is_claimed_that_brute_force_contradicts(engine: str):
    seen = held_to_the_truth(engine, Seeds(PROBLEMS, first=90_000))
    assert seen["no_recourse"]
    assert seen["found"]
    assert seen["unknown"]


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_nor_is_anything_claimed_of_many_moves(monkeypatch: pytest.MonkeyPatch, engine: str):
    """What goes on above 20 moves, at fewer: levels are linked and not in a table, and no call holds all subsets."""
    monkeypatch.setattr(dense_frontier, "MOST_MOVES", 2)
    monkeypatch.setattr(whole_lattice, "MOST_AT_ONCE", 0)
    assert held_to_the_truth(engine, Seeds(scaled(15), first=95_000))


@pytest.mark.parametrize("engine", ["cemsp", "auto"])
def test_nor_where_the_solver_passed_over_more_than_are_kept(monkeypatch: pytest.MonkeyPatch, engine: str):
    monkeypatch.setattr(explaining, "MOST_KEPT", 2)
    assert held_to_the_truth(engine, Seeds(PROBLEMS, first=98_000))["found"]


def held_to_the_truth(engine: str, seeds: Seeds) -> Counter[str]:
    """Every problem at every budget; how often each outcome was told."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        problem = Problem.of(seed)
        for rows in BUDGETS:
            run = Run(problem.case, problem.network, engine, rows=rows, answers=2 if seed % 3 == 0 else None)
            hold_to_the_truth(run, problem, (seed, rows))
            seen[outcome(run)] += 1
    return seen


@pytest.mark.parametrize("seed", [90_003, 90_007])
def test_what_the_solver_passed_over_is_sent_where_everything_is_judged_in_the_end(seed: int):
    """With and without formulas. The solver ends on its assumption, and has found nothing."""
    problem = Problem.of(seed)
    run = Run(problem.case, problem.network, "cemsp")
    assert run.answers == sorted(problem.truth, key=lambda answer: (len(answer), sorted(answer)))
    assert run.answers
    assert (run.finished.complete, run.finished.engine) == (True, Engine.CEMSP)


def test_no_more_of_what_the_solver_passed_over_is_sent_than_wanted():
    problem = Problem.of(90_007)
    run = Run(problem.case, problem.network, "cemsp", answers=2)
    assert len(run.answers) == 2 < len(problem.truth)
    assert run.finished.stopped_by is StoppedBy.MAX_COUNTERFACTUALS
    hold_to_the_truth(run, problem, "two of three")


def test_a_search_that_ends_on_its_assumption_is_not_complete_and_not_stopped():
    problem = Problem.of(90_000)
    run = Run(problem.case, problem.network, "cemsp", rows=2)
    assert (run.finished.complete, run.finished.stopped_by) == (False, None)
    assert run.finished.guarantee is Guarantee.ASSUMES_MONOTONE
    assert (outcome(run), len(problem.truth)) == ("unknown", 3)


def test_no_way_within_so_many_changes_is_proved_by_all_that_have_no_more():
    """13 of 14 would do, but at most 2 may change: not all sets can be judged, but all of up to 2 can."""
    case, network = at_least(13, of=14)
    run = Run(Case(**{**vars(case), "max_changes": 2}), network, "cemsp", rows=2_000)
    assert (outcome(run), run.finished.complete_up_to) == ("no_recourse", 14)
    (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
    assert (explained.reason, explained.explanation.complete) == (None, False)


def hold_to_the_truth(run: Run, problem: Problem, name: object) -> None:
    answers, finished = set(run.answers), run.finished
    assert answers <= problem.truth, name
    assert {answer for answer in problem.truth if len(answer) <= finished.complete_up_to} <= answers, name
    if finished.complete:
        assert answers == problem.truth, name
        assert finished.complete_up_to == len(run.problem.moves), name
    for explained in (fact for fact in run.facts if isinstance(fact, Explained)):
        assert not answers
        assert explained.proved == finished.complete, name
        assert explained.proved or explained.reason is None, name
        hold_best_to_the_truth(run, problem, explained, name)


def hold_best_to_the_truth(run: Run, problem: Problem, explained: Explained, name: object) -> None:
    """What comes closest keeps to the rules, and where the search is complete it really does."""
    ranked = in_order(problem.case, problem.network)
    best = positions(run, explained.best)
    assert best is None or best in ranked, name
    if explained.proved:
        assert best == (ranked[0] if ranked else None), name
    if explained.explanation.complete:
        free = Case(**{**vars(problem.case), **WITHOUT_RULES})
        truth = in_order(free, problem.network)[0]
        closer = best is None or value(free, problem.network, truth) > value(free, problem.network, best)
        expected = truth if closer and not favourable_sets(free) else None
        assert positions(run, explained.best_without_rules) == expected, name


WITHOUT_RULES = {
    **dict.fromkeys(("causal", "correlated", "exclusive", "required", "formulas", "immutable"), ()),
    "directions": {},
    "max_step": {},
    "max_changes": None,
}


def in_order(case: Case, network: Network) -> list[frozenset[int]]:
    """What is feasible, the best first, of those the smallest, and then by positions."""
    return sorted(feasible_sets(case), key=lambda s: (-value(case, network, s), len(s), sorted(s)))


def value(case: Case, network: Network, subset: frozenset[int]) -> float:
    return float(network.value(np.array(changed(case, subset, movable(case)))))


def positions(run: Run, best: Best | None) -> frozenset[int] | None:
    return None if best is None else frozenset(run.problem.candidates[index].position for index in best.moves)


def outcome(run: Run) -> str:
    return "found" if run.found else "no_recourse" if run.finished.complete else "unknown"
