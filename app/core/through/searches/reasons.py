"""Why there is no answer, seen through the model: which constraints to give up, and how close any subset comes.

All subsets of the candidates are sorted out at once. The model then scores the few that matter.
"""

from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from app.core.budget import Budget, Stopped
from app.core.constraints import MaxChanges
from app.core.facts import Explanation, Moment, Working
from app.core.favourable import Bools
from app.core.formula import FALSE, Changed, Formula, substituted
from app.core.problem import Problem
from app.core.search.explaining import Ledger, TooMany
from app.core.search.oracle import Oracle
from app.core.subsets.masks import sizes
from app.core.through.decision import merits
from app.core.through.margins import Line, Margin, margin_of
from app.core.through.searches import dense, packed
from app.core.through.searches.branching import named
from app.core.through.searches.dense import Flags
from app.core.through.searches.packed import Numbers, Words
from app.core.through.searches.scored import Contradicted
from app.core.through.view import View

# What a set breaks is one word.
MOST_ITEMS = 63
# Beyond so many candidates that matter there are too many subsets, as long as one sum decides.
MOST_MOVES = 24
# Of sets that may come closest, so many are scored at the most, the smallest first.
MOST_SCORED = 2**16
# Subsets that are looked at together.
AT_A_TIME = 2**18

Broken = NDArray[np.uint64]


def explain(
    problem: Problem, oracle: Oracle, budget: Budget, view: View
) -> Generator[Moment, None, Explanation | None]:
    """The same as `app.core.search.explaining` tells, without a row for each subset; None if there are too many.

    The search has proved that there is no answer. What comes closest is for the oracle to tell, which scores it.
    """
    assert oracle.outputs_dtype is not None, "the instance was judged"
    margin = margin_of(view, oracle.favourable, oracle.outputs_dtype)
    items = problem.formulas(problem.candidates)
    if margin is None or len(items) > MOST_ITEMS:
        return None
    needed = _needed(problem, items, {move for table in margin.tables for move in table.moves})
    if not _suits(margin, len(needed), len(items), budget):
        return None
    flags = Flags(margin, sorted(needed), budget)
    reasons = _Reasons(problem, oracle, budget, margin, flags)
    explanation = Explanation()
    try:
        yield from reasons.find(items)
        explanation.complete = not reasons.ledger.full
    except (Stopped, TooMany):
        pass
    explanation.relaxations = reasons.ledger.relaxations()
    return explanation


def _suits(margin: Margin, moves: int, items: int, budget: Budget) -> bool:
    """Whether all subsets can be looked through: a bit each, for every item and for what is worked out."""
    if not isinstance(margin, Line):
        return dense.suits(margin, moves)
    return moves <= MOST_MOVES and 8 * packed.length(moves) * (items + 8) <= budget.memory.most


def _needed(problem: Problem, items: list[Formula], moves: set[int]) -> set[int]:
    """The candidates that some table depends on, and those that an item names. Counting all changes names none."""
    counts = [isinstance(item.statement, MaxChanges) for item in problem.items]
    return moves.union(*(named(formula) for formula, all_of_them in zip(items, counts, strict=True) if not all_of_them))


