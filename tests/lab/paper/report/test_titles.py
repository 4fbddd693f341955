"""Names and looks: complete, and each enough to tell one method from another."""

from dataclasses import replace

import pytest

from lab.paper.report.published_figures import EXACT_WITH_THEIR_MODELS, PUBLISHED, SIGMAS
from lab.paper.report.titles import METHODS, METRICS, methods_of, number, people, sigmas_of
from tests.lab.paper.report import made_up


def test_no_two_methods_look_the_same_without_colour():
    looks = [(one.hatch, one.marker) for one in METHODS.values()]
    assert len(set(looks)) == len(looks)
    assert len({one.marker for one in METHODS.values()}) == len(METHODS)


def test_no_two_methods_have_the_same_name_or_colour():
    for names in zip(*((one.title, one.short, one.colour) for one in METHODS.values()), strict=True):
        assert len(set(names)) == len(names)


def test_the_measures_of_the_results_are_all_named():
    assert set(METRICS) == set(made_up.three()[0].methods["exact"].metrics)


def test_a_heading_says_which_way_is_better():
    assert METRICS["sparsity"].heading == "Sparsity ↑"
    assert METRICS["milliseconds"].heading == "Time, ms ↓"


def test_methods_come_in_the_order_of_their_table():
    assert methods_of(made_up.three()) == list(METHODS)


def test_a_method_without_a_title_is_named():
    odd = replace(made_up.with_nothing(), methods={"guess": made_up.with_nothing().methods["exact"]})
    with pytest.raises(ValueError, match="guess"):
        methods_of([odd])


def test_the_strengths_of_the_noise_come_in_order():
    assert sigmas_of(made_up.three()) == [0.0001, 0.001, 0.01, 0.1]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (0.00034, "0.00034"),
        (0.0025, "0.0025"),
        (0.08, "0.080"),
        (0.706, "0.706"),
        (1, "1.00"),
        (12.34, "12.3"),
        (153.2, "153"),
        (39123.4, "39,123"),
    ],
)
def test_numbers_have_two_or_three_digits(value, words):
    assert number(value) == words


def test_one_person_is_not_people():
    assert [people(count) for count in (0, 1, 20)] == ["0 people", "1 person", "20 people"]


def test_the_published_figures_cover_the_six_methods_of_the_paper():
    paper = {"growing_spheres", "plain_cf", "dice", "cf_proto", "sns", "published"}
    assert all(set(methods) == paper for methods in PUBLISHED.values())
    assert all(tuple(one.noise) == SIGMAS for methods in PUBLISHED.values() for one in methods.values())


def test_what_the_authors_did_not_measure_is_not_among_their_figures():
    assert all("exact" not in methods for methods in PUBLISHED.values())
    assert EXACT_WITH_THEIR_MODELS["hcv", "hcv-paper-tight"].retrained == 0.621
