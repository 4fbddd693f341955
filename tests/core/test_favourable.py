"""What counts as favourable."""

import time

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag
from app.core.facts import Engine, Explained
from app.core.favourable import NO_CLASS, FavourableClasses, FavourableInterval
from app.core.search.engines import Search
from app.core.search.oracle import Oracle
from app.core.search.verdict import Verdict
from tests.support.networks import Network, at_least
from tests.support.searching import pose_case


def judge(favourable, outputs, dtype=np.float32):
    verdict = Verdict.of(np.array([outputs], dtype=dtype), favourable)
    return bool(verdict.favourable[0]), str(verdict.score[0]), int(verdict.label[0])


def test_without_a_threshold_the_favourable_class_must_win():
    second = FavourableClasses((1,), (0,))
    assert judge(second, [0.4, 0.6]) == (True, "0.6", 1)
    assert judge(second, [0.6, 0.4]) == (False, "0.4", 0)


def test_a_tie_goes_to_the_class_that_is_named_first():
    assert judge(FavourableClasses((1,), (0,)), [0.5, 0.5])[0] is False
    assert judge(FavourableClasses((0,), (1,)), [0.5, 0.5])[0] is True


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_score_on_the_threshold_passes_in_the_type_of_the_model(dtype):
    """As float32, 0.7 is a little less than 0.7 is as float64."""
    assert judge(FavourableClasses((1,), (0,), threshold=0.7), [0.3, 0.7], dtype) == (True, "0.7", 1)


def test_the_label_follows_the_decision_and_not_the_larger_score():
    assert judge(FavourableClasses((1,), (0,), threshold=0.8), [0.3, 0.7]) == (False, "0.7", 0)


def test_several_favourable_classes_reach_the_threshold_together():
    side = FavourableClasses((0, 2), (1,), threshold=0.5)
    assert judge(side, [0.25, 0.4, 0.35], np.float64) == (True, "0.6", 2)


def test_without_a_threshold_the_best_class_must_be_a_favourable_one():
    side = FavourableClasses((0, 2), (1,))
    assert judge(side, [0.25, 0.4, 0.35])[0] is False
    assert judge(side, [0.2, 0.3, 0.5])[0] is True


@pytest.mark.parametrize("outputs", [[0.5, np.nan], [0.1, np.inf]])
@pytest.mark.parametrize("threshold", [None, 0.4])
def test_what_is_not_a_finite_number_is_not_favourable(outputs, threshold):
    assert judge(FavourableClasses((1,), (0,), threshold), outputs)[0] is False


def test_a_class_does_not_win_against_what_is_not_a_number():
    assert judge(FavourableClasses((1,), (0,)), [np.nan, 0.5])[0] is False


@pytest.mark.parametrize(
    ("value", "favourable"), [(1.9, False), (2.0, True), (3.0, True), (3.1, False), (np.nan, False), (np.inf, False)]
)
def test_a_regression_is_favourable_inside_its_interval(value: float, favourable: bool):
    assert judge(FavourableInterval(2.0, 3.0), [value])[0] is favourable


def test_an_infinite_score_among_finite_ones_is_not_favourable():
    """Neither side of infinity, not even in a tie or below an open end."""
    verdict = Verdict.of(np.array([[-np.inf, 0], [0.5, 0], [np.inf, 0]], dtype=np.float32), FavourableInterval(None, 3))
    assert verdict.favourable.tolist() == [False, True, False]
    outputs = np.array([[-np.inf, -np.inf], [0.6, 0.4]], dtype=np.float32)
    assert Verdict.of(outputs, FavourableClasses((0,), (1,))).favourable.tolist() == [False, True]


@pytest.mark.parametrize(("classes", "others"), [((0, 1), (2,)), ((0, 2), (1,)), ((1, 2), (0,)), ((1,), (0, 2))])
def test_a_tie_among_several_classes_goes_where_argmax_goes(classes, others):
    for outputs in ([0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.4, 0.2, 0.4], [0.3, 0.3, 0.3]):
        assert judge(FavourableClasses(classes, others), outputs)[0] is (int(np.argmax(outputs)) in classes)


def test_an_interval_may_be_open():
    assert judge(FavourableInterval(None, 3.0), [-1e30])[0] is True
    assert judge(FavourableInterval(3.0, None), [np.inf])[0] is False


@pytest.mark.parametrize(
    ("low", "high", "merits"),
    [
        (2.0, 3.0, [-6.0, -1.0, 0.0, 0.0, 0.0, -2.0]),
        (2.0, None, [-6.0, -1.0, 0.0, 0.0, 0.0, 0.0]),
        (None, 3.0, [0.0, 0.0, 0.0, 0.0, 0.0, -2.0]),
    ],
)
def test_the_merit_of_a_value_is_how_little_it_lacks(low: float | None, high: float | None, merits: list[float]):
    values = np.array([-4.0, 1.0, 2.0, 2.5, 3.0, 5.0])
    assert FavourableInterval(low, high).merit(values).tolist() == merits


@pytest.mark.parametrize(("low", "high", "closest"), [(3.5, None, (0, 1, 2)), (-9.0, -1.0, ()), (0.4, 0.9, (0,))])
def test_what_comes_closest_to_an_interval_is_told(low: float, high: float | None, closest: tuple[int, ...]):
    """Each of three changes raises the value by one, and none suffices."""
    case, network = at_least(1, of=3)
    problem = pose_case(case)
    budget = Budget(Limits(100, 600.0), time.perf_counter, time.perf_counter(), StopFlag())
    counting = Counting(**vars(network))
    oracle = Oracle(counting, FavourableInterval(low, high), problem.instance, problem.moves, budget)
    search = Search(problem, oracle, budget)
    assert search.judge_instance(together=True).favourable.tolist() == [False]
    (explained,) = (fact for fact in search.facts(Engine.LATTICE) if isinstance(fact, Explained))
    assert (explained.best.moves, explained.best.label) == (closest, NO_CLASS)


class Counting(Network):
    """A regression: the number of changes."""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return rows.sum(axis=1, keepdims=True)
