"""All subsets of a problem with what they are, against brute force."""

import time
from dataclasses import replace
from itertools import combinations
from math import inf, nan

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag, Stopped
from app.core.search.all_subsets import Subset, every_subset
from app.core.search.oracle import Oracle
from app.core.turns import run_through
from tests.support.brute_force import Case, changed, is_feasible, minimal_sets, movable
from tests.support.constrained import constrained_case
from tests.support.networks import Network, at_least
from tests.support.scale import scaled
from tests.support.searching import FAVOURABLE, pose_case
from tests.support.seeds import Seeds

CHUNK = 100


def shown(case: Case, network: Network, seconds: float = 600.0) -> list[Subset]:
    problem = pose_case(case)
    budget = Budget(Limits(2**10, seconds), time.perf_counter, time.perf_counter(), StopFlag())
    return run_through(every_subset(problem, Oracle(network, FAVOURABLE, problem.instance, problem.moves, budget)))


def truth(case: Case, network: Network) -> list[tuple[tuple[int, ...], float, bool, bool, str | None]]:
    """The same from the definition: sets of positions instead of indices."""
    targets = movable(case)
    every = [frozenset(subset) for size in range(len(targets) + 1) for subset in combinations(targets, size)]
    favourable = {subset for subset in every if case.favourable(changed(case, subset, targets))}
    allowed = {subset for subset in every if is_feasible(case, subset)}
    failing = allowed - favourable
    roles = {subset: "maximal_failing" for subset in failing if not any(subset < other for other in failing)}
    if frozenset() not in favourable:
        roles |= dict.fromkeys(minimal_sets(case), "minimal")
    return [
        (
            tuple(sorted(subset)),
            float(network.value(np.array(changed(case, subset, targets)))),
            subset in favourable,
            subset in allowed,
            roles.get(subset),
        )
        for subset in every
    ]


def by_positions(case: Case, network: Network) -> list[tuple[tuple[int, ...], float, bool, bool, str | None]]:
    moves = pose_case(case).moves
    return [
        (tuple(moves[index].position for index in subset.moves), float(subset.score), *subset[2:])
        for subset in shown(case, network)
    ]


def turned_round(case: Case, network: Network) -> tuple[Case, Network]:
    """Refused becomes accepted and the other way round: nearly always the instance itself is favourable then."""
    other = replace(network, second=-network.second, second_bias=-network.second_bias)
    return replace(case, favourable=other.favours), other


@pytest.mark.parametrize("chunk", range(scaled(1)))
def test_every_subset_is_what_brute_force_says(chunk: int):
    for seed in Seeds(CHUNK, 40_000 + chunk * CHUNK):
        case, network = constrained_case(seed)
        assert by_positions(case, network) == truth(case, network), seed


def test_so_it_is_where_most_of_them_are_favourable():
    favourable = 0
    for seed in Seeds(scaled(40), 41_000):
        case, network = turned_round(*constrained_case(seed))
        told = by_positions(case, network)
        assert told == truth(case, network), seed
        favourable += told[0][2]
        assert not (told[0][2] and any(role == "minimal" for *_, role in told))
    assert favourable > 0


def test_where_nothing_can_move_there_is_the_instance_alone():
    network = Network(np.ones((2, 1)), np.zeros(1), np.ones(1), -1.5)
    case = Case([0.0, 0.0], [None, (0.0, None)], network.favours)
    assert shown(case, network) == [((), -1.5, False, True, "maximal_failing")]


@pytest.mark.parametrize("lost", [nan, inf, -inf])
def test_a_score_that_is_not_finite_is_not_favourable(lost: float):
    """As in a search: such a row is no ground for a recommendation."""

    class Losing(Network):
        def value(self, rows: np.ndarray) -> np.ndarray:
            return np.where(rows.sum(axis=1) == 2, lost, super().value(rows))

    case, network = at_least(1, 2)
    subsets = shown(case, Losing(**vars(network)))
    assert [subset.favourable for subset in subsets] == [False, True, True, False]
    assert [subset.role for subset in subsets] == [None, "minimal", "minimal", "maximal_failing"]
    assert not np.isfinite(subsets[-1].score)


def test_without_the_time_for_all_there_are_none():
    case, network = at_least(2, 10)
    with pytest.raises(Stopped):
        shown(case, network, seconds=0.0)
