"""The share of people whose plans hold: counted by a plain walk, and only if the run tells it."""

import random
from dataclasses import replace
from pathlib import Path

from app.cohorts.report import run as runs
from app.cohorts.report.counting.figures import gather
from app.cohorts.report.run import read_run
from tests.cohorts.report.made_up import Person, favourable, found, without, write_run
from tests.cohorts.report.reading import report_on

SHARES = [None, 0.0, 0.5, 0.94, 0.95, 1.0]


def somebody(rng: random.Random) -> Person:
    if rng.random() < 0.3:
        return rng.choice([favourable(), without()])
    answers = ["debt", "loan late", "late"][: rng.randint(1, 3)]
    return replace(found(*answers), shares=[rng.choice(SHARES) for _ in answers])


def test_people_are_counted_once_however_the_tables_are_cut(tmp_path: Path, monkeypatch):
    rng = random.Random(19)  # noqa: S311 - nothing here is a secret
    people = [somebody(rng) for _ in range(200)]
    with_known = [one for one in people if any(share is not None for share in one.shares)]
    first = sum((one.shares[0] or 0) >= 0.95 for one in with_known)
    some = sum(any((share or 0) >= 0.95 for share in one.shares) for one in with_known)
    for batch_rows in (1, 2, 7, 10_000):
        monkeypatch.setattr(runs, "BATCH_ROWS", batch_rows)
        tally = gather(read_run(write_run(tmp_path / f"run-{batch_rows}", people, parts=3)), []).holding
        assert tally is not None
        assert (tally.by_the_first, tally.by_any) == ((first, len(with_known)), (some, len(with_known)))


def test_the_page_says_it_where_it_is_known(tmp_path: Path):
    people = [
        replace(found("debt", "loan"), shares=[0.95, 0.2]),
        replace(found("debt", "loan"), shares=[0.9, 1.0]),
        replace(found("debt"), shares=[0.4]),
        replace(found("debt"), shares=[None]),
    ]
    page = report_on(write_run(tmp_path / "told", people))
    assert page.table("People whose plans hold") == [
        ["The first plan holds", "1", "33.3 %", "6.1 to 79.2 %"],
        ["At least one plan holds", "2", "66.7 %", "20.8 to 93.9 %"],
    ]
    assert "in at least 95% of repeated measurements" in page.section("changes")
    silent = report_on(write_run(tmp_path / "silent", [found("debt")]))
    unknown = report_on(write_run(tmp_path / "unknown", people[3:]))
    assert "Plans that hold" not in silent.words + unknown.words
