"""What a search that sees through claims when it is stopped, or when the model contradicts what was seen."""

from dataclasses import replace

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag, StoppedBy
from app.core.facts import Answers, Engine, Finished, Working
from app.core.favourable import FavourableInterval
from app.core.problem import Problem
from app.core.search.engines import Search
from app.core.search.oracle import Oracle
from app.core.through.searches.scored import Contradicted
from tests.support.brute_force import Case
from tests.support.scale import scaled
from tests.support.searching import Run, pose_case
from tests.support.seeds import Seeds
from tests.support.seen import random_person
from tests.support.sums import Addend, TableModel


@pytest.mark.usefixtures("way")
def test_with_little_to_spend_nothing_is_claimed_that_brute_force_contradicts():
    stopped = 0
    for seed in Seeds(scaled(40), first=175_000):
        person = random_person(seed, constrained=seed % 2 == 1)
        truth = person.expected()
        for rows, answers in ((2, None), (3, None), (7, None), (30, None), (10**9, 1), (10**9, 3)):
            run = person.run("through", rows=rows, answers=answers)
            assert run.answers == truth[: len(run.answers)], seed
            assert [each for each in truth if len(each) <= run.finished.complete_up_to] == run.answers[
                : sum(len(each) <= run.finished.complete_up_to for each in truth)
            ], seed
            assert not run.finished.complete or run.answers == truth, seed
            assert run.rows <= rows
            stopped += run.finished.stopped_by is not None
    assert stopped


class Clock:
    """Moves on by itself, a little each time that it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.mark.usefixtures("way")
def test_a_deadline_at_any_moment_leaves_what_was_claimed_true():
    outcomes = set()
    for seed in Seeds(scaled(12), first=176_000):
        person = random_person(seed, constrained=False)
        truth = person.expected()
        problem = pose_case(person.case, person.weights)
        for seconds in (0.004, 0.01, 0.02, 0.05, 0.2, 2.0):
            clock = Clock()
            budget = Budget(Limits(10**9, seconds), clock, 0.0, StopFlag())
            oracle = Oracle(person.model, person.favourable, problem.instance, problem.moves, budget)
            oracle.judge_instance()
            search = Search(problem, oracle, budget, person.model.view(person.case.values))
            facts = list(search.facts(Engine.THROUGH))
            last = facts[-1]
            assert isinstance(last, Finished)
            found = [positions(problem, each.moves) for fact in facts if isinstance(fact, Answers) for each in fact]
            assert found == truth[: len(found)], seed
            assert {each for each in truth if len(each) <= last.complete_up_to} <= set(found), seed
            outcomes.add(last.stopped_by)
    assert outcomes == {None, StoppedBy.DEADLINE}


def positions(problem: Problem, moves: tuple[int, ...]) -> frozenset[int]:
    return frozenset(problem.moves[move].position for move in moves)


def test_a_search_lets_others_work():
    """21 moves, all subsets: it yields many times, a few milliseconds apart."""
    model = TableModel([Addend((i,), (0.5,), np.array([[0.0], [1.0]])) for i in range(21)], np.zeros(1))
    model.addends.append(Addend((0, 1), (0.5, 0.5), np.array([[0.0], [0.0], [0.0], [0.5]])))
    case = Case([0.0] * 21, [(1.0, None)] * 21, lambda row: False)
    run = Run(case, model, "through", favourable=FavourableInterval(20.0, None), view=model.view(case.values))
    assert run.finished.complete
    assert sum(isinstance(fact, Working) for fact in run.facts) > 10


class Liar(TableModel):
    """Favours nothing, whatever its tables say."""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return np.full((len(rows), 1), -1.0, dtype=np.float32)


def test_a_model_that_contradicts_the_view_at_once_is_searched_by_its_rows():
    model = Liar([Addend((i,), (0.5,), np.array([[0.0], [1.0]])) for i in range(12)], np.zeros(1))
    case = Case([0.0] * 12, [(1.0, None)] * 12, lambda row: False)
    run = Run(case, model, "auto", favourable=FavourableInterval(0.5, None), view=model.view(case.values))
    assert (run.found, run.finished.engine, run.finished.complete) == ([], Engine.LATTICE, True)
    assert run.finished.proof is not None
    assert run.finished.proof.by == "rows"


def test_once_something_was_claimed_a_contradiction_ends_the_search():
    model = Liar([Addend((i,), (0.5,), np.array([[0.0], [1.0]])) for i in range(12)], np.zeros(1))
    case = Case([0.0] * 12, [(1.0, None)] * 12, lambda row: False)
    with pytest.raises(Contradicted):
        Run(case, model, "auto", favourable=FavourableInterval(1.5, None), view=model.view(case.values))


def test_numbers_that_are_not_finite_are_not_seen_through():
    model = TableModel([Addend((i,), (0.5,), np.array([[0.0], [1.0]])) for i in range(12)], np.zeros(1))
    case = Case([0.0] * 12, [(1.0, None)] * 12, lambda row: False)
    seen = model.view(case.values)

    def view(moves):
        one = seen(moves)
        return replace(one, sums=replace(one.sums, constant=np.array([np.inf])))

    run = Run(case, model, "auto", favourable=FavourableInterval(2.0, None), view=view)
    assert (len(run.found), run.finished.engine) == (66, Engine.LATTICE)
