"""The parts of learning, held against other libraries, brute force and definitions."""

import numpy as np
import pytest

from app.onboarding.learning.box_cox import fit_box_cox
from app.onboarding.learning.intervals import Method, NoInterval, Sides, reference_interval
from app.onboarding.learning.outliers import are_outliers
from app.onboarding.learning.partitions import differ
from app.onboarding.learning.policies import LEAST_CHI_SQUARE, Side, chi_square, turning_point
from app.onboarding.learning.robust import student_quantile
from app.onboarding.learning.rounding import Rounding
from tests.support.scale import scaled
from tests.support.seeds import Seeds

# From tables of Student's t.
STUDENT = {19: 2.0930, 29: 2.0452, 59: 2.0010, 118: 1.9803}


@pytest.mark.parametrize(("degrees", "quantile"), STUDENT.items())
def test_quantiles_of_student_are_those_of_tables(degrees: int, quantile: float):
    assert student_quantile(0.975, degrees) == pytest.approx(quantile, abs=5e-5)
    assert student_quantile(0.025, degrees) == pytest.approx(-quantile, abs=5e-5)


@pytest.mark.slow
def test_powers_and_quantiles_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    for seed in Seeds(scaled(10)):
        values = np.random.default_rng(seed).lognormal(1, 0.5, 300) + 1
        assert fit_box_cox(values).power == pytest.approx(stats.boxcox(values)[1], abs=1e-4)
    for degrees in range(19, 119):
        assert student_quantile(0.975, degrees) == pytest.approx(stats.t.ppf(0.975, degrees), abs=1e-5)


def test_a_transform_comes_back():
    for seed in Seeds(scaled(20)):
        rng = np.random.default_rng(seed)
        values = rng.normal(rng.uniform(-5, 5), 1, 50)
        transform = fit_box_cox(values)
        assert transform.back(transform.there(values)) == pytest.approx(values, abs=1e-6)


def test_skewed_values_need_a_transform_and_symmetric_ones_do_not():
    rng = np.random.default_rng(0)
    assert not fit_box_cox(rng.lognormal(0, 1, 100)).is_needless
    assert fit_box_cox(rng.normal(100, 5, 100)).is_needless


def test_a_typing_mistake_is_an_outlier_and_a_skewed_tail_is_not():
    rng = np.random.default_rng(1)
    values = np.append(rng.lognormal(3, 0.5, 300), 1e6)
    found = are_outliers(values, fit_box_cox(values[:-1]))
    assert found[-1]
    assert not found[:-1].any()


def test_small_groups_get_the_robust_method_and_it_says_so():
    values = np.random.default_rng(2).normal(10, 1, 119)
    assert reference_interval(values).method is Method.ROBUST
    assert reference_interval(np.random.default_rng(2).lognormal(0, 1, 60)).method is Method.ROBUST_BOX_COX


def test_the_same_people_always_get_the_same_interval():
    values = np.random.default_rng(3).normal(10, 1, 60)
    assert reference_interval(values) == reference_interval(values[::-1].copy())


def test_one_side_is_left_open_where_nobody_lies_beyond():
    rng = np.random.default_rng(4)
    counts = rng.poisson(1.0, 500).astype(float)
    interval = reference_interval(counts)
    assert interval.low is None
    assert interval.high.value == np.quantile(counts, 0.95, method="weibull")


def test_a_small_group_of_counts_has_no_limit_below_nought():
    counts = np.random.default_rng(3).poisson(2, 40).astype(float)
    assert reference_interval(counts - 10).low is not None
    interval = reference_interval(counts)
    assert (interval.low, interval.method is Method.NONPARAMETRIC) == (None, False)
    assert interval.high is not None
    assert interval.high.value == reference_interval(counts, Sides.HIGH).high.value


def test_a_forced_side_leaves_out_five_per_cent_there():
    values = np.sort(np.random.default_rng(5).normal(0, 1, 999))
    assert reference_interval(values, Sides.LOW).low.value == values[49]
    assert reference_interval(values, Sides.HIGH).high.value == values[949]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.arange(19.0), "only 19 people have a value; at least 20 are needed"),
        (np.full(200, 3.0), "everybody has the same value"),
        (np.repeat([1.0, 2.0], [60, 20]), "more than half of the people have the same value"),
    ],
)
def test_an_interval_that_cannot_be_learned_says_why(values: np.ndarray, reason: str):
    with pytest.raises(NoInterval, match=reason):
        reference_interval(values)


def test_large_groups_are_not_told_apart_for_differences_that_do_not_matter():
    rng = np.random.default_rng(6)
    alike = [rng.normal(100, 10, 20_000), rng.normal(100.5, 10, 20_000)]
    assert not differ(alike)
    assert differ([alike[0], alike[1] + 10])
    assert differ([alike[0], 100 + (alike[1] - 100) * 1.6])
    assert not differ([alike[0], alike[1][:19] + 50])


def test_the_turning_point_is_the_best_cut_there_is():
    """Brute force over every value, from the definition of chi-square."""
    for seed in Seeds(scaled(20), first=700):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 40, 400) / 100
        refused = rng.random(400) < np.where(values > 0.3, 0.5, 0.1)
        best = max(_chi_square(values, refused, cut) for cut in np.unique(values)[:-1])
        point = turning_point(values, refused)
        if best < LEAST_CHI_SQUARE:
            assert point is None
            continue
        assert point.is_high
        assert _chi_square(values, refused, point.value) >= 0.98 * best
        inside = values <= point.value
        assert (point.inside.people, point.inside.refused) == (inside.sum(), refused[inside].sum())
        assert (point.outside.people, point.outside.refused) == ((~inside).sum(), refused[~inside].sum())


def _chi_square(values: np.ndarray, refused: np.ndarray, cut: float) -> float:
    below = values <= cut
    if min(below.sum(), (~below).sum()) < 20:
        return 0.0
    seen = np.array([[(side & said).sum() for said in (refused, ~refused)] for side in (below, ~below)])
    expected = seen.sum(axis=1, keepdims=True) * seen.sum(axis=0, keepdims=True) / seen.sum()
    return float(((seen - expected) ** 2 / expected).sum())


def test_chi_square_is_that_of_the_definition():
    assert chi_square((Side(100, 10), Side(100, 30))) == pytest.approx(12.5)


def test_a_share_that_falls_gets_a_lower_limit():
    rng = np.random.default_rng(8)
    values = rng.uniform(0, 100, 2000)
    point = turning_point(values, rng.random(2000) < np.where(values < 40, 0.6, 0.1))
    assert not point.is_high
    assert point.value == pytest.approx(40, abs=1)
    assert point.outside.share > point.inside.share


def test_chance_alone_has_no_turning_point():
    found = 0
    for seed in Seeds(scaled(50), first=900):
        rng = np.random.default_rng(seed)
        found += turning_point(rng.normal(0, 1, 500), rng.random(500) < 0.2) is not None
    assert found <= 0.1 * scaled(50)


def test_limits_have_as_many_decimals_as_the_data():
    assert Rounding.of(np.array([1.0, 2.0]))(1.26) == 1
    assert Rounding.of(np.array([1.0, 2.5]))(1.26) == 1.3
    assert Rounding.of(np.array([np.pi, 2.5]))(1.2345678) == 1.2346
