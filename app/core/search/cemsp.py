"""The paper's search: the solver proposes a subset, the model judges it, it is grown or shrunk, and blocked.

Growing and shrinking go feature by feature, as published. The rows that such a walk may need are scored together,
ahead of time: the walk is the same, in fewer calls. From one seed several walks go down side by side, each in an order
of its own, and mostly end at answers of their own. Each answer is checked against all of its subsets before it is sent,
because a walk finds a minimal one only where the model is monotone.

A subset is a whole number here: one bit a move, the first move highest.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, islice
from operator import or_

import numpy as np

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Answers, Fact, Found, Working
from app.core.favourable import Bools, Floats
from app.core.formula import all_of
from app.core.problem import Problem
from app.core.search.oracle import Oracle
from app.core.search.seed_map import SeedMap
from app.core.search.sieve import AT_A_TIME, Sieve
from app.core.search.verdict import Verdict
from app.core.subsets import dense_frontier
from app.core.subsets.costs import Costs
from app.core.subsets.dense_frontier import table
from app.core.subsets.frontier import CHUNK
from app.core.subsets.masks import Masks, as_members, as_truths, of_sets, of_truths


@dataclass(frozen=True, slots=True)
class Searched:
    """What stopped the search, and whether it ever assumed a monotone model."""

    stopped_by: StoppedBy | None
    assumed_monotone: bool


# Whether it is proved, by its outputs, that a failing subset and all of its subsets fail.
Sure = Callable[[Floats], bool]

# How many subsets of many moves are listed at once.
LISTED = 4096
# The most walks down from one seed.
MOST_WALKS = 16


def explore(
    judge: "SubsetJudge", seeds: SeedMap, budget: Budget, is_sure: Sure | None = None
) -> Generator[Fact, None, Searched]:
    """Search until the map has no seed left or the budget is spent.

    `is_sure`, if given, says of the outputs of a failing subset whether it is proved that all its subsets fail too.
    """
    assumed_monotone = False
    walks = 1
    try:
        while (seed := (yield from seeds.propose())) is not None:
            _check_wanted(budget)
            if judge.favourable(seed):
                found = yield from _found_below(seed, walks, judge, seeds, budget, is_sure)
                # Where each walk ends elsewhere there is more to find; where they meet, they are in vain.
                walks = min(2 * walks, MOST_WALKS) if found == walks else max(1, walks // 2)
            else:
                grown = yield from judge.grow(seed)
                assumed_monotone = assumed_monotone or is_sure is None or not is_sure(judge.outputs(grown))
                seeds.block_down(judge.outside(grown))
    except Stopped as stopped:
        return Searched(stopped.by, assumed_monotone)
    return Searched(None, assumed_monotone)


def _found_below(
    seed: int, walks: int, judge: "SubsetJudge", seeds: SeedMap, budget: Budget, is_sure: Sure | None
) -> Generator[Fact, None, int]:
    """Send the answers that walks down from a favourable seed end at; how many there were."""
    known: set[tuple[int, ...]] = set()
    for shrunk in (yield from judge.shrink(seed, walks)):
        _check_wanted(budget)
        answer = None if is_sure is None else judge.surely_minimal(shrunk, is_sure)
        if answer is None:
            answer = yield from judge.smallest_within(shrunk)
        if answer.moves not in known:
            known.add(answer.moves)
            budget.take_answers(1)
            yield Answers.of([answer])
            seeds.block_up(answer.moves)
    return len(known)


def _check_wanted(budget: Budget) -> None:
    if not budget.wants_answers():
        raise Stopped(StoppedBy.MAX_COUNTERFACTUALS)


class SubsetJudge:
    """Grow and Shrink of the paper, and the check that an answer is minimal.

    Subsets of at most `settled` moves are known not to be answers: they are never asked about again.
    """

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget, settled: int) -> None:
        self._oracle = oracle
        self._budget = budget
        self._constrained = bool(problem.conjuncts)
        self._sieve = Sieve([all_of(*problem.conjuncts)], len(problem.moves), budget)
        self._costs = Costs([move.weight for move in problem.moves])
        self._bits = [1 << place for place in reversed(range(len(problem.moves)))]
        self._settled = settled
        # Where the model said that a subset is favourable, of those that the present seed has led to.
        self._said: dict[int, tuple[Verdict, int]] = {}

    def inside(self, subset: int) -> list[int]:
        """The moves of a subset."""
        return [move for move, bit in enumerate(self._bits) if subset & bit]

    def outside(self, subset: int) -> list[int]:
        return [move for move, bit in enumerate(self._bits) if not subset & bit]

    def favourable(self, subset: int) -> bool:
        """Judge a new seed."""
        self._said.clear()
        return bool(self._are_favourable([subset])[0])

    def outputs(self, subset: int) -> Floats:
        """What the model says of a failing subset."""
        return self._oracle.judge(of_sets([subset], len(self._bits))).outputs

    def grow(self, subset: int) -> Generator[Working, None, int]:
        """Add every move that leaves the decision unfavourable, one after the other, feasible or not."""
        left = self.outside(subset)
        while left:
            steps = [subset | added for added in accumulate((self._bits[move] for move in left), or_)]
            steps = steps[: self._oracle.batch_rows]
            favourable = self._are_favourable(steps)
            taken = _count_until_false(~favourable)
            subset = steps[taken - 1] if taken else subset
            # Whatever was judged and did not fit is needed outside; what was not judged yet is tried again.
            left = left[taken + (taken < len(favourable)) :]
            yield Working()
        return subset

    def shrink(self, subset: int, walks: int) -> Generator[Working, None, list[int]]:
        """Take back every move that leaves the subset feasible and favourable, one after the other.

        Each walk does so in another order, and starts at another move. Where they end, each place once.
        """
        shrunk = [subset] * walks
        left = self._orders(subset, walks)
        while any(steps := [self._steps_down(*each) for each in zip(shrunk, left, strict=True)]):
            judged = yield from self._all_judged([step for walk in steps for step in walk])
            done = 0
            for walk, own in enumerate(steps):
                taken = _count_until_false(judged[done : done + len(own)])
                done += len(own)
                shrunk[walk] = own[taken - 1] if taken else shrunk[walk]
                left[walk] = left[walk][taken + 1 :] if own else []
        return list(dict.fromkeys(shrunk))

    def _orders(self, subset: int, walks: int) -> list[list[int]]:
        """The moves of a subset in the order in which each walk tries to take them back."""
        moves = self.inside(subset)
        starts = [len(moves) * walk // walks for walk in range(walks)]
        return [moves[start:] + moves[:start] for start in starts]

    def _steps_down(self, subset: int, left: list[int]) -> list[int]:
        """The subset less one, two, ... of the moves that are left to try, down to the sizes that are settled."""
        longest = left[: max(0, subset.bit_count() - self._settled - 1)]
        return [subset & ~dropped for dropped in accumulate((self._bits[move] for move in longest), or_)]

    def _all_judged(self, subsets: Sequence[int]) -> Generator[Working, None, Bools]:
        """Which of the subsets are answers, minimal or not."""
        judged = np.zeros(0, dtype=np.bool_)
        while len(judged) < len(subsets):
            more = yield from self._are_answers(subsets[len(judged) : len(judged) + self._oracle.batch_rows])
            judged = np.concatenate([judged, more])
            yield Working()
        return judged

    def surely_minimal(self, subset: int, is_sure: Sure) -> Found | None:
        """The subset as an answer, if without any one of its moves it and all smaller ones surely fail."""
        smaller = [subset & ~bit for bit in self._bits if subset & bit]
        if self._constrained or len(smaller) > self._oracle.batch_rows:
            return None
        verdict = self._oracle.judge(of_sets(smaller, len(self._bits)))
        outputs = (verdict.outputs[row : row + 1] for row in range(len(verdict)))
        if len(verdict) < len(smaller) or not all(map(is_sure, outputs)):
            return None
        return self._answer(self.inside(subset), *self._said[subset])

    def smallest_within(self, subset: int) -> Generator[Working, None, Found]:
        """The first feasible and favourable subset of it, smallest first; itself, if no other is.

        That is a minimal one, whatever the model and the constraints.
        """
        members = self.inside(subset)
        for truths in self._smaller(members):
            self._budget.check()
            # If none of them is feasible, there is no other moment to let other searches run.
            yield Working()
            if self._constrained:
                (feasible,) = yield from self._sieve.of_truths(truths)
                truths = truths[feasible]
            found = yield from self._first_favourable(truths)
            if found is not None:
                return found
        return self._answer(members, *self._said[subset])

    def _smaller(self, members: list[int]) -> Iterator[Bools]:
        """The proper subsets that are not settled, the smallest first, in chunks, as rows of truth values."""
        for masks in _by_size(len(members), self._settled, min(CHUNK, AT_A_TIME // len(self._bits))):
            truths = np.zeros((len(masks), len(self._bits)), dtype=np.bool_)
            truths[:, members] = as_truths(masks, len(members))
            yield truths

    def _first_favourable(self, truths: Bools) -> Generator[Working, None, Found | None]:
        for batch, verdict in self._oracle.judge_all(of_truths(truths)):
            if verdict.favourable.any():
                row = int(verdict.favourable.argmax())
                (moves,) = as_members(batch[row : row + 1], len(self._bits)).tolist()
                return self._answer(moves, verdict, row)
            yield Working()
        return None

    def _are_answers(self, subsets: Sequence[int]) -> Generator[Working, None, Bools]:
        favourable = self._are_favourable(subsets)
        if not self._constrained:
            return favourable
        (feasible,) = yield from self._sieve.of_masks(of_sets(subsets[: len(favourable)], len(self._bits)))
        answers: Bools = favourable & feasible
        return answers

    def _are_favourable(self, subsets: Sequence[int]) -> Bools:
        """Of as many from the front as the budget allows; where the model said so is kept."""
        verdict = self._oracle.judge(of_sets(subsets, len(self._bits)))
        for row in np.flatnonzero(verdict.favourable).tolist():
            self._said[subsets[row]] = verdict, row
        return verdict.favourable

    def _answer(self, moves: list[int], verdict: Verdict, row: int) -> Found:
        return Found(tuple(moves), self._costs.of(moves), verdict.score[row], verdict.label_of(row))


def _count_until_false(judged: Bools) -> int:
    return len(judged) if judged.all() else int(judged.argmin())


def _by_size(moves: int, larger_than: int, rows: int) -> Iterator[Masks]:
    """The proper subsets with more than `larger_than` moves, smallest first, in chunks, because there are very many."""
    if moves <= dense_frontier.MOST_MOVES:
        subsets = table(moves)
        left = subsets.numbers[subsets.starts[larger_than + 1] : -1]
        yield from (subsets.masks(left[start : start + rows]) for start in range(0, len(left), rows))
        return
    for size in range(larger_than + 1, moves):
        members = combinations(range(moves), size)
        while chunk := list(islice(members, LISTED)):
            truths = np.zeros((len(chunk), moves), dtype=np.bool_)
            np.put_along_axis(truths, np.array(chunk), True, axis=1)
            yield of_truths(truths)
