"""Made-up people are nobody's row."""

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
        assert not {*made_up} & {*rows}
