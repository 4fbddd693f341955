"""Why there is no answer, seen through the model, against the explanation that judges every row."""

from collections import Counter

from app.core.facts import Explained
from tests.support.scale import scaled
from tests.support.searching import Run
from tests.support.seeds import Seeds
from tests.support.seen import random_person


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
