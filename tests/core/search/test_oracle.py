"""What the oracle keeps of all that it has asked: what it cost, and the subset that came closest."""

from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag
from app.core.search.oracle import Oracle
from app.core.subsets.masks import of_sets, sizes
from tests.support.networks import Network, at_least
from tests.support.searching import FAVOURABLE, Run, pose_case

# Subsets of four moves, the first one highest.
FIRST, SECOND, LAST, OUTER_TWO, FIRST_THREE = 0b1000, 0b0100, 0b0001, 0b1001, 0b1110


def oracle_of(network: Network, rules: Callable[[np.ndarray], np.ndarray] | None = None) -> Oracle:
    """Of four moves, each from 0 to 1."""
    problem = pose_case(at_least(1, of=4)[0])
    budget = Budget(Limits(100, 600.0), lambda: 0.0, 0.0, StopFlag())
    oracle = Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)
    oracle.rules = rules
    return oracle


def ask(oracle: Oracle, *batches: list[int]) -> None:
    for batch in batches:
        oracle.judge(of_sets(batch, 4))


def best(oracle: Oracle) -> tuple[int, ...] | None:
    return None if oracle.best is None else oracle.best.moves


def best_without_rules(oracle: Oracle) -> tuple[int, ...] | None:
    return None if oracle.best_without_rules is None else oracle.best_without_rules.moves


def of_two_or_more(masks: np.ndarray) -> np.ndarray:
    return sizes(masks) >= 2


def test_of_subsets_that_come_as_close_the_first_is_kept():
    """In one batch or in several, with rules and without."""
    for batches in ([[SECOND, FIRST]], [[FIRST], [SECOND]], [[FIRST], [LAST], [SECOND]]):
        oracle = oracle_of(at_least(4, of=4)[1])
        ask(oracle, *batches)
        assert (best(oracle), best_without_rules(oracle)) == ((0,), None)
        ruled = oracle_of(at_least(4, of=4)[1], of_two_or_more)
        ask(ruled, *batches)
        assert (best(ruled), best_without_rules(ruled)) == (None, (0,))
        ask(ruled, [OUTER_TWO])
        assert (best(ruled), best_without_rules(ruled)) == ((0, 3), (0, 3))


def test_nothing_that_breaks_a_rule_comes_closest_within_the_rules():
    oracle = oracle_of(at_least(4, of=4)[1], of_two_or_more)
    oracle.judge_instance()
    assert (best(oracle), best_without_rules(oracle)) == (None, ())


def test_a_favourable_subset_that_breaks_a_rule_does_not_come_close():
    """It is an answer, were it not for the rule: that is told elsewhere."""
    oracle = oracle_of(at_least(3, of=4)[1], lambda masks: sizes(masks) < 2)
    ask(oracle, [0, FIRST], [SECOND, FIRST_THREE], [FIRST_THREE])
    assert (best(oracle), best_without_rules(oracle)) == ((0,), (0,))


@pytest.mark.parametrize("lost", [nan, inf, -inf])
@pytest.mark.parametrize("rules", [None, lambda masks: sizes(masks) < 4])
def test_a_score_that_is_not_finite_does_not_come_close(lost: float, rules):
    class Losing(Network):
        def value(self, rows: np.ndarray) -> np.ndarray:
            return np.where(rows.sum(axis=1) == 2, lost, super().value(rows))

    oracle = oracle_of(Losing(**vars(at_least(4, of=4)[1])), rules)
    ask(oracle, [FIRST, OUTER_TWO], [OUTER_TWO], [SECOND])
    assert (best(oracle), best_without_rules(oracle)) == ((0,), None if rules is None else (0,))


def test_rows_and_calls_are_added_up():
    case, network = at_least(5, of=4)
    network.batch_rows = 1
    run = Run(case, network, "lattice")
    assert (run.oracle.meter.rows, run.oracle.meter.calls) == (16, 16)


def test_the_time_of_the_model_is_added_up():
    """By a clock that goes on by one at every look."""
    problem, now = pose_case(at_least(1, of=4)[0]), iter(range(10**6))
    budget = Budget(Limits(100, 10**6), lambda: float(next(now)), 0.0, StopFlag())
    oracle = Oracle(at_least(1, of=4)[1], FAVOURABLE, problem.instance, problem.moves, budget)
    ask(oracle, [0, FIRST], [SECOND], [LAST])
    assert (oracle.meter.rows, oracle.meter.calls, oracle.meter.seconds) == (4, 3, 3.0)
