"""Why there is no answer, seen through the model, against the explanation that judges every row."""

from collections import Counter

import numpy as np

from app.core.facts import Explained
from tests.core.through.test_many_moves import ask, linear
from tests.support.scale import scaled
from tests.support.searching import Run
from tests.support.seeds import Seeds
from tests.support.seen import random_person
from tests.support.sums import Addend


def test_it_tells_what_judging_every_row_tells():
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(250), first=180_000):
        person = random_person(seed, constrained=seed % 3 > 0)
        person.model.batch_rows = 16_384
        through = person.run("through")
        if through.found:
            continue
        by_rows = person.run("lattice")
        one, other = explained(through), explained(by_rows)
        assert one.explanation.relaxations == other.explanation.relaxations, seed
        assert (one.best, one.best_without_rules) == (other.best, other.best_without_rules), seed
        assert (one.reason, one.explanation.complete) == (other.reason, True), seed
        seen[str(one.reason)] += 1
        seen["without rules"] += one.best_without_rules is not None
    assert {"constraints", "ranges", "without rules"} <= {name for name, count in seen.items() if count}


def explained(run: Run) -> Explained:
    (only,) = (fact for fact in run.facts if isinstance(fact, Explained))
    return only


def test_of_more_candidates_than_are_searched_at_once_everything_is_told():
    """Any five of 24 features suffice, and three may change: all 2^24 subsets are sorted out."""
    model = linear([1.0] * 24)
    model.addends.append(Addend((0, 1), (0.5, 0.5), np.zeros((4, 1))))
    told = explained(ask(model, 24, 5.0, max_changes=3))
    assert told.explanation.complete
    assert [(each.items, each.found.moves) for each in told.explanation.relaxations] == [((0,), (0, 1, 2, 3, 4))]
    assert told.best is not None
    assert told.best.moves == (0, 1, 2)
