"""Why there is no answer: which constraints to give up for one, or how close any subset comes."""

from collections.abc import Generator, Iterator

import numpy as np

from app.core.budget import Budget, Stopped
from app.core.facts import Explanation, Found, Moment, Relaxation, Working
from app.core.favourable import Bools
from app.core.problem import Problem
from app.core.search.lattice import frontier_over, remembered, risen
from app.core.search.oracle import Oracle
from app.core.search.sieve import Sieve
from app.core.search.verdict import Verdict
from app.core.subsets.costs import Costs
from app.core.subsets.frontier import Frontier
from app.core.subsets.masks import Masks, as_members

# The search for sets of items, or for answers, ends after this many; an answer lists only the smallest.
MOST_KEPT = 1_000


def is_unconstrained(problem: Problem) -> bool:
    """Whether the items leave every subset of the candidates feasible."""
    count = len(problem.candidates)
    if not problem.items:
        return True
    return len(problem.moves) == count and not problem.conjuncts and problem.max_size == count


def explain(
    problem: Problem, oracle: Oracle, budget: Budget, proved: bool, frontier: Frontier | None = None
) -> Generator[Moment, None, Explanation]:
    """Judge every subset of the candidates, feasible or not, by size, and note what each favourable one breaks.

    Giving up some items opens an answer exactly if a favourable subset breaks no other items. So the minimal sets to
    give up are the minimal sets that favourable subsets break. A subset that breaks none is an answer; `proved` says
    that there are no answers.
    """
    ledger = Ledger(problem, budget)
    explanation = Explanation()
    count = len(problem.candidates)
    frontier = frontier_over(count) if frontier is None else frontier
    try:
        while frontier is not None and frontier.most_next() and not ledger.has_all_up_to(frontier.size):
            for chunk in frontier.chunks():
                yield from remembered(frontier, ledger.held, oracle, budget)
                closed = yield from _noted(chunk.masks, ledger, oracle, proved)
                frontier.settle(chunk, closed)
            explanation.size = frontier.size + 1
            frontier = risen(frontier, count, ledger.closed)
        explanation.complete = frontier is not None and not ledger.full
    except (Stopped, TooMany):
        pass
    explanation.relaxations, explanation.answers = ledger.relaxations(), ledger.answers()
    return explanation


def _noted(masks: Masks, ledger: "Ledger", oracle: Oracle, proved: bool) -> Generator[Working, None, Bools]:
    """Judge these subsets; returns which of them are answers, whose supersets are not minimal."""
    answers = [np.zeros(0, dtype=np.bool_)]
    for batch, verdict in oracle.judge_all(masks):
        closed = yield from ledger.add(batch, verdict)
        answers.append(closed)
        if ledger.full and proved:
            raise TooMany
        yield Working()
    return np.concatenate(answers)


class Ledger:
    """The minimal sets of items that favourable subsets break, each with the first such subset."""

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self._sieve = Sieve(problem.formulas(problem.candidates), len(problem.candidates), budget)
        self._candidates = len(problem.candidates)
        self._costs = Costs([move.weight for move in problem.candidates])
        self._budget = budget
        # By the items' bits; minimal among those seen so far.
        self._broken: dict[int, Found] = {}
        self._answers: list[Found] = []
        self._largest = problem.max_size
        self.closed: list[Masks] = []
        self.full = False

    @property
    def held(self) -> int:
        """Bytes of the answers, however many are kept to be told."""
        return sum(masks.nbytes for masks in self.closed)

    def add(self, batch: Masks, verdict: Verdict) -> Generator[Working, None, Bools]:
        """Note these subsets, all of one size; which of them are answers."""
        answers = np.zeros(len(batch), dtype=np.bool_)
        hits = np.flatnonzero(verdict.favourable)
        if not len(hits):
            return answers
        # The cheapest first: of the subsets that break the same items, only the first is kept.
        hits = hits[np.argsort(self._costs.of_rows(as_members(batch[hits], self._candidates)), kind="stable")]
        satisfied = yield from self._sieve.of_masks(batch[hits])
        broken = ~satisfied.T
        free = ~broken.any(axis=1)
        if free.any():
            # One more than is kept tells that there are too many.
            self._note_answers([self._found(batch, verdict, row) for row in hits[free][: MOST_KEPT + 1].tolist()])
            self.closed.append(batch[hits[free]])
        if not self._answers:
            for place, items in self._first_of_each(broken):
                if self._is_smaller(items):
                    self._note_way(items, self._found(batch, verdict, int(hits[place])))
        answers[hits] = free
        return answers

    def _first_of_each(self, broken: Bools) -> Iterator[tuple[int, int]]:
        """The first subset that breaks each set of items, and that set as bits."""
        packed = np.packbits(broken, axis=1, bitorder="little")
        _, first = np.unique(packed, axis=0, return_index=True)
        for place in sorted(first.tolist()):
            self._budget.check()
            yield place, int.from_bytes(packed[place].tobytes(), "little")

    def _found(self, batch: Masks, verdict: Verdict, row: int) -> Found:
        (moves,) = as_members(batch[row : row + 1], self._candidates).tolist()
        return Found(tuple(moves), self._costs.of(moves), verdict.score[row], verdict.label_of(row))

    def _note_answers(self, found: list[Found]) -> None:
        self._answers += found
        if len(self._answers) > MOST_KEPT:
            raise TooMany

    def _is_smaller(self, items: int) -> bool:
        return not self.full and not any(known & items == known for known in self._broken)

    def _note_way(self, items: int, found: Found) -> None:
        for larger in [known for known in self._broken if known & items == items]:
            del self._broken[larger]
        self._broken[items] = found
        self.full = len(self._broken) >= MOST_KEPT

    def has_all_up_to(self, size: int) -> bool:
        """Whether there are answers, and none is larger than this."""
        return bool(self._answers) and size >= self._largest

    def answers(self) -> list[Found]:
        """Those that break no item, in the order that they are sent in."""
        return sorted(self._answers, key=lambda found: (len(found.moves), found.cost, found.moves))

    def relaxations(self) -> list[Relaxation]:
        """What to give up, where there is no answer; the smallest first."""
        if self._answers:
            return []
        found = [
            Relaxation(tuple(place for place in range(items.bit_length()) if items >> place & 1), found)
            for items, found in self._broken.items()
        ]
        return sorted(found, key=lambda relaxation: (len(relaxation.items), relaxation.items))


class TooMany(Exception):
    """There are more ways to give up constraints than anyone would read."""
