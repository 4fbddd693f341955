"""Why there is no way out: which constraints to give up for one, or how close any subset comes."""

from collections.abc import Generator, Iterator
from math import fsum

import numpy as np

from app.core.budget import Budget, Stopped
from app.core.facts import Explanation, Found, Relaxation, Working
from app.core.formula import holds
from app.core.lattice import frontier_over
from app.core.masks import Masks, as_members, as_truths
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem

# When so many sets of items are known, nobody needs more; only the smallest are told.
MOST_KEPT = 1_000


def is_unconstrained(problem: Problem) -> bool:
    """Whether the items leave every subset of the candidates feasible."""
    count = len(problem.candidates)
    return len(problem.moves) == count and not problem.conjuncts and problem.largest == count


def explain(problem: Problem, oracle: Oracle, budget: Budget) -> Generator[Working, None, Explanation]:
    """Judge every subset of the candidates, feasible or not, by size, and note what each favourable one breaks.

    Giving up some items opens a way exactly if a favourable subset breaks no others. So the minimal sets of items
    are the minimal ones among those that the favourable subsets break.
    """
    ledger = _Ledger(problem, budget)
    explanation = Explanation()
    frontier = frontier_over(len(problem.candidates))
    try:
        while frontier.most_next():
            for chunk in frontier.chunks():
                for batch, verdict in oracle.judge_all(chunk.masks):
                    ledger.add(batch, verdict)
                    yield Working()
                frontier.settle(chunk, np.zeros(len(chunk.masks), dtype=np.bool_))
            frontier.rise()
        explanation.complete = True
    except (Stopped, TooMany):
        pass
    explanation.relaxations = ledger.relaxations()
    return explanation


class _Ledger:
    """The minimal sets of items that favourable subsets break, each with the first such subset."""

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self._formulas = [problem.formula(item, problem.candidates) for item in problem.items]
        self._weights = np.array([move.weight for move in problem.candidates])
        self._budget = budget
        # By the items' bits; minimal among those seen so far.
        self._broken: dict[int, Found] = {}

    def add(self, batch: Masks, verdict: Verdict) -> None:
        hits = np.flatnonzero(verdict.favourable)
        if not len(hits):
            return
        members = as_members(batch[hits], len(self._weights))
        # The cheapest first: of the subsets that break the same items, only the first is kept.
        order = np.argsort(self._weights[members].sum(axis=1), kind="stable")
        for place, items in self._first_of_each(batch[hits[order]]):
            self._keep(items, members[order[place]].tolist(), verdict, int(hits[order[place]]))

    def _first_of_each(self, masks: Masks) -> Iterator[tuple[int, int]]:
        """The first subset that breaks each set of items, and that set as bits."""
        truths = as_truths(masks, len(self._weights))
        broken = np.zeros((len(masks), len(self._formulas)), dtype=np.bool_)
        for index, formula in enumerate(self._formulas):
            broken[:, index] = ~holds(formula, truths)
        packed = np.packbits(broken, axis=1, bitorder="little")
        _, first = np.unique(packed, axis=0, return_index=True)
        for place in sorted(first.tolist()):
            self._budget.check()
            yield place, int.from_bytes(packed[place].tobytes(), "little")

    def _keep(self, items: int, moves: list[int], verdict: Verdict, row: int) -> None:
        if any(known & items == known for known in self._broken):
            return
        for larger in [known for known in self._broken if known & items == items]:
            del self._broken[larger]
        cost = fsum(self._weights[move] for move in moves)
        self._broken[items] = Found(tuple(moves), cost, verdict.score[row], verdict.label_of(row))
        if len(self._broken) >= MOST_KEPT:
            raise TooMany

    def relaxations(self) -> list[Relaxation]:
        found = [
            Relaxation(tuple(place for place in range(items.bit_length()) if items >> place & 1), found)
            for items, found in self._broken.items()
        ]
        return sorted(found, key=lambda relaxation: (len(relaxation.items), relaxation.items))


class TooMany(Exception):
    """There are more ways of giving up constraints than anybody would read."""
