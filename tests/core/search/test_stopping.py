"""What stops a search: time, a flag, and how little it may take meanwhile."""

import threading
import time
import tracemalloc

from app.core.budget import Budget, Limits, StopFlag, StoppedBy
from app.core.facts import Answers, Engine, Finished
from app.core.search.engines import Search
from app.core.search.oracle import Oracle
from tests.support.brute_force import Case
from tests.support.networks import at_least
from tests.support.searching import FAVOURABLE, pose_case


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waiting_for_the_reader_counts_towards_the_deadline():
    """A reader who takes a second for each block gets one or two of the many in time, and one that was ready."""
    case, network = at_least(1, of=1_000)
    problem = pose_case(case)
    clock = Clock()
    budget = Budget(Limits(10_000, 1.5), clock, clock(), StopFlag())
    oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
    facts = []
    for fact in Search(problem, oracle, budget).facts(Engine.LATTICE):
        facts.append(fact)
        clock.now += isinstance(fact, Answers)
    last = facts[-1]
    assert isinstance(last, Finished)
    assert sum(isinstance(fact, Answers) for fact in facts) == 3
    assert (last.stopped_by, last.complete_up_to) == (StoppedBy.DEADLINE, 0)


def test_a_flag_that_goes_up_at_any_moment_stops_the_solver_cleanly():
    """It may hit Z3 at work on the formulas, or come between two calls: `shutdown`, unless all was done before."""
    case, network = at_least(5, of=10)
    case = Case(**{**vars(case), "correlated": [[0, 1]]})
    stopped = 0
    for trial in range(60):
        flag = StopFlag()
        timer = threading.Timer(0.0005 * trial, flag.hoist)
        problem = pose_case(case)
        budget = Budget(Limits(10**9, 600.0), time.perf_counter, time.perf_counter(), flag)
        oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
        timer.start()
        if trial == 0:
            # At least one comes in time, however the threads take turns.
            timer.join()
        last = list(Search(problem, oracle, budget).facts(Engine.CEMSP))[-1]
        timer.join()
        flag.hoist()
        assert isinstance(last, Finished)
        assert last.stopped_by in (None, StoppedBy.SHUTDOWN)
        stopped += last.stopped_by is StoppedBy.SHUTDOWN
    assert stopped > 0


def test_checking_a_large_answer_lets_others_work():
    """24 features that change all together or not at all: of 16 million smaller sets none is feasible."""
    case, network = at_least(24, of=24)
    problem = pose_case(Case(**{**vars(case), "correlated": [list(range(24))]}))
    clock = Clock()
    budget = Budget(Limits(1_000, 20.0), clock, clock(), StopFlag())
    oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
    oracle.judge_instance()
    facts = []
    for fact in Search(problem, oracle, budget).facts(Engine.CEMSP):
        facts.append(fact)
        clock.now += 1
    last = facts[-1]
    assert isinstance(last, Finished)
    assert last.stopped_by is StoppedBy.DEADLINE


def test_checking_a_large_answer_takes_no_memory_to_speak_of():
    """24 features that change all together or not at all: 16 million smaller sets are looked at, none is held."""
    case, network = at_least(24, of=24)
    together = Case(**{**vars(case), "correlated": [list(range(24))]})
    problem = pose_case(together)
    budget = Budget(Limits(1_000, 2.0), time.perf_counter, time.perf_counter(), StopFlag())
    oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
    oracle.judge_instance()
    tracemalloc.start()
    facts = list(Search(problem, oracle, budget).facts(Engine.CEMSP))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(facts[-1], Finished)
    assert peak < 20 * 2**20
