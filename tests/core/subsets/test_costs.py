"""What changes cost: a sum of decimal numbers, the same whoever adds it up."""

from decimal import Decimal
from fractions import Fraction
from math import fsum

import numpy as np
import pytest

from app.core.facts import Explained
from app.core.subsets.costs import Costs
from tests.support.brute_force import Case, minimal_sets
from tests.support.networks import Network, at_least, random_case
from tests.support.scale import scaled
from tests.support.searching import Run
from tests.support.seeds import Seeds


def test_the_sum_of_decimals_is_a_decimal():
    costs = Costs([1.0, 1.42, 5.86])
    assert fsum([1.0, 1.42, 5.86]) == 8.280000000000001
    assert costs.of((0, 1, 2)) == 8.28
    assert costs.of_rows(np.array([[0, 1], [1, 2]])).tolist() == [2.42, 7.28]


def test_nothing_changed_costs_nothing():
    assert Costs([0.1, 2]).of(()) == 0


@pytest.mark.parametrize(
    "weights",
    [[1, 1, 1], [0.1, 0.2, 0.3], [1e-300, 1e9, 0.5], [5e-324, 3], [1e9, 1e-9, 123456789.123456789], [2.50]],
)
def test_a_cost_is_the_float_nearest_to_the_exact_sum(weights: list[float]):
    """Also where the sums have more digits than a machine word holds."""
    costs = Costs(weights)
    every = list(range(len(weights)))
    exact = float(sum(Fraction(repr(weight)) for weight in weights))
    assert costs.of(every) == exact
    assert costs.of_rows(np.array([every])).tolist() == [exact]


def random_weights(seed: int, width: int) -> dict[int, float]:
    """Few different ones, so that many sums are the same."""
    rng = np.random.default_rng(seed)
    return {i: float(rng.choice([0.1, 0.2, 0.3, 0.4, 1.1])) for i in range(width)}


@pytest.mark.parametrize("batch_rows", [5, 16_384])
def test_answers_that_cost_the_same_are_ordered_by_position(batch_rows: int):
    tied = 0
    for seed in Seeds(scaled(30), 66_000):
        case, network = random_case(seed)
        network.batch_rows = batch_rows
        weights = random_weights(seed, len(case.values))
        decimals = {i: Decimal(repr(weight)) for i, weight in weights.items()}
        truth = sorted((len(s), sum(decimals[i] for i in s), sorted(s)) for s in minimal_sets(case))
        run = Run(case, network, "lattice", weights=weights)
        assert [sorted(answer) for answer in run.answers] == [positions for *_, positions in truth], seed
        assert [repr(found.cost) for found in run.found] == [repr(float(cost)) for _, cost, _ in truth], seed
        tied += len(truth) - len({(size, cost) for size, cost, _ in truth})
    assert tied > 0


def test_the_solver_adds_up_the_same():
    for seed in Seeds(scaled(20), 67_000):
        case, network = random_case(seed)
        weights = random_weights(seed, len(case.values))
        run = Run(case, network, "cemsp", weights=weights)
        for answer, found in zip(run.answers, run.found, strict=True):
            assert Decimal(repr(found.cost)) == sum(Decimal(repr(weights[i])) for i in answer)


def test_of_ways_that_cost_the_same_the_first_is_shown():
    """The first two suffice, or the last two: 0.1 and 0.2 are as dear as 0.15 and 0.15, though not in binary."""
    pairs = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=float)
    network = Network(pairs, -np.ones(2), np.ones(2), -0.5)
    case = Case([0.0] * 4, [(1.0, None)] * 4, network.favours, max_changes=1)
    run = Run(case, network, "lattice", weights={0: 0.1, 1: 0.2, 2: 0.15, 3: 0.15})
    (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
    (relaxation,) = explained.explanation.relaxations
    assert (relaxation.found.moves, relaxation.found.cost) == ((0, 1), 0.3)


def test_what_comes_closest_costs_a_decimal_too():
    case, network = at_least(4, of=3)
    run = Run(case, network, "lattice", weights={0: 1.0, 1: 1.42, 2: 5.86})
    (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
    assert explained.best.cost == 8.28
