"""The paper's search: the solver proposes a subset, the model judges it, it is grown or shrunk, and blocked.

Growing and shrinking go feature by feature, as published. The rows that such a walk may need are scored together,
ahead of time: the walk is the same, in fewer calls. Each answer is checked against all of its subsets before it is
sent, because a walk finds a minimal one only where the model is monotone.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import fsum

import numpy as np

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Fact, Found, Working
from app.core.favourable import Bools
from app.core.formula import all_of, holds
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.seed_map import SeedMap, Subset
from app.core.subsets import Members, as_truths


@dataclass(frozen=True, slots=True)
class Searched:
    """What ended the search, and whether it ever leant on the model being monotone."""

    stopped_by: StoppedBy | None
    assumed_monotone: bool


def explore(judge: "SubsetJudge", seeds: SeedMap, budget: Budget) -> Generator[Fact, None, Searched]:
    """Search until the map has no seed left or the budget is spent."""
    assumed_monotone = False
    try:
        while (seed := (yield from seeds.propose())) is not None:
            if not budget.wants_answers():
                raise Stopped(StoppedBy.MAX_COUNTERFACTUALS)
            if judge.favourable(seed):
                shrunk = yield from judge.shrink(seed)
                answer = yield from judge.smallest_within(shrunk)
                budget.take_answer()
                yield answer
                seeds.block_up(frozenset(answer.moves))
            else:
                assumed_monotone = True
                seeds.block_down((yield from judge.grow(seed)))
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
        # What the model said of the favourable subsets that the present seed has led to.
        self._found: dict[Subset, Found] = {}

    def favourable(self, subset: Subset) -> bool:
        """Judge a new seed."""
        self._found.clear()
        return bool(self._judged([subset])[0])

    def grow(self, subset: Subset) -> Generator[Working, None, Subset]:
        """Add every move that leaves the model unfavourable, one after the other, feasible or not."""
        outside = [move for move in range(len(self._weights)) if move not in subset]
        while outside:
            steps = [subset.union(outside[: count + 1]) for count in range(len(outside))]
            kept = yield from self._walk(steps, self._judged, until=True)
            subset = subset.union(outside[:kept])
            outside = outside[kept + 1 :]
        return subset

    def shrink(self, subset: Subset) -> Generator[Working, None, Subset]:
        """Take back every move that leaves the subset feasible and favourable, one after the other."""
        inside = sorted(subset)
        while inside and len(subset) > self._settled + 1:
            longest = min(len(inside), len(subset) - self._settled - 1)
            steps = [subset.difference(inside[: count + 1]) for count in range(longest)]
            dropped = yield from self._walk(steps, self._are_answers, until=False)
            subset = subset.difference(inside[:dropped])
            inside = inside[dropped + 1 :]
        return subset

    def smallest_within(self, subset: Subset) -> Generator[Working, None, Found]:
        """The first feasible and favourable subset of it, smallest first; itself, if no other is.

        That is a minimal one, whatever the model and the constraints.
        """
        for batch in self._smaller(sorted(subset)):
            self._budget.check()
            truths = as_truths(batch, len(self._weights))
            feasible = np.flatnonzero(holds(all_of(*self._conjuncts), truths))
            while len(feasible):
                verdict = self._oracle.judge(truths[feasible])
                if verdict.favourable.any():
                    row = int(verdict.favourable.argmax())
                    return self._answer(batch[feasible[row]].tolist(), verdict, row)
                feasible = feasible[len(verdict) :]
            yield Working()
        return self._found[subset]

    def _smaller(self, members: list[int]) -> Iterator[Members]:
        """The proper subsets that are not settled, smallest first, in batches."""
        for size in range(self._settled + 1, len(members)):
            subsets = combinations(members, size)
            while batch := list(islice(subsets, self._oracle.batch_rows)):
                yield np.array(batch, dtype=np.uint16)

    def _walk(
        self, steps: Sequence[Subset], judge: Callable[[Sequence[Subset]], Bools], until: bool
    ) -> Generator[Working, None, int]:
        """How many steps can be taken before the judgement turns."""
        taken = 0
        while taken < len(steps):
            judged = judge(steps[taken : taken + self._oracle.batch_rows])
            yield Working()
            turned = np.flatnonzero(judged == until)
            if len(turned):
                return taken + int(turned[0])
            taken += len(judged)
        return taken

    def _are_answers(self, subsets: Sequence[Subset]) -> Bools:
        favourable = self._judged(subsets)
        return favourable & holds(all_of(*self._conjuncts), self._truths(subsets[: len(favourable)]))

    def _judged(self, subsets: Sequence[Subset]) -> Bools:
        """Which are favourable, of as many from the front as the budget allows; what was said of them is kept."""
        verdict = self._oracle.judge(self._truths(subsets))
        for row in np.flatnonzero(verdict.favourable).tolist():
            self._found[subsets[row]] = self._answer(sorted(subsets[row]), verdict, row)
        return verdict.favourable

    def _answer(self, moves: list[int], verdict: Verdict, row: int) -> Found:
        cost = fsum(self._weights[move] for move in moves)
        return Found(tuple(moves), cost, verdict.score[row], int(verdict.label[row]))

    def _truths(self, subsets: Sequence[Subset]) -> Bools:
        truths = np.zeros((len(subsets), len(self._weights)), dtype=np.bool_)
        for row, subset in enumerate(subsets):
            truths[row, list(subset)] = True
        return truths
