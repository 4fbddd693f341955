"""Plans that hold: the search that a request for them needs, and what is told of each plan."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, repeat

from app.adapters.graphs.runs import Runs
from app.adapters.graphs.scorer import ModelScorer
from app.answering.events import Counterfactual, Told
from app.asking.posing.question import Question
from app.asking.robustness import Robustness
from app.core.budget import Budget, Limits
from app.core.facts import Answers, Best, Fact
from app.core.problem import Move
from app.core.robust import more
from app.core.robust.asked import More, Order
from app.core.robust.certificates import Certificates, Prover
from app.core.robust.certifying import MOST_BOXES, MOST_IN_ALL
from app.core.robust.holding import Conditions, HoldingOracle, Trials
from app.core.robust.more import KnownLattice
from app.core.robust.telling import Stability, Teller, lattice_of
from app.core.search.oracle import ModelCost, Oracle
from app.core.search.whole_lattice import MOST_AT_ONCE, JudgedSubsets
from app.core.through.view import Kind

# Where it is asked for, further changes are looked at up to so many movable features, and without being asked for up to
# as many as one call of the model judges.
MOST_MOVES = 16
# Plans that are told of together: as many as may all take the most parts for their proofs.
AT_ONCE = MOST_IN_ALL // MOST_BOXES


def conditions_within(robustness: Robustness, runs: Runs) -> Conditions:
    """The conditions, with other models whose runs end with the request."""
    if not robustness.models:
        return robustness.conditions
    others = tuple(
        replace(other, scorer=model.scorer.within(runs))
        for other, model in zip(robustness.conditions.others, robustness.models, strict=True)
    )
    return replace(robustness.conditions, others=others)


def oracle_of(question: Question, scorer: ModelScorer, runs: Runs, budget: Budget, meter: ModelCost) -> Oracle:
    """An oracle that calls favourable what the request calls so."""
    problem, robustness = question.problem, question.robustness
    given = scorer, question.favourable, problem.instance, problem.moves, budget
    if robustness is None or not robustness.is_required:
        return Oracle(*given, meter, problem.following)
    return HoldingOracle(*given, conditions_within(robustness, runs), meter)


class Telling:
    """Tells of the plans of one answer whether they hold, in rows that are counted apart from the search's."""

    def __init__(self, question: Question, scorer: ModelScorer, runs: Runs, limits: Limits, budget: Budget) -> None:
        assert question.robustness is not None
        self._question, self._robustness = question, question.robustness
        self._scorer, self._runs = scorer, runs
        self._budget = Budget(limits, budget.clock, budget.started, budget.stop)
        self._meter = ModelCost()
        self._lattice: KnownLattice | None = None
        self._has_lattice = False
        self._told = 0
        self._ahead: Iterator[Stability | None] | None = None

    @property
    def told(self) -> Told:
        return Told(self._told, self._meter.rows)

    @cached_property
    def _teller(self) -> Teller:
        """Made when there is a plan to tell of."""
        return self._over(self._question.problem.moves)

    def ahead(self, facts: Iterator[Fact], judged: JudgedSubsets | None) -> Iterable[Fact]:
        """The same facts. Where all subsets are judged already, all plans are told of together."""
        if judged is None:
            return facts
        known = list(facts)
        plans = [plan for fact in known if isinstance(fact, Answers) for plan in fact.moves]
        self._ahead = self._stability_of(plans, judged)
        return known

    def of(self, answers: Answers, judged: JudgedSubsets | None) -> Iterator[Stability | None]:
        """What is told of these plans, in their order; None of those that it is not told of."""
        if self._ahead is not None:
            return islice(self._ahead, len(answers))
        return self._stability_of(answers.moves, judged)

    def _stability_of(
        self, plans: Sequence[tuple[int, ...]], judged: JudgedSubsets | None
    ) -> Iterator[Stability | None]:
        most = self._robustness.plans
        count = len(plans) if most is None else min(len(plans), max(0, most - self._told))
        moves, ladder = len(self._question.problem.moves), self._question.problem.ladder
        if count and not self._has_lattice:
            self._lattice, self._has_lattice = self._further(judged), True
        for start in range(0, count, AT_ONCE):
            some = plans[start : min(start + AT_ONCE, count)]
            if ladder is not None:
                some = list(map(ladder.closed, some))
            told = self._teller.tell(some, moves, self._lattice)
            if told is None:
                yield from repeat(None, len(some))
                continue
            self._told += len(some)
            yield from told
        yield from repeat(None, len(plans) - count)

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
        instance = question.problem.instance
        given = self._scorer, question.favourable, instance, moves, conditions
        trials = Trials(*given, self._budget, self._meter)
        return Teller(trials, None if trials.noisy is None else Certificates(trials, trials.noisy, self._prover()))

    def _prover(self) -> Prover | None:
        """Proofs take time, so they are made where a request asks for plans that hold."""
        if not self._robustness.is_asked:
            return None
        structure = self._question.model.structure
        return Prover(None if structure.kind is Kind.OPAQUE else structure, self._question.favourable)

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
