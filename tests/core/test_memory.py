"""What a search holds is bounded: it is right as far as it says, whatever it may remember."""

import time
import tracemalloc
from dataclasses import replace
from threading import Thread

import pytest

from app.core.budget import Budget, Limits, StopFlag, Stopped, StoppedBy
from app.core.facts import Engine, Finished, Guarantee
from app.core.memory import WORTH_GIVING_BACK, Memory, Pool, Waiting
from app.core.search import whole_lattice
from app.core.search.engines import Search
from app.core.search.oracle import Oracle
from app.core.subsets import dense_frontier, packed_frontier, sparse_frontier
from tests.support.brute_force import minimal_sets
from tests.support.networks import at_least, random_case
from tests.support.searching import FAVOURABLE, Run, pose_case
from tests.support.seeds import Seeds
from tests.support.waiting import PATIENCE

MB = 2**20


class Watched(Memory):
    """Remembers the most that was held."""

    peak = 0

    def hold(self, wanted: int) -> bool:
        self.peak = max(self.peak, wanted)
        return super().hold(wanted)


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of few moves are held in links, as those of many are."""
    monkeypatch.setattr(whole_lattice, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(dense_frontier, "MOST_MOVES", 2)
    monkeypatch.setattr(sparse_frontier, "CHUNK", 40)


@pytest.fixture
def unpacked(linked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And there are too many moves for a bit a subset."""
    monkeypatch.setattr(packed_frontier, "MOST_MOVES", 2)


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("constrained", [False, True])
def test_a_search_that_remembers_little_finds_all_the_same(constrained: bool):
    """Up to 26 moves a bit a subset does where its links are too much."""
    packed = 0
    for seed in Seeds(20, first=140_000):
        case, network = random_case(seed)
        if constrained:
            case = replace(case, exclusive=[[0, 1]], correlated=[[2, 3]] if len(case.values) > 3 else [])
        memory = Watched(3_000)
        run = Run(case, network, "lattice", memory=memory)
        assert set(run.answers) == minimal_sets(case), seed
        assert run.finished.complete, seed
        assert memory.held == 0
        plain = Run(case, network, "lattice")
        assert run.answers == plain.answers, seed
        assert (run.rows, run.finished) == (plain.rows, plain.finished), seed
        packed += memory.peak > 2_000
    assert packed > 0


@pytest.mark.usefixtures("unpacked")
@pytest.mark.parametrize("engine", ["lattice", "auto"])
def test_a_search_that_may_not_remember_more_says_how_far_it_came(engine: str):
    stopped = 0
    for seed in Seeds(40, first=150_000):
        case, network = random_case(seed, monotone=True)
        memory = Watched(1_500)
        run = Run(case, network, engine, memory=memory)
        truth, finished = minimal_sets(case), run.finished
        assert set(run.answers) <= truth, seed
        assert {answer for answer in truth if len(answer) <= finished.complete_up_to} <= set(run.answers), seed
        assert finished.stopped_by in (None, StoppedBy.MAX_MODEL_ROWS)
        if engine == "lattice":
            assert finished.guarantee is Guarantee.EXACT
            assert finished.complete == (finished.complete_up_to == len(run.problem.moves)), seed
        stopped += finished.stopped_by is not None
        assert memory.held == 0
    assert stopped > 0


@pytest.mark.usefixtures("unpacked")
def test_auto_goes_on_with_the_solver_where_the_next_level_cannot_be_remembered():
    """All of twelve changes are needed."""
    case, network = at_least(12, of=12)
    run = Run(case, network, "auto", memory=Memory(40_000))
    assert run.answers == [frozenset(range(12))]
    assert (run.finished.engine, run.finished.stopped_by) == (Engine.AUTO, None)
    assert 3 <= run.finished.complete_up_to <= 5


