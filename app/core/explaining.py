"""Why there is no way out: which constraints to give up for one, or how close any subset comes."""

from collections.abc import Generator
from math import fsum

import numpy as np

from app.core.budget import Budget, Stopped
from app.core.facts import Explanation, Found, Relaxation, Working
from app.core.formula import holds
from app.core.oracle import Oracle, Verdict
from app.core.problem import Problem
from app.core.subsets import Level, Members, as_truths, in_batches


def is_unconstrained(problem: Problem) -> bool:
    """Whether the items leave every subset of the candidates feasible."""
    count = len(problem.candidates)
    return len(problem.moves) == count and not problem.conjuncts and problem.largest == count


def explain(problem: Problem, oracle: Oracle, budget: Budget) -> Generator[Working, None, Explanation]:
    """Judge every subset of the candidates, feasible or not, by size, and note what each favourable one breaks.

    Giving up some items opens a way exactly if a favourable subset breaks no others. So the minimal sets of items
    are the minimal ones among those that the favourable subsets break.
    """
    ledger = _Ledger(problem)
    explanation = Explanation()
    level = Level.root(len(problem.candidates))
    try:
        while level.extensions:
            judged = [level.none_larger()]
            for batch in in_batches(level.candidates(), oracle.batch_rows):
                while len(batch):
                    verdict = oracle.judge(as_truths(batch, len(problem.candidates)))
                    ledger.add(batch[: len(verdict)], verdict)
                    judged.append(batch[: len(verdict)])
                    batch = batch[len(verdict) :]
                    yield Working()
            level = Level(len(problem.candidates), np.concatenate(judged))
        explanation.complete = True
    except Stopped:
        pass
    explanation.relaxations = ledger.relaxations()
    return explanation


class _Ledger:
    """For each set of items that some favourable subset breaks, the first such subset."""

    def __init__(self, problem: Problem) -> None:
        self._formulas = [problem.formula(item, problem.candidates) for item in problem.items]
        self._weights = [move.weight for move in problem.candidates]
        self._broken: dict[frozenset[int], Found] = {}

    def add(self, batch: Members, verdict: Verdict) -> None:
        hits = np.flatnonzero(verdict.favourable)
        if not len(hits):
            return
        truths = as_truths(batch[hits], len(self._weights))
        broken = [~holds(formula, truths) for formula in self._formulas]
        for place, row in enumerate(hits.tolist()):
            items = frozenset(index for index, breaks in enumerate(broken) if breaks[place])
            if any(known < items for known in self._broken):
                continue
            moves = tuple(batch[row].tolist())
            cost = fsum(self._weights[move] for move in moves)
            found = Found(moves, cost, verdict.score[row], int(verdict.label[row]))
            first = self._broken.get(items)
            if first is None or (len(moves), cost) < (len(first.moves), first.cost):
                self._broken[items] = found

    def relaxations(self) -> list[Relaxation]:
        minimal = [items for items in self._broken if not any(other < items for other in self._broken)]
        ordered = sorted(minimal, key=lambda items: (len(items), sorted(items)))
        return [Relaxation(tuple(sorted(items)), self._broken[items]) for items in ordered]
