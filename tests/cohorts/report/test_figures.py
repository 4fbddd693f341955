"""The numbers of a report: counted by hand, and by a plain walk over the same people."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.cohorts.report import run as runs
from app.cohorts.report.counting.answers import FeatureTally
from app.cohorts.report.counting.comparisons import compare, different_ones
from app.cohorts.report.counting.figures import Figures, gather
from app.cohorts.report.counting.people import ASSUMED, Outcomes
from app.cohorts.report.errors import DamagedRun
from app.cohorts.report.run import read_run
from tests.cohorts.report.made_up import Person, favourable, found, unknown, without, write_run

FEATURES = ["debt", "loan", "late", "age", "sum"]
ITEMS = ["immutable[0]", "max_changes", "exclusive[0]", "registry:required[0]"]


def gathered(folder: Path, people: list[Person], *by: str, parts: int = 1, **options) -> Figures:
    return gather(read_run(write_run(folder, people, parts=parts, **options)), by)


def test_outcomes_are_counted_by_group_and_null_is_a_group(tmp_path: Path):
    people = [
        favourable(sex="f"),
        found("debt", sex="f"),
        without(sex="f"),
        without(sex="f"),
        found("debt", sex="m"),
        unknown(sex="m"),
        without(sex=None),
    ]
    [tally] = gathered(tmp_path / "run", people).people.groups
    assert tally.grouping.labels == ("f", "m", None)
    assert [tally.outcomes(group) for group in tally.groups()] == [
        Outcomes(1, 1, 2, 0),
        Outcomes(0, 1, 0, 1),
        Outcomes(0, 0, 1, 0),
    ]
    assert tally.everyone() == Outcomes(1, 2, 3, 1)
    # Whoever is unknown is refused, but on neither side of the share.
    assert tally.everyone().refused == 6
    assert tally.everyone().without == (3, 5)


def test_a_feature_counts_for_a_person_in_every_answer_or_in_some(tmp_path: Path):
    people = [found("debt", "debt loan"), found("loan", "late"), favourable(), found("late debt"), without()]
    features = gathered(tmp_path / "run", people).features
    assert features.people == 3
    assert features.every == {"debt": 2, "late": 1}
    assert features.some == {"debt": 2, "loan": 2, "late": 2}


def test_items_count_alone_or_only_together(tmp_path: Path):
    people = [
        without("max_changes"),
        without("max_changes", "immutable[0] exclusive[0]"),
        without("immutable[0] exclusive[0]", "immutable[0] required[0]"),
        without(),
        replace(without(), reason=None),
    ]
    obstacles = gathered(tmp_path / "run", people).people.obstacles
    assert obstacles.reasons == {"constraints": 3, "ranges": 1, None: 1}
    assert obstacles.alone == {"max_changes": 2}
    assert obstacles.together == {"immutable[0]": 2, "exclusive[0]": 2, "required[0]": 1}
    assert obstacles.freed_by_one == 2


def test_what_is_complete_and_what_stopped_is_counted_among_the_refused(tmp_path: Path):
    people = [
        favourable(),
        found("debt"),
        replace(found("debt"), complete=False, guarantee="assumes_monotone", complete_up_to=1),
        replace(found("debt"), complete=False, stopped_by="max_model_rows", complete_up_to=4),
        replace(found("debt"), complete=False, stopped_by="max_model_rows", complete_up_to=2),
        unknown(),
        without(),
    ]
    tally = gathered(tmp_path / "run", people).people
    assert tally.completeness.exact == 2
    assert tally.completeness.others == {"max_model_rows": 2, "deadline": 1, ASSUMED: 1}
    assert tally.completeness.least_complete == {"max_model_rows": 2, "deadline": 1, ASSUMED: 1}
    assert tally.completeness.people == 6
    assert tally.found_in_part == 3


def test_rejects_are_counted_by_field_and_reason(tmp_path: Path):
    told = [("debt", "must be a number")] * 3 + [("loan", "must be a number"), ("", "is cut short")]
    rejects = gathered(tmp_path / "run", [], rejects=told).rejects
    assert rejects.rows == 5
    assert rejects.reasons == {
        ("debt", "must be a number"): 3,
        ("loan", "must be a number"): 1,
        ("", "is cut short"): 1,
    }


def test_reasons_without_end_are_counted_and_not_kept(tmp_path: Path):
    rejects = gathered(tmp_path / "run", [], rejects=[("debt", f"{place} is none") for place in range(1500)]).rejects
    assert (rejects.rows, len(rejects.reasons), rejects.other) == (1500, 1000, 500)


def made_up_people(seed: int, count: int) -> list[Person]:
    """Anybody, by a seed."""
    chance = random.Random(seed)  # noqa: S311 - nothing here is a secret
    return [_anybody(chance) for _ in range(count)]


def _anybody(chance: random.Random) -> Person:
    kept = {"sex": chance.choice(["f", "m", None]), "age": chance.choice([None, *range(18, 90)])}
    sets = [" ".join(chance.sample(ITEMS, chance.randint(1, 2))) for _ in range(chance.randint(0, 3))]
    answers = {" ".join(sorted(chance.sample(FEATURES, chance.randint(1, 3)))) for _ in range(chance.randint(1, 9))}
    person = chance.choice([favourable(**kept), found(*answers, **kept), without(*set(sets), **kept), unknown(**kept)])
    best = None if person.best_score is None else chance.random()
    return replace(person, score=chance.random(), best_score=best)


@pytest.mark.parametrize(("seed", "parts", "rows"), [(1, 1, 32_768), (2, 7, 32_768), (3, 3, 1), (4, 2, 7), (5, 1, 100)])
def test_everything_is_as_a_plain_walk_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, parts: int, rows: int
):
    """Also where the answers of a person are spread over batches."""
    monkeypatch.setattr(runs, "BATCH_ROWS", rows)
    people = made_up_people(seed, 400)
    kinds = {"sex": pa.string(), "age": pa.int64()}
    figures = gathered(tmp_path / "run", people, "sex", "age", parts=parts, kept=kinds, score="float64")
    tally, ways = figures.people, [one for one in people if one.outcome == "found"]
    answers = [[set(answer.split()) for answer in one.answers] for one in ways]
    every = Counter(name for one in answers for name in set.intersection(*one))
    some = Counter(name for one in answers for name in set.union(*one))
    assert (figures.features.people, figures.features.every, figures.features.some) == (len(ways), every, some)
    assert tally.answers.counts == Counter(map(len, answers))
    fewest = [min(map(len, one)) for one in answers]
    assert tally.changes.counts == Counter(fewest)
    assert (tally.changes.mean(), tally.changes.median()) == (pytest.approx(mean(fewest)), median(fewest))
    assert_groups(figures, people)
    assert_obstacles(figures, people)


def assert_groups(figures: Figures, people: list[Person]) -> None:
    sex, age = figures.people.groups
    for place, label in enumerate(sex.grouping.labels):
        members = [one for one in people if one.kept["sex"] == label]
        assert_members(sex, place, members)
    known = [one for one in people if one.kept["age"] is not None]
    assert sum(age.outcomes(place).people for place in age.groups()[:-1]) == len(known)
    under = float((age.grouping.labels[0] or "").removeprefix("under "))
    assert_members(age, 0, [one for one in known if one.kept["age"] < under])


def assert_members(tally, place: int, members: list[Person]) -> None:
    counts = Counter(one.outcome for one in members)
    names = ("already_favourable", "found", "no_recourse", "unknown")
    assert tally.outcomes(place) == Outcomes(*(counts[name] for name in names))
    ways = [one for one in members if one.outcome == "found"]
    assert tally.before.median(place) == pytest.approx(median(one.score for one in ways), abs=1e-4)
    assert tally.after.median(place) == pytest.approx(median(one.best_score or 0 for one in ways), abs=1e-4)


def assert_obstacles(figures: Figures, people: list[Person]) -> None:
    held = [[set(items) for items in one.in_the_way] for one in people if one.in_the_way]
    alone = Counter(name for one in held for name in {name for items in one if len(items) == 1 for name in items})
    together = Counter(name for one in held for name in {name for items in one if len(items) > 1 for name in items})
    obstacles = figures.people.obstacles
    assert (obstacles.alone, obstacles.together) == (alone, together)
    assert obstacles.freed_by_one == sum(any(len(items) == 1 for items in one) for one in held)


def test_each_group_is_held_against_all_others(tmp_path: Path):
    """The published example: 56 of 70 against 48 of 80."""
    people = [without(g="a")] * 56 + [found("debt", g="a")] * 14 + [without(g="b")] * 48 + [found("debt", g="b")] * 32
    comparisons = compare(gathered(tmp_path / "run", people).people.groups[0])
    assert [one.label for one in comparisons] == ["a", "b"]
    assert all(one.clear and not one.few for one in comparisons)
    [one] = different_ones(comparisons)
    assert one.sentence() == (
        "Of the refused, 80.0\u00a0% of the group “a” (g) have no way out, 60.0\u00a0% of all others: "
        "20.0 points more (95\u00a0% interval 5.2 to 33.4)."
    )
    assert comparisons[1].sentence().endswith("20.0 points fewer (95\u00a0% interval 5.2 to 33.4).")


def test_a_difference_that_is_not_clear_or_of_few_is_told_as_such(tmp_path: Path):
    # Wilson: 3 of 10 from 0.1078 to 0.6032, 20 of 100 from 0.1334 to 0.2888; the rest is Pythagoras.
    people = [without(g="a")] * 3 + [found("debt", g="a")] * 7 + [without(g="b")] * 20 + [found("debt", g="b")] * 80
    [one] = different_ones(compare(gathered(tmp_path / "run", people).people.groups[0]))
    assert one.few
    assert "10.0 points more, which is not clear (95\u00a0% interval from 11.2 fewer to 41.0 more)." in one.sentence()
    assert one.sentence().endswith("Few people: fewer than 30 refused on one side.")


def test_the_unknown_bound_a_difference(tmp_path: Path):
    people = [
        without(g="a"),
        found("debt", g="a"),
        unknown(g="a"),
        unknown(g="a"),
        without(g="b"),
        found("debt", g="b"),
    ]
    [one, _] = compare(gathered(tmp_path / "run", people).people.groups[0])
    assert one.difference is not None
    assert one.difference.value == 0
    assert one.bounds() == (1 / 4 - 1 / 2, 3 / 4 - 1 / 2)
    assert "Of the refused with a known outcome" in one.sentence()
    assert "no difference (95" in one.sentence()


def test_a_clear_difference_that_the_unknown_could_turn_says_so(tmp_path: Path):
    sides = [without(g="a")] * 40 + [found("debt", g="a")] * 10 + [without(g="b")] * 10 + [found("debt", g="b")] * 40
    [few] = different_ones(compare(gathered(tmp_path / "few", [*sides, unknown(g="b")]).people.groups[0]))
    [many] = different_ones(compare(gathered(tmp_path / "many", [*sides, *[unknown(g="b")] * 200]).people.groups[0]))
    assert few.clear
    assert many.clear
    assert not few.sentence().endswith("could change this.")
    assert many.sentence().endswith("People with an unknown outcome could change this.")


def test_a_group_of_which_nothing_is_known_is_compared_with_nothing(tmp_path: Path):
    people = [unknown(g="a"), favourable(g="c"), without(g="b"), found("debt", g="b")]
    comparisons = compare(gathered(tmp_path / "run", people).people.groups[0])
    assert [one.difference for one in comparisons] == [None, None, None]
    assert different_ones(comparisons) == []


def test_answers_out_of_order_are_not_counted_wrong_but_refused(tmp_path: Path):
    folder = write_run(tmp_path / "run", [found("debt"), found("loan")])
    part = folder / "counterfactuals" / "part-00000.parquet"
    pq.write_table(pq.read_table(part).take([1, 0]), part)
    with pytest.raises(DamagedRun, match="not in the order"):
        gather(read_run(folder), [])


def test_an_outcome_of_another_version_is_refused(tmp_path: Path):
    with pytest.raises(DamagedRun, match="'pending'"):
        gathered(tmp_path / "run", [Person("pending")])


def test_a_tally_without_answers_is_finished_at_once():
    tally = FeatureTally()
    tally.finish()
    assert tally.people == 0