def test_the_bytes_of_a_search_are_counted():
    """40 moves of which none helps: a level of 658,008 subsets is gone through, and not held."""
    problem = pose_case(at_least(41, of=40)[0])
    network = at_least(41, of=40)[1]
    network.batch_rows = 4096
    memory = Watched(12 * MB)
    budget = Budget(Limits(10**9, 600.0), time.perf_counter, time.perf_counter(), StopFlag(), memory)
    oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
    oracle.judge_instance()
    tracemalloc.start()
    facts = [(fact, oracle.held) for fact in Search(problem, oracle, budget).facts(Engine.LATTICE)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    last, besides = facts[-1][0], max(held for _, held in facts)
    assert replace(last, proof=None) == Finished(Engine.LATTICE, Guarantee.EXACT, 5, StoppedBy.MAX_MODEL_ROWS)
    assert memory.peak <= 12 * MB + besides
    assert (memory.held, oracle.held) == (0, 0)
    # What a chunk takes while it is put together is not counted: it does not depend on the search.
    assert peak < memory.peak + 10 * MB


def test_answers_are_held_too():
    """Any four of 40 changes suffice: what was found when the memory was full is sent."""
    case, network = at_least(4, of=40)
    network.batch_rows = 4096
    memory = Watched(2 * MB)
    run = Run(case, network, "lattice", memory=memory)
    assert replace(run.finished, proof=None) == Finished(Engine.LATTICE, Guarantee.EXACT, 3, StoppedBy.MAX_MODEL_ROWS)
    assert 10_000 < len(run.answers) < 91_390
    assert all(len(answer) == 4 for answer in run.answers)


def test_a_solver_is_not_told_more_than_it_may_remember():
    """Any four of 40 changes suffice: what is ruled out takes more and more."""
    case, network = at_least(4, of=40)
    run = Run(case, network, "cemsp", memory=Memory(100_000))
    assert run.finished.stopped_by is StoppedBy.MAX_MODEL_ROWS
    assert 500 < len(run.answers) < 1_000


def test_a_search_waits_for_memory_that_others_hold():
    """It asks again and again, and goes on when it is there."""
    pool = Pool(3 * MB, each=1 * MB)
    others = [pool.of_one("a"), pool.of_one("b")]
    assert others[0].hold(1 * MB)
    assert others[1].hold(1 * MB)
    first = pool.of_one("c")
    assert first.hold(1 * MB)
    problem = pose_case(at_least(41, of=24)[0])
    budget = Budget(Limits(10**9, 600.0), time.perf_counter, time.perf_counter(), StopFlag(), pool.of_one("d"))
    oracle = Oracle(at_least(41, of=24)[1], FAVOURABLE, problem.instance, problem.moves, budget)
    oracle.judge_instance()
    facts = Search(problem, oracle, budget).facts(Engine.LATTICE)
    for _ in range(5):
        assert isinstance(next(facts), Waiting)
    others[0].give_back()
    assert not isinstance(next(facts), Waiting)
    facts.close()
    assert pool.held == 2 * MB


def test_a_search_that_waits_for_too_long_has_met_its_deadline():
    pool = Pool(0, each=1 * MB)
    assert pool.of_one("a").hold(1)
    budget = Budget(Limits(10**9, 0.01), time.perf_counter, time.perf_counter(), StopFlag(), pool.of_one("b"))
    with pytest.raises(Stopped) as stopped:
        list(budget.remember(1))
    assert stopped.value.by is StoppedBy.DEADLINE


def test_a_client_gets_half_of_the_memory_and_one_search_all_that_it_may_hold():
    pool = Pool(10 * MB, each=2 * MB)
    mine = [pool.of_one("me") for _ in range(10)]
    assert [memory.hold(1 * MB) for memory in mine] == [True] * 5 + [False] * 5
    # The fifth has it set aside, and may hold more.
    assert mine[4].hold(2 * MB)
    assert not mine[0].hold(2 * MB)
    theirs = [pool.of_one("them") for _ in range(10)]
    assert [memory.hold(1 * MB) for memory in theirs] == [True] * 4 + [False] * 6
    assert pool.held == 10 * MB
    mine[4].give_back()
    assert mine[5].hold(2 * MB)
    # One that needs less, when there is room for it, makes way for the next.
    mine[0].give_back()
    assert mine[5].hold(1 * MB)
    assert mine[6].hold(2 * MB)
    for memory in (*mine, *theirs):
        memory.give_back()
    assert pool.held == 0


def test_searches_of_many_threads_never_hold_more_than_the_pool():
    """And none waits for ever: each gets, in the end, all that it may hold."""
    pool, seen = Pool(8 * MB, each=2 * MB), []

    def search(client: str) -> None:
        memory = pool.of_one(client)
        for wanted in range(0, 2 * MB + 1, MB // 8):
            while not memory.hold(wanted):
                seen.append(pool.held)
        seen.append(pool.held)
        memory.give_back()

    threads = [Thread(target=search, args=(f"client {number % 3}",)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(seen) <= 8 * MB
    assert pool.held == 0


def test_what_was_a_lot_is_given_back_to_the_system():
    freed = []
    pool = Pool(10 * WORTH_GIVING_BACK, each=2 * WORTH_GIVING_BACK, freed=lambda: freed.append(1))
    small, large = pool.of_one("a"), pool.of_one("b")
    assert small.hold(1000)
    assert large.hold(WORTH_GIVING_BACK)
    assert large.hold(0)
    small.give_back()
    assert freed == []
    large.give_back()
    large.give_back()
    assert freed == [1]


def test_a_search_that_the_garbage_collector_ends_never_waits_for_the_pool():
    """It may do so in the thread that holds the pool's lock: waiting for that lock would last for ever."""
    freed: list[int] = []
    pool = Pool(10 * WORTH_GIVING_BACK, each=2 * WORTH_GIVING_BACK, freed=lambda: freed.append(1))
    left, other = pool.of_one("a"), pool.of_one("a")
    assert left.hold(WORTH_GIVING_BACK)
    with pool._lock:
        ending = Thread(target=left.give_back, daemon=True)
        ending.start()
        ending.join(PATIENCE)
        assert not ending.is_alive()
    assert other.hold(1)
    assert (pool.held, freed) == (1, [1])
