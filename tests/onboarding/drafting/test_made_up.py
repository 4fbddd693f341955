"""Made-up people are nobody's row, or the row of many."""

from pathlib import Path

import numpy as np

from app.adapters.graphs.feeds import SCORES
from app.onboarding.drafting.features import draft
from app.onboarding.drafting.made_up import MadeUp
from app.onboarding.drafting.matching import Matched
from app.onboarding.reading.table import read_table
from tests.support.scale import scaled
from tests.support.seeds import Seeds


def test_nobody_is_made_up_who_is_in_the_table_whatever_group_they_are_in(tmp_path: Path):
    """Of few different rows most are taken: by the group, or by everybody else."""
    for seed in Seeds(scaled(10), first=7_100):
        rng = np.random.default_rng(seed)
        rows = [(int(rng.integers(6)), str(rng.choice(["a", "b"])), int(rng.integers(4))) for _ in range(60)]
        file = tmp_path / "people.csv"
        file.write_text("\n".join(["x,y,z", *(",".join(map(str, row)) for row in rows)]) + "\n")
        table = read_table(file, None)
        features = [draft(Matched(column, SCORES[0])) for column in table.columns.values()]
        group = np.arange(60) < 20
        made_up = [tuple(person.values()) for person in MadeUp(features, group, rng).people(200)]
        assert made_up
        assert all(rows.count(person) == 0 or rows.count(person) >= 5 for person in made_up)
        # Nobody's rows come first.
        shared = [person in rows for person in made_up]
        assert shared == sorted(shared)


def test_a_row_that_many_share_will_do_where_every_row_is_taken(tmp_path: Path):
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["x,y", *(["0,a", "0,b", "1,a"] * 5), *(["1,b"] * 4)]) + "\n")
    table = read_table(file, None)
    features = [draft(Matched(column, SCORES[0])) for column in table.columns.values()]
    people = MadeUp(features, np.ones(19, dtype=np.bool_), np.random.default_rng(0)).people(200)
    assert {tuple(person.values()) for person in people} == {(0, "a"), (0, "b"), (1, "a")}
