"""Sets of moves that take the same ways through trees, against a plain comparison of the ways of each."""

import numpy as np

from app.core.subsets.masks import of_truths
from app.core.through.searches.alike import Alike
from app.core.through.view import Ways
from tests.support.scale import scaled
from tests.support.seeds import Seeds


def test_sets_are_alike_exactly_if_they_take_the_same_ways():
    for seed in Seeds(scaled(40), first=186_000):
        rng = np.random.default_rng(seed)
        moves = int(rng.integers(1, 80))
        ways = random_ways(rng, moves)
        sets = rng.random((200, moves)) < rng.random((200, 1))
        taken = [taken_by(each, ways) for each in sets]
        alike = Alike(ways, moves)
        firsts, like = alike.firsts(of_truths(sets))
        assert [int(firsts[each]) for each in like] == [taken.index(each) for each in taken], seed
        refused = rng.random(200) < 0.2
        for part in (slice(0, 0), slice(0, 100), slice(100, 200)):
            alike.refuse(of_truths(sets[part][refused[part]]))
        known = {taken[each] for each in np.flatnonzero(refused)}
        assert alike.refused(of_truths(sets)).tolist() == [each in known for each in taken], seed


def random_ways(rng: np.random.Generator, moves: int) -> Ways:
    """Ways that ask about at most four moves each."""
    made, left = np.zeros((2, int(rng.integers(0, 30)), moves), dtype=np.bool_)
    for way in range(len(made)):
        for move in rng.permutation(moves)[: rng.integers(0, 5)]:
            (made if rng.random() < 0.5 else left)[way, move] = True
    return Ways(made, left)


def taken_by(chosen: np.ndarray, ways: Ways) -> tuple[bool, ...]:
    pairs = zip(ways.made, ways.left, strict=True)
    return tuple(bool(chosen[made].all() and not chosen[left].any()) for made, left in pairs)
