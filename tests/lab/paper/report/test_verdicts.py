"""The verdicts: honest where the exact answers are not the steadiest."""

from lab.paper.report.verdicts import verdict, verdicts
from lab.paper.results import Mean, Robustness
from tests.lab.paper.report import made_up


def found(value: float | None, spread: float = 0.01, people: int = 20) -> Robustness:
    mean = Mean(None, None, None, 0) if value is None else Mean(value, value - spread, value + spread, people)
    return Robustness(mean, 20, 20 - mean.people)


def test_the_lowest_is_held_against_the_next():
    words = verdict({"exact": found(0.6), "published": found(0.8), "sns": found(1.2)})
    assert words == (
        "CEMSP exact (Flipset) is ahead of every baseline, 0.600 against 0.800 of CEMSP as published, "
        "lower by 0.200 (25%)."
    )


def test_who_is_ahead_is_named_with_the_difference():
    words = verdict({"exact": found(0.8), "cf_proto": found(0.7), "sns": found(0.6), "dice": found(2.0)})
    assert words == (
        "SNS is ahead, 0.600 against 0.800 of CEMSP exact (Flipset), lower by 0.200 (25%). Also ahead: CFProto."
    )


def test_two_that_are_ahead_together_are_both_named():
    words = verdict({"exact": found(0.8), "cf_proto": found(0.6), "sns": found(0.6)})
    assert words.startswith("CFProto and SNS are ahead, 0.600 against 0.800")


def test_overlapping_intervals_are_mentioned():
    assert verdict({"exact": found(0.6, 0.1), "sns": found(0.7, 0.1)}).endswith("; the 95 % intervals overlap.")
    assert "overlap" not in verdict({"exact": found(0.6, 0.01), "sns": found(0.7, 0.01)})


def test_means_over_different_numbers_of_people_say_so():
    words = verdict({"exact": found(0.5, people=19), "sns": found(1.0, people=12)})
    assert "0.500 (19 people) against 1.00 (12 people)" in words


def test_a_tie_is_a_tie():
    words = verdict({"exact": found(0.0, 0.0), "published": found(0.0, 0.0), "sns": found(0.4)})
    assert words == "CEMSP exact (Flipset) shares the lowest inconsistency, 0, with CEMSP as published."


def test_where_nothing_is_defined_nothing_is_said():
    assert verdict({"exact": found(None), "sns": found(1.0)}).startswith("nothing can be said")
    assert verdict({"exact": found(1.0), "sns": found(None)}).startswith("nothing to hold it against")


def test_every_data_set_and_every_change_gets_its_verdict():
    words = verdicts(made_up.three())
    # The made-up exact answers lose to SNS on hcv at 0.1; 5 changes on 3 data sets.
    assert words.startswith(
        "CEMSP exact (Flipset) is ahead of every baseline in 14 of 15 comparisons and is behind a baseline in 1."
    )
    assert words.count("  - after retraining:") == 3
    assert words.count("  - at sigma 0.1:") == 3
    assert "  - at sigma 0.1: SNS is ahead, 0.478 against 0.558" in words


def test_plans_that_hold_have_a_verdict_of_their_own():
    words = verdict({"robust": found(0.6), "sns": found(1.2)}, "robust")
    assert words.startswith("CEMSP exact, robust (Flipset) is ahead of every baseline, 0.600 against 1.20 of SNS")
    summary = verdicts(made_up.three(), "robust").splitlines()[0]
    assert "CEMSP exact (Flipset) and CEMSP as published are the same method in other forms" in summary
