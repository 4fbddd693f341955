"""Size by size: when a size is said to be finished its answers are there, and nothing was asked or held in vain."""

import time
from math import comb

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag, Stopped, StoppedBy
from app.core.facts import Answers, Engine, Explained, Fact, Finished, LevelFinished
from app.core.formula import Changed, Count
from app.core.memory import Memory
from app.core.search import seed_map, solver, whole_lattice
from app.core.search.clauses import most_clauses
from app.core.search.engines import Search
from app.core.search.lattice import remembered, risen
from app.core.search.oracle import Oracle
from app.core.subsets import dense_frontier
from app.core.subsets.frontier import Frontier
from app.core.subsets.sparse_frontier import SparseFrontier
from tests.support.brute_force import Case, Written, feasible_sets, is_feasible, minimal_sets, movable
from tests.support.constrained import constrained_case
from tests.support.networks import Network, at_least, random_case
from tests.support.scale import scaled
from tests.support.searching import FAVOURABLE, Run, pose_case
from tests.support.seeds import Seeds


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["one call", "one level a call or more"])
def lattice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """All subsets of few moves are judged together; those of more, level by level."""
    if request.param != "one call":
        monkeypatch.setattr(whole_lattice, "MOST_AT_ONCE", 0)
    return request.param


@pytest.mark.usefixtures("lattice")
@pytest.mark.parametrize("engine", ["lattice", "auto"])
def test_every_answer_of_a_size_comes_before_the_word_that_the_size_is_finished(engine: str):
    """Where nothing is found, what stands in the way is looked for: no answer may have been left to that."""
    constrained = 0
    for seed in Seeds(scaled(60), 200_000):
        case, network = constrained_case(seed)
        run, told = Run(case, network, engine), 0
        truth = minimal_sets(case)
        for place, fact in enumerate(run.facts):
            if isinstance(fact, LevelFinished):
                told += 1
                assert fact.size == told, seed
                assert found_in(run, run.facts[:place]) == {one for one in truth if len(one) <= told}, seed
        constrained += bool(run.problem.conjuncts)
        if all(len(one) <= told for one in truth) and truth:
            assert not any(isinstance(fact, Explained) for fact in run.facts), seed
    assert constrained > 10


def found_in(run: Run, facts: list[Fact]) -> set[frozenset[int]]:
    moves = run.problem.moves
    return {
        frozenset(moves[index].position for index in found.moves)
        for fact in facts
        if isinstance(fact, Answers)
        for found in fact
    }


@pytest.mark.usefixtures("lattice")
def test_the_lattice_asks_about_no_subset_that_cannot_be_an_answer():
    """What is feasible and contains no answer, once each; all that is feasible where it is one call."""
    for seed in Seeds(scaled(60), 210_000):
        case, network = constrained_case(seed)
        truth = minimal_sets(case)
        if not truth or case.favourable(list(case.values)):
            continue
        run = Run(case, network, "lattice")
        asked = [subset for subset in feasible_sets(case) if subset]
        together = whole_lattice.MOST_AT_ONCE and 2 ** len(run.problem.moves) <= min(network.batch_rows, 10**9 - 1)
        if not together:
            asked = [subset for subset in asked if not any(one < subset for one in truth)]
        assert run.rows == 1 + len(asked), seed


@pytest.mark.usefixtures("lattice")
def test_what_was_judged_is_not_judged_again_to_explain_that_nothing_was_found():
    case, network = at_least(5, of=4)
    assert Run(case, network, "lattice").rows == 2**4


@pytest.mark.parametrize("chunk", [7, 2**16])
@pytest.mark.parametrize(("rows", "size"), [(65, 1), (66, 2), (219, 2), (220, 3)])
def test_as_many_open_subsets_of_a_size_are_remembered_as_rows_are_allowed(
    monkeypatch: pytest.MonkeyPatch, chunk: int, rows: int, size: int
):
    """Exactly 6 of 12 must change: all 66 sets of two and all 220 of three are infeasible, and must be kept in mind."""
    monkeypatch.setattr(dense_frontier, "CHUNK", chunk)
    network = Network(np.ones((12, 1)), np.zeros(1), np.ones(1), -5.5)
    names = ", ".join(f"f{i}" for i in range(12))
    formula = Written(f"exactly(6, {names})", lambda changed: len(changed) == 6)
    case = Case([0.0] * 12, [(1.0, None)] * 12, network.favours, formulas=[formula])
    run = Run(case, network, "lattice", rows=rows)
    assert (run.finished.stopped_by, run.finished.complete_up_to) == (StoppedBy.MAX_MODEL_ROWS, size)


def test_rows_that_ran_out_are_what_stopped_a_search_however_late_its_answers_are_read():
    case, network = at_least(1, of=400)
    network.batch_rows = 100
    problem, clock = pose_case(case), Clock()
    budget = Budget(Limits(200, 1.5), clock, clock(), StopFlag())
    oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
    facts = []
    for fact in Search(problem, oracle, budget).facts(Engine.LATTICE):
        facts.append(fact)
        clock.now += isinstance(fact, Answers)
    assert sum(isinstance(fact, Answers) for fact in facts) == 3
    last = facts[-1]
    assert isinstance(last, Finished)
    assert last.stopped_by is StoppedBy.MAX_MODEL_ROWS


def settle_all(frontier: Frontier) -> None:
    for chunk in frontier.chunks():
        frontier.settle(chunk, np.zeros(len(chunk.masks), dtype=np.bool_))


