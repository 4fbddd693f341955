"""Which subsets contain a known answer, against a plain comparison of sets."""

import numpy as np

from app.core.subsets.masks import of_sets
from app.core.through.networks.known import KnownAnswers
from tests.support.scale import scaled
from tests.support.seeds import Seeds


def test_subsets_and_blocks_that_contain_an_answer():
    for seed in Seeds(scaled(40), first=181_000):
        rng = np.random.default_rng(seed)
        moves = int(rng.integers(1, 20))
        low = int(rng.integers(0, min(moves, 6) + 1))
        known = KnownAnswers(moves, low)
        answers: list[int] = []
        for _ in range(3):
            new = [int(rng.integers(1, 2**moves)) & int(rng.integers(1, 2**moves)) or 1 for _ in range(40)]
            known.add(of_sets(new, moves))
            known.take_in()
            answers += new
            subsets = [int(number) for number in rng.integers(0, 2**moves, 60)]
            expected = [any(answer & subset == answer for answer in answers) for subset in subsets]
            assert known.inside(of_sets(subsets, moves)).tolist() == expected, seed
            blocks = sorted({subset >> low << low for subset in subsets})
            closed = [
                [any(answer & (block | choice) == answer for answer in answers) for choice in range(2**low)]
                for block in blocks
            ]
            assert known.closed_in(of_sets(blocks, moves)).tolist() == closed, seed
