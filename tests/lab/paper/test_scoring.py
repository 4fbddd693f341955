"""From answers to figures, on two people whose figures are worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from lab.paper.conditions import CONDITIONS, PLAIN, Condition
from lab.paper.measures.scoring import METHODS, results
from lab.paper.methods import BASELINES
from lab.paper.questions.asking import SECONDS, Answer, Asked
from lab.paper.questions.question import Spread
from lab.paper.results import Agreement

NOBODY = Agreement(0, 0, 0, 0, 0, 0, 0)
AS_THEY_ARE = [0.0, 0.0]
FIRST, SECOND = frozenset({0}), frozenset({1})


def study() -> SimpleNamespace:
    """Two features with the values 0 to 9 in the data, and a deviation of 2 and 4."""
    return SimpleNamespace(
        recipe=SimpleNamespace(name="made-up", registry="none"),
        accuracies=(1.0,),
        standardised=np.repeat(np.arange(10.0)[:, np.newaxis], 2, axis=1),
        spread=Spread(np.zeros(2), np.full(2, 9.0), np.array([2.0, 4.0])),
    )


def asked(
    condition: Condition,
    person: int,
    rows: list[list[float]],
    valid: tuple[bool, ...] = (),
    again: list[list[float]] | None = None,
) -> Asked:
    """Everyone answers the same; with the same seed the baselines answer `again`."""
    answer = Answer(np.array(rows).reshape(-1, 2), valid or (True,) * len(rows), 0.002)
    late = Answer(answer.rows, answer.valid, SECONDS)
    answers = dict.fromkeys(METHODS, answer) | {"sns": late}
    repeated = answer if again is None else Answer(np.array(again).reshape(-1, 2), (True,) * len(again), 0.002)
    same_seed = dict.fromkeys(BASELINES, repeated)
    return Asked(condition.name, person, np.array(AS_THEY_ARE), False, True, (FIRST, SECOND), answers, same_seed)


def favoured(condition: Condition, person: int) -> Asked:
    return Asked(condition.name, person, np.array(AS_THEY_ARE), True, True, (), {}, {})


def everything(special: dict[tuple[str, int], Asked]) -> list[Asked]:
    """Both people get the same two counterfactuals everywhere, but for what is special."""
    usual = [asked(condition, person, [[3, 0], [0, 4]]) for condition in CONDITIONS for person in (1, 2)]
    return [special.get((line.condition, line.person), line) for line in usual]


def test_the_figures_of_two_counterfactuals():
    found = results(study(), everything({}), NOBODY).methods["plain_cf"]
    figures = {name: mean.value for name, mean in found.metrics.items()}
    assert figures == pytest.approx(
        {
            "sparsity": 1 / 2,
            # From 0 to 3 three tenths of the values are passed, from 0 to 4 four: (0.3 + 0 + 0 + 0.4) / 4.
            "aps": 0.175,
            # In deviations 3 / 2 and 4 / 4, in the mean of the two features.
            "diversity": 1.25,
            "c_diversity": 1,
            "valid": 1,
            "minimal_found": 1,
            "returned_minimal": 1,
            "milliseconds": 2,
        }
    )
    retrained = found.changes.retrained
    assert retrained.inconsistency.value == 0
    assert (retrained.pairs, retrained.undefined, found.cut_short) == (20, 0, 0)


def test_a_row_that_does_not_turn_the_decision_counts_only_as_not_valid():
    special = {(PLAIN.name, 1): asked(PLAIN, 1, [[3, 0], [5, 5]], (True, False))}
    metrics = results(study(), everything(special), NOBODY).methods["dice"].metrics
    assert metrics["valid"].value == pytest.approx((1 / 2 + 1) / 2)
    assert metrics["sparsity"].value == 1 / 2
    assert metrics["minimal_found"].value == pytest.approx((1 / 2 + 1) / 2)
    assert (metrics["diversity"].people, metrics["diversity"].value) == (1, 1.25)


def test_retraining_that_drops_a_counterfactual_costs_the_way_to_its_neighbour():
    other = CONDITIONS[4]
    special = {(other.name, 1): asked(other, 1, [[3, 0]])}
    found = results(study(), everything(special), NOBODY).methods["exact"].changes.retrained
    # In 4 of the 10 pairs of the first person: [0, 4] is 5 away from [3, 0], and [3, 0] is still there: (5 + 0) / 2.
    assert found.inconsistency.value == pytest.approx((4 * 2.5 / 10 + 0) / 2)


def test_a_pair_with_nothing_on_one_side_is_undefined_and_counted():
    noisy = CONDITIONS[-1]
    special = {(noisy.name, 1): favoured(noisy, 1), (noisy.name, 2): asked(noisy, 2, [[3, 1], [0, 4]])}
    found = results(study(), everything(special), NOBODY).methods["exact"].changes.noise[noisy.sigma]
    assert (found.pairs, found.undefined, found.inconsistency.people) == (2, 1, 1)
    # [3, 0] is 1 away from [3, 1], [0, 4] stays: half of it either way.
    assert found.inconsistency.value == pytest.approx(0.5)


def test_what_a_baseline_does_not_return_is_not_valid():
    metrics = results(study(), everything({(PLAIN.name, 1): asked(PLAIN, 1, [])}), NOBODY).methods
    assert metrics["growing_spheres"].metrics["valid"].value == pytest.approx((0 + 1) / 2)
    assert metrics["exact"].metrics["valid"].people == 1


def test_the_same_seed_has_figures_of_its_own_but_for_those_who_draw_nothing():
    noisy = CONDITIONS[-1]
    special = {(noisy.name, 1): asked(noisy, 1, [[3, 0], [0, 4]], again=[[3, 2], [0, 4]])}
    found = results(study(), everything(special), NOBODY).methods
    assert found["dice"].changes.noise[noisy.sigma].inconsistency.value == 0
    # [3, 2] is 2 away from [3, 0]; half of it for one of the two people.
    assert found["dice"].same_seed.noise[noisy.sigma].inconsistency.value == pytest.approx((1 + 0) / 2)
    assert found["exact"].same_seed == found["exact"].changes


def test_answers_at_the_time_limit_are_counted():
    assert results(study(), everything({}), NOBODY).methods["sns"].cut_short == 2 * len(CONDITIONS)


def test_the_published_search_is_held_against_the_definition_on_every_network():
    special = {(PLAIN.name, 1): asked(PLAIN, 1, [[3, 4]]), ("network 1", 2): favoured(CONDITIONS[1], 2)}
    found = results(study(), everything(special), NOBODY)
    assert found.agreement == Agreement(asked=9, same=8, true=18, missed=2, returned=17, wrong=1, not_monotone=0)
    assert (found.people, found.without_recourse, found.mean_answers) == (2, 0, 2)
