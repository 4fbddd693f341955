"""Which random problems the tests draw: TEST_SEED moves all of them. The same number draws the same problems."""

import os
from collections.abc import Sequence
from typing import ClassVar

SEED = int(os.environ.get("TEST_SEED", "0"))

# Farther apart than the seeds of all tests together.
APART = 10**9


class Seeds(Sequence[int]):
    """So many seeds from `first` on. A test that fails in a loop over them prints the one that it had reached."""

    reached: ClassVar[int | None] = None

    def __init__(self, count: int, first: int = 0) -> None:
        self._seeds = range(SEED * APART + first, SEED * APART + first + count)

    def __len__(self) -> int:
        return len(self._seeds)

    def __getitem__(self, place: int) -> int:
        Seeds.reached = self._seeds[place]
        return Seeds.reached