def test_where_nothing_is_closed_the_next_size_is_known_exactly(monkeypatch: pytest.MonkeyPatch):
    """In a table, in links, and in bits."""
    monkeypatch.setattr(dense_frontier, "MOST_MOVES", 3)
    for kind in (dense_frontier.DenseFrontier, SparseFrontier):
        frontier = kind(9)
        for size in range(1, 10):
            assert frontier.most_next() == comb(9, size)
            settle_all(frontier)
            frontier.rise()
        assert not frontier.most_next()
    frontier = SparseFrontier(9)
    frontier.forget_next()
    for size in range(1, 10):
        assert frontier.most_next() == comb(9, size)
        settle_all(frontier)
        frontier = risen(frontier, 9, [])
    assert not frontier.most_next()


def test_the_next_size_is_forgotten_where_it_is_too_much_besides_what_else_is_held():
    frontier = SparseFrontier(10)
    settle_all(frontier)
    before = frontier.held
    problem = pose_case(at_least(1, of=10)[0])
    budget = Budget(Limits(10, 600.0), time.perf_counter, time.perf_counter(), StopFlag(), Memory(before + 100))
    oracle = Oracle(at_least(1, of=10)[1], FAVOURABLE, problem.instance, problem.moves, budget)
    assert list(remembered(frontier, 100, oracle, budget)) == []
    assert (frontier.is_full, budget.memory.held) == (False, before + 100)
    assert list(remembered(frontier, 101, oracle, budget)) == []
    assert frontier.is_full
    assert budget.memory.held == frontier.held + 101 < before
    with pytest.raises(Stopped):
        list(remembered(frontier, before + 101, oracle, budget))


@pytest.mark.parametrize("moves", range(2, 18))
def test_rules_that_suit_a_map_suit_it_whatever_sizes_are_left(monkeypatch: pytest.MonkeyPatch, moves: int):
    problem = pose_case(at_least(1, of=moves)[0])
    names = tuple(map(Changed, range(moves)))
    for low in range(1, moves + 1):
        for high in range(low, moves + 1):
            monkeypatch.setattr(solver, "MOST_CLAUSES", most_clauses(Count(low, high, names)) - 1)
            assert not seed_map.suits(problem), (low, high)


def test_of_very_many_ways_that_cost_the_same_the_first_is_shown():
    """Any two of 20 suffice, and one may change: of 190 pairs those count that hold none of the first, dear ones."""
    case, network = at_least(2, of=20)
    for dear in (1, 4, 7):
        weights = {i: 2.0 if i < dear else 1.0 for i in range(20)}
        run = Run(Case(**{**vars(case), "max_changes": 1}), network, "lattice", weights=weights)
        (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
        (relaxation,) = explained.explanation.relaxations
        assert relaxation.found.moves == (dear, dear + 1)
        assert (relaxation.found.label, float(relaxation.found.score)) == (1, 0.5)


def together(case: Case, network: Network, deadline: float = 600.0) -> tuple[Search, Oracle]:
    problem = pose_case(case)
    budget = Budget(Limits(10**6, deadline), time.perf_counter, time.perf_counter(), StopFlag())
    oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
    return Search(problem, oracle, budget), oracle


def test_an_instance_that_is_judged_together_with_its_subsets_has_the_same_answers():
    """In one call, where all subsets fit one: of those only the feasible ones are asked about."""
    at_once = 0
    for seed in Seeds(scaled(60), 220_000):
        case, network = constrained_case(seed) if seed % 2 else random_case(seed)
        search, oracle = together(case, network)
        verdict = search.judge_instance(together=True)
        assert float(verdict.score[0]) == float(network.value(np.array(case.values))), seed
        assert (len(verdict), bool(verdict.favourable[0])) == (1, case.favourable(list(case.values))), seed
        moves = len(movable(case))
        fits = moves <= 10 and 2**moves <= network.batch_rows
        # The empty subset is the instance, whether it is feasible or not.
        every = {frozenset(), *feasible_sets(case)} if fits else {frozenset()}
        assert (oracle.meter.calls, oracle.meter.rows) == (1, len(every)), seed
        if not verdict.favourable[0]:
            alone = Run(case, network, "lattice")
            assert [fact for fact in search.facts(Engine.LATTICE) if isinstance(fact, Answers)] == [
                fact for fact in alone.facts if isinstance(fact, Answers)
            ], seed
        at_once += fits and any(not is_feasible(case, one) for one in map(frozenset, [movable(case)]))
    assert at_once > 0


def test_an_instance_is_judged_alone_where_that_is_asked_for_or_the_time_is_over():
    case, network = at_least(2, of=4)
    for deadline, asked in ((600.0, False), (0.0, True)):
        search, oracle = together(case, network, deadline)
        assert len(search.judge_instance(together=asked)) == 1
        assert oracle.meter.rows == 1


class Fragile(Network):
    """Breaks down at a row that has changed."""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        if rows.any():
            raise RuntimeError("a row that it cannot read")
        return super().__call__(rows)


def test_an_instance_is_judged_although_the_model_breaks_down_at_what_could_become_of_it():
    case, network = at_least(2, of=4)
    search, oracle = together(case, Fragile(**vars(network)))
    assert search.judge_instance(together=True).favourable.tolist() == [False]
    assert oracle.meter.rows == 1