class _Reasons:
    """Looks through all subsets of the candidates that matter."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget, margin: Margin, flags: Flags) -> None:
        self._candidates = len(problem.candidates)
        self._oracle = oracle
        self._budget = budget
        self._margin = margin
        self._flags = flags
        self.ledger = Ledger(problem, budget)

    def find(self, items: list[Formula]) -> Iterator[Moment]:
        flags, kept = self._flags, set(self._flags.moves)
        yield from flags.fill()
        yield from self._budget.remember(self._budget.memory.held + len(items) * flags.yes.nbytes)
        met: list[Words] = []
        for item in items:
            rule = substituted(item, lambda move: Changed(move) if move in kept else FALSE)
            met.append((yield from flags.holding(rule)))
        yield from self._relaxed(met)
        there = packed.of_numbers(np.arange(2 ** min(len(kept), packed.IN_A_WORD)), len(kept))[0]
        yield from self._closest(_all_met(met, flags.yes) & there)
        if items and not self.ledger.relaxations():
            yield from self._closest(np.full_like(flags.yes, there))

    def _relaxed(self, met: list[Words]) -> Iterator[Moment]:
        """Score, for every smallest set of items that favourable subsets break, the first that breaks just these."""
        # The search has judged all that break nothing.
        broken = ~_all_met(met, self._flags.yes)
        sure = yield from self._first_of_each(self._flags.yes & broken, met)
        known = _minimal(_broken(sure, met))
        unsure = yield from self._unless_beyond(self._flags.maybe & broken, met, known)
        numbers = np.concatenate([sure[np.isin(_broken(sure, met), known)], unsure])
        # Of one size, the falling numbers are in the order of positions.
        order = np.argsort(-numbers)
        is_sure = (np.arange(len(numbers)) < len(numbers) - len(unsure))[order]
        numbers = numbers[order]
        lengths = np.bitwise_count(numbers)
        for size in np.unique(lengths[numbers > 0]).tolist():
            of_size = lengths == size
            masks = self._flags.masks(numbers[of_size], self._candidates)
            done = 0
            for batch, verdict in self._oracle.judge_all(masks):
                if not verdict.favourable[is_sure[of_size][done : done + len(verdict)]].all():
                    raise Contradicted
                done += len(verdict)
                yield from self.ledger.add(batch, verdict)
                if self.ledger.full:
                    raise TooMany

    def _first_of_each(self, favourable: Words, met: list[Words]) -> Generator[Moment, None, Numbers]:
        """The smallest subsets for each set of items that is broken, all of that size.

        Where a smaller subset breaks some of the same items and no other, larger ones are of no interest.
        """
        found, words = [np.zeros(0, dtype=np.int64)], np.arange(len(favourable))
        for size in range(1, len(self._flags.moves) + 1):
            self._budget.check()
            found.append(packed.numbers_of(favourable & packed.of_size(size, words)))
            yield Working()
            for items in np.unique(_broken(found[-1], met)).tolist():
                favourable = favourable & ~_breaking(items, met, favourable)
        return np.concatenate(found)

    def _unless_beyond(self, possible: Words, met: list[Words], known: Broken) -> Generator[Moment, None, Numbers]:
        """The subsets that break no more than a known set of items."""
        kept = [np.zeros(0, dtype=np.int64)]
        for start in range(0, len(possible), AT_A_TIME // 64):
            self._budget.check()
            yield Working()
            numbers = packed.numbers_of(possible[start : start + AT_A_TIME // 64]) + 64 * start
            kept.append(numbers[~_beyond(_broken(numbers, met), known)])
        return np.concatenate(kept)

    def _closest(self, among: Words) -> Iterator[Moment]:
        """Score those of the subsets that may come closest; the oracle keeps the best."""
        floor, numbers, highs = -np.inf, [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for block in self._flags.sums():
            self._budget.check()
            chosen = packed.numbers_of(among[block.word :: self._flags.words_a_row])
            rows, columns = chosen >> packed.IN_A_WORD, chosen & 63
            if len(chosen):
                low, high = self._merits(block.values[rows, columns])
                floor = max(floor, float(low.max()))
                close = high >= floor
                numbers.append(((rows * self._flags.words_a_row + block.word) * 64 + columns)[close])
                highs.append(high[close])
            yield Working()
        found = np.concatenate(numbers)[np.concatenate(highs) >= floor]
        found = found[np.lexsort((-found, np.bitwise_count(found)))][:MOST_SCORED]
        for _ in self._oracle.judge_all(self._flags.masks(found, self._candidates)):
            yield Working()

    def _merits(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        assert self._oracle.outputs_dtype is not None
        error = self._flags.error
        low, high = self._margin.outputs(values - error, values + error)
        return merits(self._oracle.favourable, low, high, self._oracle.outputs_dtype)


def _all_met(met: list[Words], like: Words) -> Words:
    within = np.full_like(like, packed.ALL)
    for words in met:
        within &= words
    return within


def _broken(numbers: Numbers, met: list[Words]) -> Broken:
    """The items that each subset breaks, a bit each."""
    broken = np.zeros(len(numbers), dtype=np.uint64)
    for place, words in enumerate(met):
        broken |= (~packed.is_set(words, numbers)).astype(np.uint64) << np.uint64(place)
    return broken


def _breaking(items: int, met: list[Words], like: Words) -> Words:
    """The subsets that break these items, and perhaps others."""
    return _all_met([~words for place, words in enumerate(met) if items >> place & 1], like)


def _minimal(broken: Broken) -> Broken:
    """Those that contain no other one."""
    distinct = np.unique(broken)
    kept: list[np.uint64] = []
    for items in distinct[np.argsort(sizes(distinct), kind="stable")]:
        if not any(smaller & items == smaller for smaller in kept):
            kept.append(items)
    return np.array(kept, dtype=np.uint64)


def _beyond(broken: Broken, known: Broken) -> Bools:
    """Which contain a known one and more."""
    beyond = np.zeros(len(broken), dtype=np.bool_)
    for items in known:
        beyond |= (broken & items == items) & (broken != items)
    return beyond
