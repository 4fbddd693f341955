"""The four-fifths ratio and the reasons of a report: published intervals, counts by hand, and what the page says."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cohorts.report.counting.fifths import FOUR_FIFTHS, ratios_of
from app.cohorts.report.counting.figures import gather
from app.cohorts.report.counting.intervals import Part, koopman
from app.cohorts.report.run import read_run
from app.cohorts.report.wording import NONE
from tests.cohorts.report.made_up import Person, favourable, found, unknown, without, write_run
from tests.cohorts.report.reading import Page, report_on

# Koopman (1984), Biometrics 40, 513-517, the example, as Nam (1995), Biometrics 51, 1119-1121, has it too; and that of
# Fagerland, Lydersen and Laake (2015), Statistical Methods in Medical Research 24, 224-254, to the digits that
# riskscoreci of R's package PropCIs gives.
RATIOS = [
    (Part(36, 40), Part(16, 80), 2.940, 7.152, 5e-4),
    (Part(7, 34), Part(1, 34), 1.220853, 42.575718, 1e-6),
]
counts = st.integers(1, 2_000)
parts = counts.flatmap(lambda of: st.builds(Part, st.integers(0, of), st.just(of)))
some = counts.flatmap(lambda of: st.builds(Part, st.integers(1, of), st.just(of)))


@pytest.mark.parametrize(("one", "other", "low", "high", "close"), RATIOS)
def test_a_ratio_has_the_interval_that_is_published(one: Part, other: Part, low: float, high: float, close: float):
    found = koopman(one, other)
    assert found.value == pytest.approx(one.share / other.share)
    assert (found.low, found.high) == pytest.approx((low, high), abs=close)


@given(some, some)
def test_a_ratio_seen_from_the_other_side_is_its_inverse(one: Part, other: Part):
    found, inverse = koopman(one, other), koopman(other, one)
    assert tuple(found) == pytest.approx((1 / inverse.value, 1 / inverse.high, 1 / inverse.low), rel=1e-6)


@given(parts, some)
def test_the_interval_of_a_ratio_holds_it(one: Part, other: Part):
    found = koopman(one, other)
    assert 0 <= found.low <= found.value <= found.high
    assert (found.low == 0) == (one.some == 0)


@pytest.mark.parametrize("times", [1, 3, 100])
def test_exactly_four_fifths_is_not_under(times: int):
    assert koopman(Part(12 * times, 21 * times), Part(10 * times, 14 * times)).value == FOUR_FIFTHS


def people(group: str, favoured: int, refused: int) -> list[Person]:
    return [favourable(g=group)] * favoured + [found("debt", g=group)] * refused


def test_each_group_is_held_against_the_one_with_the_largest_share(tmp_path: Path):
    """One of few people is not what the others are held against."""
    run = write_run(tmp_path / "run", [*people("a", 60, 40), *people("b", 40, 60), *people("c", 2, 0)])
    [tally] = gather(read_run(run), []).people.groups
    found = {one.name: one for one in ratios_of(tally)}
    assert set(found) == {"b", "c"}
    assert found["b"].ratio == koopman(Part(40, 100), Part(60, 100))
    assert (found["b"].is_under, found["b"].few, found["c"].few) == (True, False, True)
    assert found["c"].most_name == "a"


def test_the_page_marks_what_is_clearly_under_four_fifths_and_says_it_at_the_top(tmp_path: Path):
    page = report_on(write_run(tmp_path / "run", [*people("a", 160, 40), *people("b", 90, 110), *people("c", 75, 25)]))
    assert page.table("Favourable decisions by g") == [
        ["a", "200", "160", "80.0 %", "1", NONE, "the most"],
        ["b", "200", "90", "45.0 %", "0.56", "0.47 to 0.66", "▼ under"],
        ["c", "100", "75", "75.0 %", "0.94", "0.81 to 1.06", "four fifths or more"],
    ]
    [header] = page.all("header")
    assert "“a”: 0.56 times that share (95 % interval 0.47 to 0.66), under four fifths." in " ".join(
        "".join(header.itertext()).replace("\u00a0", " ").split()
    )
    assert "no legal determination" in page.section("fifths")
    alike = report_on(write_run(tmp_path / "alike", [*people("a", 78, 22), *people("b", 60, 40)]))
    assert alike.table("Favourable decisions by g")[1][4:] == ["0.77", "0.63 to 0.93", "○ not clear"]


@pytest.mark.parametrize(("asked", "is_said"), [({"require": 0.9}, True), ({"more": "require"}, True), ({}, False)])
def test_the_page_says_where_decisions_have_to_hold(tmp_path: Path, asked: dict[str, object], is_said: bool):
    run = write_run(tmp_path / "run", [*people("a", 3, 1), *people("b", 1, 3)], request={"robustness": asked})
    assert ("only if it is known to hold as well" in report_on(run).section("fifths")) == is_said


@pytest.mark.parametrize("run", [[], people("a", 0, 5), [*people("a", 0, 5), *people("b", 0, 5)]])
def test_where_there_is_nothing_to_compare_the_page_says_so(tmp_path: Path, run: list[Person]):
    page = report_on(write_run(tmp_path / "run", run))
    assert "There is nothing to compare" in page.section("fifths") or "No column" in page.section("fifths")


FEATURES = ["debt", "loan", "late"]


def with_reasons(person: Person, *names: str) -> Person:
    return replace(person, reasons=list(names))


def drawn(seed: int) -> list[Person]:
    rng = Random(seed)  # noqa: S311  # nothing here is a secret
    made = []
    for _ in range(400):
        group = rng.choice(["x", "y", None])
        kind = rng.choice([found("debt", g=group), without(g=group), unknown(g=group), favourable(g=group)])
        if kind.outcome in ("found", "no_recourse"):
            kind = with_reasons(kind, *rng.sample(FEATURES, rng.randrange(4)))
        made.append(kind)
    return made


def test_reasons_are_counted_as_by_a_plain_walk(tmp_path: Path):
    for seed in range(5):
        everyone = drawn(seed)
        tally = gather(read_run(write_run(tmp_path / str(seed), everyone, parts=3)), []).reasons
        assert tally is not None
        assert tally.unknown == sum(person.outcome == "unknown" for person in everyone)
        [column] = tally.groups
        for place, label in enumerate(column.grouping.labels):
            known = [one for one in everyone if one.reasons is not None and one.kept["g"] == label]
            stated = column.stated[place]
            assert stated.known == len(known)
            assert stated.named == Counter(name for one in known for name in one.reasons or ())
            assert stated.first == Counter(one.reasons[0] for one in known if one.reasons)


TEXTS = {"debt": {"text": "Too much debt", "code": "1"}}


@pytest.fixture
def page(tmp_path: Path) -> Page:
    told = [
        *[with_reasons(found("debt", sex="f"), "debt", "late")] * 40,
        *[with_reasons(without(sex="f"))] * 10,
        *[with_reasons(found("late", sex="m"), "late")] * 40,
        unknown(sex="m"),
        favourable(sex="m"),
    ]
    return report_on(write_run(tmp_path / "run", told, reasons=TEXTS))


def test_the_page_says_for_how_many_each_feature_is_a_reason(page: Page):
    assert page.table("Reasons") == [
        ["late Late payments", NONE, NONE, "80", "88.9 %", "40", "44.4 %"],
        ["debt Debt payments to income", "Too much debt", "1", "40", "44.4 %", "40", "44.4 %"],
    ]
    assert page.table("Share of the refused of each sex with a reason") == [
        ["late Late payments", "80.0 % ▼", "100.0 % ▲"],
        ["debt Debt payments to income", "80.0 % ▲", "0.0 % ▼"],
    ]
    said = page.section("reasons")
    assert "The reasons of 1 person more are not known" in said
    assert "2 comparisons are made here" in said


def test_a_run_that_did_not_look_for_reasons_says_how_to(tmp_path: Path):
    page = report_on(write_run(tmp_path / "run", people("a", 1, 1)))
    assert "they are found with --reasons" in page.section("reasons")
