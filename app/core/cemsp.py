"""The paper's search: the solver proposes a subset, the model judges it, it is grown or shrunk, and blocked.

Growing and shrinking go feature by feature, as published. The rows that such a walk may need are scored together,
ahead of time: the walk is the same, in fewer calls. Each answer is checked against all of its subsets before it is
sent, because a walk finds a minimal one only where the model is monotone.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import fsum

import numpy as np

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Fact, Found, Working
from app.core.favourable import Bools
from app.core.formula import all_of, holds
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

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget, settled: int) -> None:
        self._oracle = oracle
        self._budget = budget
        self._conjuncts = problem.conjuncts
        self._weights = [move.weight for move in problem.moves]
        self._settled = settled

    def favourable(self, subset: Subset) -> bool:
        return bool(self._judged(subset).favourable[0])

    def found(self, subset: Subset) -> Found:
        verdict = self._judged(subset)
        moves = tuple(sorted(subset))
        cost = fsum(self._weights[move] for move in moves)
        return Found(moves, cost, verdict.score[0], int(verdict.label[0]))

    def grow(self, subset: Subset) -> Subset:
        """Add every move that leaves the model unfavourable, one after the other, feasible or not."""
        outside = [move for move in range(len(self._weights)) if move not in subset]
        while outside:
            steps = [subset.union(outside[: count + 1]) for count in range(len(outside))]
            kept = self._walk(steps, self._is_favourable, until=True)
            subset = subset.union(outside[:kept])
            outside = outside[kept + 1 :]
        return subset

    def shrink(self, subset: Subset) -> Subset:
        """Take back every move that leaves the subset feasible and favourable, one after the other."""
        inside = sorted(subset)
        while inside and len(subset) > self._settled + 1:
            longest = min(len(inside), len(subset) - self._settled - 1)
            steps = [subset.difference(inside[: count + 1]) for count in range(longest)]
            dropped = self._walk(steps, self._is_answer, until=False)
            subset = subset.difference(inside[:dropped])
            inside = inside[dropped + 1 :]
        return subset

    def smallest_within(self, subset: Subset) -> Subset:
        """The first feasible and favourable subset of it, smallest first; itself, if no other is.

        That is a minimal one, whatever the model and the constraints.
        """
        sizes = range(self._settled + 1, len(subset))
        smaller = chain.from_iterable(combinations(sorted(subset), size) for size in sizes)
        for batch in _batches(smaller, self._oracle.batch_rows):
            self._budget.check()
            truths = self._truths(batch)
            feasible = np.flatnonzero(holds(all_of(*self._conjuncts), truths))
            while len(feasible):
                verdict = self._oracle.judge(truths[feasible])
                if verdict.favourable.any():
                    return frozenset(batch[feasible[int(verdict.favourable.argmax())]])
                feasible = feasible[len(verdict) :]
        return subset

    def _walk(self, steps: Sequence[Subset], judge: Callable[[Bools], Bools], until: bool) -> int:
        """How many steps can be taken before the judgement turns."""
        taken = 0
        while taken < len(steps):
            judged = judge(self._truths(steps[taken : taken + self._oracle.batch_rows]))
            turned = np.flatnonzero(judged == until)
            if len(turned):
                return taken + int(turned[0])
            taken += len(judged)
        return taken

    def _is_favourable(self, truths: Bools) -> Bools:
        return self._oracle.judge(truths).favourable

    def _is_answer(self, truths: Bools) -> Bools:
        favourable = self._oracle.judge(truths).favourable
        return favourable & holds(all_of(*self._conjuncts), truths[: len(favourable)])

    def _judged(self, subset: Subset) -> Verdict:
        return self._oracle.judge(self._truths([subset]))

    def _truths(self, subsets: Sequence[Iterable[int]]) -> Bools:
        truths = np.zeros((len(subsets), len(self._weights)), dtype=np.bool_)
        for row, subset in enumerate(subsets):
            truths[row, list(subset)] = True
        return truths


def _batches(subsets: Iterator[tuple[int, ...]], rows: int) -> Iterator[list[tuple[int, ...]]]:
    while batch := list(islice(subsets, rows)):
        yield batch
