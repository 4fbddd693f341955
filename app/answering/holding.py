"""Plans that hold: the search that a request for them needs, and what is told of each plan."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat

from app.adapters.graphs.runs import Runs
from app.adapters.graphs.scorer import OnnxScorer
from app.answering.events import Counterfactual, Told
from app.asking.posing import Question
from app.asking.robustness import Robustness
from app.core.budget import Budget, Limits
from app.core.facts import Answers, Best
from app.core.problem import Move
from app.core.robust import more
from app.core.robust.asked import More, Order
from app.core.robust.holding import Conditions, HoldingOracle
from app.core.robust.more import KnownLattice
from app.core.robust.telling import Stability, Teller, lattice_of
from app.core.search.oracle import ModelCost, Oracle
from app.core.search.whole_lattice import MOST_AT_ONCE, JudgedSubsets

# Where it is asked for, further changes are looked at up to so many movable features, and without being asked for up to
# as many as one call of the model judges.
MOST_MOVES = 16
# Plans that are told of together.
AT_ONCE = 32


def conditions_within(robustness: Robustness, runs: Runs) -> Conditions:
    """The conditions, with other models whose runs end with the request."""
    others = tuple(
        replace(other, scorer=model.scorer.within(runs))
        for other, model in zip(robustness.conditions.others, robustness.models, strict=True)
    )
    return replace(robustness.conditions, others=others)


def oracle_of(question: Question, scorer: OnnxScorer, runs: Runs, budget: Budget, meter: ModelCost) -> Oracle:
    """An oracle that calls favourable what the request calls so."""
    problem, robustness = question.problem, question.robustness
    given = scorer, question.favourable, problem.instance, problem.moves, budget
    if robustness is None or not robustness.is_required:
        return Oracle(*given, meter)
    return HoldingOracle(*given, conditions_within(robustness, runs), meter)


class Telling:
    """Tells of the plans of one answer whether they hold, in rows that are counted apart from the search's."""

    def __init__(self, question: Question, scorer: OnnxScorer, runs: Runs, limits: Limits, budget: Budget) -> None:
        assert question.robustness is not None
        self._question, self._robustness = question, question.robustness
        self._scorer, self._runs = scorer, runs
        self._budget = Budget(limits, budget.clock, budget.started, budget.stop)
        self._meter = ModelCost()
        self._teller = self._over(question.problem.moves)
        self._lattice: KnownLattice | None = None
        self._has_lattice = False

    @property
    def told(self) -> Told:
        return Told(self._teller.told, self._meter.rows)

    def of(self, answers: Answers, judged: JudgedSubsets | None) -> Iterator[Stability | None]:
        """What is told of these plans, in their order; None of those that it is not told of."""
        most = self._robustness.plans
        count = len(answers) if most is None else min(len(answers), max(0, most - self._teller.told))
        moves = len(self._question.problem.moves)
        if count and not self._has_lattice:
            self._lattice, self._has_lattice = self._further(judged), True
        for start in range(0, count, AT_ONCE):
            plans = answers.moves[start : min(start + AT_ONCE, count)]
            told = self._teller.tell(plans, moves, self._lattice)
            yield from repeat(None, len(plans)) if told is None else told
        yield from repeat(None, len(answers) - count)

    def of_best(self, best: Best | None) -> Stability | None:
        """The same of the set that comes closest, where more than the model's decision is required."""
        if best is None or not self._robustness.is_required:
            return None
        candidates = self._question.problem.candidates
        told = self._over(candidates).tell([best.moves], len(candidates), None)
        return None if told is None else told[0]

    def _over(self, moves: tuple[Move, ...]) -> Teller:
        question = self._question
        conditions = conditions_within(self._robustness, self._runs)
        given = self._scorer, question.favourable, question.problem.instance, moves, conditions
        return Teller(*given, self._budget, self._meter)

    def _further(self, judged: JudgedSubsets | None) -> KnownLattice | None:
        """What the model says of further changes, where that is asked for or takes one call."""
        problem, asked = self._question.problem, self._robustness.more
        if judged is not None:
            return more.known(problem, judged)
        if len(problem.moves) > (MOST_AT_ONCE if asked is None else MOST_MOVES) and asked is not More.REQUIRE:
            return None
        oracle = oracle_of(self._question, self._scorer, self._runs, self._budget, self._meter)
        return lattice_of(problem, oracle, self._budget)


def in_order(plans: list[Counterfactual], order: Order) -> Iterator[Counterfactual]:
    """All plans of an answer in another order, ranked anew."""

    def key(plan: Counterfactual) -> tuple[float, ...]:
        if order is Order.COST:
            return (plan.found.cost,)
        return (-1.0 if plan.stability is None or plan.stability.share is None else plan.stability.share,)

    # Sorting keeps the order of those that are alike, which is by size, cost and positions.
    ordered = sorted(plans, key=key, reverse=order is Order.STABILITY)
    return (plan._replace(rank=rank) for rank, plan in enumerate(ordered, start=1))
