"""The way into the engines: `lattice`, `cemsp`, and `auto`, which starts with one and continues with the other."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from math import comb

from app.core.budget import Budget, Stopped, StoppedBy
from app.core.facts import Answers, Engine, Fact, Finished, Guarantee, Moment, Proof, ProvedBy, Working
from app.core.formula import Changed, at_most
from app.core.memory import Waiting
from app.core.problem import Problem
from app.core.search import cemsp, lattice, seed_map, whole_lattice
from app.core.search.lattice import unpacked
from app.core.search.no_way_out import NoWayOut, ViewOf, exact
from app.core.search.oracle import Oracle, Rules, satisfying
from app.core.search.seed_map import SeedMap
from app.core.search.verdict import Verdict
from app.core.subsets import dense_frontier, packed_frontier
from app.core.subsets.masks import Masks, of_members
from app.core.subsets.packed_frontier import PackedFrontier
from app.core.through.networks.engine import NetworkSearch, kept
from app.core.through.networks.frontier import PossibleSubsets
from app.core.through.networks.view import NetworkView
from app.core.through.searches import engine as through
from app.core.through.searches.scored import Contradicted
from app.core.through.view import View

# The share of the deadline after which `auto` leaves the larger sizes to the solver, if a network has too many subsets.
SHARE_OF_BOUNDS = 0.75
# The rows of so many subsets are scored sooner than the nodes of a network are bounded.
FEW_SUBSETS = 2**16


@dataclass(slots=True)
class SolverUse:
    """What the solver has cost so far; zero if no solver was needed."""

    checks: int = 0
    seconds: float = 0.0


class Search:
    """One search over one problem. `judge_instance` comes first; `facts` assumes that the instance is unfavourable."""

    def __init__(self, problem: Problem, oracle: Oracle, budget: Budget, view: ViewOf | None = None) -> None:
        self._problem = problem
        self._oracle = oracle
        self._budget = budget
        self._view = view
        self._seeds: SeedMap | None = None
        self._judged: whole_lattice.JudgedSubsets | None = None
        self._network: NetworkSearch | None = None
        # The same, if it is proved to be monotone.
        self._monotone: NetworkSearch | None = None
        oracle.rules = _rules(problem)

    def judge_instance(self, together: bool) -> Verdict:
        """Judge the unchanged instance; if `together`, judge all subsets in the same call where one call suffices."""
        problem, oracle, budget = self._problem, self._oracle, self._budget
        if together and whole_lattice.suits(problem, oracle, budget) and budget.time_over() is None:
            try:
                self._judged = whole_lattice.judge(problem, oracle, with_instance=True)
            except Exception:  # noqa: BLE001  # whatever breaks a model down: it need not be the instance's own row
                return oracle.judge_instance()
            assert self._judged.verdict is not None, "the instance at least is asked about"
            return self._judged.verdict.row(0)
        return oracle.judge_instance()

    def settled(self, verdict: Verdict) -> Generator[Moment, None, Verdict]:
        """What the instance is, in turns, where that takes more than its score."""
        yield from ()
        return verdict

    @property
    def judged(self) -> whole_lattice.JudgedSubsets | None:
        """What one call has told of all subsets, if the instance was judged together with them."""
        return self._judged

    @property
    def solver(self) -> SolverUse:
        return SolverUse() if self._seeds is None else SolverUse(self._seeds.solver.checks, self._seeds.solver.seconds)

    def facts(self, engine: Engine) -> Iterator[Fact]:
        """Search with this engine. Yields facts; the last one is `Finished`.

        If the search ends by itself and has found nothing, `Explained` comes before it. If it assumed a monotone model,
        it then checks as many subsets as the budget allows: that may prove that there is no answer, or find one.
        """
        found = False
        try:
            for fact in self._searched(engine):
                if not isinstance(fact, Finished):
                    found = found or isinstance(fact, Answers)
                    yield fact
                elif fact.stopped_by is None and not found:
                    yield from map(self._with_proof, self._explained(fact))
                else:
                    yield self._with_proof(fact)
        finally:
            # However it ends, even if the caller does not take the rest.
            if self._seeds is not None:
                self._seeds.solver.forget()
            self._oracle.forget_rows()
            self._budget.memory.give_back()

    def _explained(self, finished: Finished) -> Iterator[Fact]:
        """Why there is no answer, and the end."""
        return NoWayOut(self._problem, self._oracle, self._budget, self._view, self._network).facts(finished)

    def _with_proof(self, fact: Fact) -> Fact:
        """What is exact and does not rest on the graph rests on the rows that were scored."""
        if not isinstance(fact, Finished) or fact.proof is not None or fact.guarantee is not Guarantee.EXACT:
            return fact
        proof = Proof(ProvedBy.ROWS, self._oracle.meter.rows)
        return Finished(fact.engine, fact.guarantee, fact.complete_up_to, fact.stopped_by, proof)

    def _searched(self, engine: Engine) -> Iterator[Fact]:
        if not self._problem.max_size:
            yield exact(Engine.LATTICE if engine is Engine.AUTO else engine, self._problem)
        elif self._sees_through(engine):
            yield from self._through(engine)
        elif engine is Engine.CEMSP and seed_map.suits(self._problem):
            yield from self._solved_beyond(Engine.CEMSP, 0, [])
        else:
            yield from self._lattice(engine)

    def _sees_through(self, engine: Engine) -> bool:
        """Whether the view serves: if it is asked for, or where one call of the model does not judge all subsets."""
        if self._view is None or engine not in (Engine.THROUGH, Engine.AUTO):
            return False
        at_once = self._judged is not None or whole_lattice.suits(self._problem, self._oracle, self._budget)
        return engine is Engine.THROUGH or not at_once

    def _through(self, engine: Engine) -> Iterator[Fact]:
        """Search by the view. If the model contradicts it before anything was claimed, start again without it."""
        assert self._view is not None
        view = self._view(self._problem.moves)
        if view is None:
            yield from self._lattice(Engine.AUTO)
            return
        if isinstance(view, NetworkView):
            yield from self._through_network(view, engine)
            return
        claimed = False
        try:
            for fact in self._seen_through(view):
                claimed = claimed or not isinstance(fact, Working | Waiting)
                yield fact
        except Contradicted:
            if claimed:
                raise
            self._view = None
            yield from self._lattice(Engine.AUTO)

    def _seen_through(self, view: View) -> Iterator[Fact]:
        seen = yield from through.explore(self._problem, self._oracle, self._budget, view)
        explored, proof = seen.explored, Proof(ProvedBy(view.kind), seen.nodes, seen.inert)
        size = len(self._problem.moves) if explored.exhausted else explored.size
        yield Finished(Engine.THROUGH, Guarantee.EXACT, size, explored.stopped_by, proof)

    def _through_network(self, view: NetworkView, engine: Engine) -> Iterator[Fact]:
        """Search by bounds on a network; with too many moves by the solver, if the network is proved to be monotone."""
        search = NetworkSearch.of(self._problem, self._oracle, self._budget, view)
        if search is None:
            yield from self._lattice(Engine.AUTO)
            return
        self._network = search
        frontier = search.frontier()
        is_open = bool(frontier.most_next())
        few = 1 << len(self._problem.moves) <= min(FEW_SUBSETS, self._budget.rows_left_by_size)
        if few and is_open and engine is Engine.AUTO and search.is_turned_by_all():
            yield from self._lattice(engine)
        elif search.suits or not is_open:
            yield from self._bounded(search, frontier, engine)
        elif search.is_rising:
            yield from self._without_useless(search)
        else:
            yield from self._lattice(Engine.AUTO)

    def _bounded(self, search: NetworkSearch, frontier: PossibleSubsets, engine: Engine) -> Iterator[Fact]:
        hands_over = engine is Engine.AUTO and seed_map.suits(self._problem)
        explored = yield from search.explore(
            frontier, lambda _: not hands_over or self._budget.share_left() > 1 - SHARE_OF_BOUNDS
        )
        proof = search.proof(frontier.nodes)
        if explored.exhausted:
            yield replace(exact(Engine.THROUGH, self._problem), proof=proof)
        elif explored.stopped_by is not None:
            yield Finished(Engine.THROUGH, Guarantee.EXACT, explored.size, explored.stopped_by, proof)
        else:
            # There is time left, but not for what would be exact: how far that came is all that may be claimed.
            searched = yield from self._solve(explored.size, explored.answers)
            stopped_by = searched.stopped_by or StoppedBy.DEADLINE
            yield Finished(Engine.AUTO, Guarantee.ASSUMES_MONOTONE, explored.size, stopped_by)

    def _without_useless(self, search: NetworkSearch) -> Iterator[Fact]:
        """A monotone network: as if it were opaque, but with a proof; moves that never help are left out."""
        problem = kept(self._problem, search.useless)
        places = [place for place in range(len(self._problem.moves)) if place not in search.useless]
        inner = Search(problem, self._oracle.over(problem.moves, None), self._budget)
        inner._monotone = search
        for fact in inner._searched(Engine.AUTO):
            self._seeds = inner._seeds
            if isinstance(fact, Answers):
                yield replace(fact, moves=[tuple(places[move] for move in moves) for moves in fact.moves])
            elif isinstance(fact, Finished) and fact.complete:
                yield replace(exact(fact.engine, self._problem), proof=search.proof(0))
            else:
                yield fact

    def _lattice(self, engine: Engine) -> Iterator[Fact]:
        problem, oracle, budget = self._problem, self._oracle, self._budget

        def fits(rows: int) -> bool:
            return rows <= budget.rows_left_by_size or engine is Engine.LATTICE or not seed_map.suits(problem)

        if self._judged is not None or whole_lattice.suits(problem, oracle, budget):
            explored = yield from whole_lattice.explore(problem, oracle, budget, self._judged)
        else:
            explored = yield from lattice.explore(problem, oracle, budget, fits)
        if explored.exhausted:
            yield exact(Engine.LATTICE, self._problem)
        elif explored.stopped_by is not None:
            yield Finished(Engine.LATTICE, Guarantee.EXACT, explored.size, explored.stopped_by)
        elif engine is Engine.LATTICE or not seed_map.suits(problem):
            # The next level's rows could be counted, but not remembered.
            yield Finished(Engine.LATTICE, Guarantee.EXACT, explored.size, StoppedBy.MAX_MODEL_ROWS)
        else:
            yield from self._solved_beyond(Engine.AUTO, explored.size, explored.answers)

    def _solved_beyond(self, engine: Engine, settled: int, answers: list[Masks]) -> Iterator[Fact]:
        """Search every size above `settled` with the solver, which gets the known answers."""
        found: list[tuple[int, ...]] = []
        searched = yield from _noting(self._solve(settled, answers), found)
        if searched.stopped_by is None and not searched.assumed_monotone:
            yield exact(engine, self._problem)
        elif searched.stopped_by is None and engine is Engine.AUTO and self._can_count(answers, found):
            yield from self._counted(settled, [*answers, of_members(found, len(self._problem.moves))])
        else:
            yield Finished(engine, Guarantee.ASSUMES_MONOTONE, settled, searched.stopped_by)

    def _can_count(self, answers: list[Masks], found: list[tuple[int, ...]]) -> bool:
        """Whether all subsets fit the memory and the rows. If there is no answer, the explanation counts them."""
        moves = len(self._problem.moves)
        fits = dense_frontier.MOST_MOVES < moves <= packed_frontier.MOST_MOVES and 2**moves <= self._budget.rows_left
        return fits and bool(found or any(map(len, answers)))

    def _counted(self, settled: int, answers: list[Masks]) -> Iterator[Fact]:
        """Ask about all other subsets while the deadline lasts: what did the solver miss, if anything?"""
        moves = len(self._problem.moves)
        frontier = PackedFrontier(moves, settled, answers, comb(moves, settled + 1))
        explored = yield from lattice.explore(self._problem, self._oracle, self._budget, frontier=frontier)
        if explored.exhausted:
            yield exact(Engine.AUTO, self._problem)
        else:
            yield Finished(Engine.AUTO, Guarantee.ASSUMES_MONOTONE, explored.size, explored.stopped_by)

    def _solve(self, settled: int, answers: list[Masks]) -> Generator[Fact, None, cemsp.Searched]:
        try:
            self._seeds = SeedMap(self._problem, self._budget)
            yield from self._seeds.read_rules(larger_than=settled)
            for known in answers:
                for block in unpacked(known, len(self._problem.moves)):
                    self._budget.check()
                    for answer in block:
                        self._seeds.block_up(answer)
                    yield from self._seeds.solver.remembered()
                    yield Working()
        except Stopped as stopped:
            return cemsp.Searched(stopped.by, assumed_monotone=False)
        judge = self._judge(settled)
        is_sure = None if self._monotone is None else self._monotone.is_surely_unfavourable
        return (yield from cemsp.explore(judge, self._seeds, self._budget, is_sure))

    def _judge(self, settled: int) -> cemsp.SubsetJudge:
        return cemsp.SubsetJudge(self._problem, self._oracle, self._budget, settled)


def _noting(
    facts: Generator[Fact, None, cemsp.Searched], found: list[tuple[int, ...]]
) -> Generator[Fact, None, cemsp.Searched]:
    """The same facts; what they find is noted."""
    while True:
        try:
            fact = next(facts)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # typeshed does not say what a generator returns
        if isinstance(fact, Answers):
            found.extend(fact.moves)
        yield fact


def _rules(problem: Problem) -> Rules | None:
    """Which subsets of the moves satisfy the items; None if all do."""
    if not problem.conjuncts and problem.max_size == len(problem.moves):
        return None
    size = at_most(problem.max_size, tuple(map(Changed, range(len(problem.moves)))))
    return satisfying((*problem.conjuncts, size), problem.moves)
