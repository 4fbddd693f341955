"""The truth of the comparison, held against the definition as the tests write it."""

import numpy as np
import pytest

from lab.paper.every_subset import EverySubset
from lab.paper.questions.posing import Posed
from tests.support.brute_force import Case, minimal_sets, movable
from tests.support.networks import random_case


@pytest.mark.parametrize("seed", range(40))
def test_the_minimal_sets_are_those_of_the_definition(seed: int):
    case, _ = random_case(seed)
    plain = Case(case.values, case.ranges, case.favourable, case.guides, case.move_to, case.whole)
    truth = EverySubset(Posed(np.array(plain.values, dtype=np.float32), movable(plain)), Scores(plain))
    assert truth.minimal == minimal_sets(plain)


class Scores:
    """Two classes, by what the case says of each row."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def scores(self, rows):
        favourable = np.array([self._case.favourable(row) for row in rows])
        return np.stack([~favourable, favourable], axis=1).astype(np.float32)
