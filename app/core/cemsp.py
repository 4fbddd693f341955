"""The paper's search: the solver proposes a subset, the model judges it, it is grown or shrunk, and blocked.

Growing and shrinking go feature by feature, as published. The rows that such a walk may need are scored together,
ahead of time: the walk is the same, in fewer calls. Each answer is checked against all of its subsets before it is
sent, because a walk finds a minimal one only where the model is monotone.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import fsum

import numpy as np

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Fact, Found, Working
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.seed_map import SeedMap, Subset


@dataclass(frozen=True, slots=True)
class Searched:
    """What ended the search, and whether it ever leant on the model being monotone."""

    stopped_by: StoppedBy | None
    assumed_monotone: bool


def explore(judge: "SubsetJudge", seeds: SeedMap, budget: Budget) -> Generator[Fact, None, Searched]:
    """Search until the map has no seed left or the budget is spent."""
    assumed_monotone = False
    try:
        while (seed := seeds.propose()) is not None:
            if not budget.wants_answers():
                raise Stopped(StoppedBy.MAX_COUNTERFACTUALS)
            if judge.favourable(seed):
                answer = judge.smallest_within(judge.shrink(seed))
                seeds.block_up(answer)
                budget.take_answer()
                yield judge.found(answer)
            else:
                assumed_monotone = True
                seeds.block_down(judge.grow(seed))
                yield Working()
    except Stopped as stopped:
        return Searched(stopped.by, assumed_monotone)
    return Searched(None, assumed_monotone)


class SubsetJudge:
    """Grow and Shrink of the paper, and the check that an answer is minimal.

    Subsets of at most `settled` moves are known not to be answers: they are never asked about again.
    """

    def __init__(self, problem: Problem, oracle: Oracle, settled: int) -> None:
        self._oracle = oracle
        self._weights = [move.weight for move in problem.moves]
        self._settled = settled

    def favourable(self, subset: Subset) -> bool:
        return bool(self._judged([subset]).favourable[0])

    def found(self, subset: Subset) -> Found:
        verdict = self._judged([subset])
        moves = tuple(sorted(subset))
        cost = fsum(self._weights[move] for move in moves)
        return Found(moves, cost, verdict.score[0], int(verdict.label[0]))

    def grow(self, subset: Subset) -> Subset:
        """Add every move that leaves the model unfavourable, one after the other."""
        outside = [move for move in range(len(self._weights)) if move not in subset]
        while outside:
            steps = [subset.union(outside[: count + 1]) for count in range(len(outside))]
            kept = self._walk(steps, until_favourable=True)
            subset = subset.union(outside[:kept])
            outside = outside[kept + 1 :]
        return subset

    def shrink(self, subset: Subset) -> Subset:
        """Take back every move that leaves the model favourable, one after the other."""
        inside = sorted(subset)
        while inside and len(subset) > self._settled + 1:
            longest = min(len(inside), len(subset) - self._settled - 1)
            steps = [subset.difference(inside[: count + 1]) for count in range(longest)]
            dropped = self._walk(steps, until_favourable=False)
            subset = subset.difference(inside[:dropped])
            inside = inside[dropped + 1 :]
        return subset

    def smallest_within(self, subset: Subset) -> Subset:
        """The first favourable subset of it, smallest first; itself, if no other is. Minimal for any model."""
        sizes = range(self._settled + 1, len(subset))
        smaller = chain.from_iterable(combinations(sorted(subset), size) for size in sizes)
        for batch in _batches(smaller, self._oracle.batch_rows):
            while batch:
                verdict = self._judged(batch)
                if verdict.favourable.any():
                    return frozenset(batch[int(verdict.favourable.argmax())])
                batch = batch[len(verdict) :]
        return subset

    def _walk(self, steps: Sequence[Subset], until_favourable: bool) -> int:
        """How many steps can be taken before the model's answer turns."""
        taken = 0
        while taken < len(steps):
            favourable = self._judged(steps[taken : taken + self._oracle.batch_rows]).favourable
            turned = np.flatnonzero(favourable == until_favourable)
            if len(turned):
                return taken + int(turned[0])
            taken += len(favourable)
        return taken

    def _judged(self, subsets: Sequence[Iterable[int]]) -> Verdict:
        truths = np.zeros((len(subsets), len(self._weights)), dtype=np.bool_)
        for row, subset in enumerate(subsets):
            truths[row, list(subset)] = True
        return self._oracle.judge(truths)


def _batches(subsets: Iterator[tuple[int, ...]], rows: int) -> Iterator[list[tuple[int, ...]]]:
    while batch := list(islice(subsets, rows)):
        yield batch
