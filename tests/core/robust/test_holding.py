"""Plans that hold, against the definition: every subset, every draw, every other model, one row at a time."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
import pytest

from app.core.budget import Budget, Limits, StopFlag, StoppedBy
from app.core.facts import Answers, Engine, Explained, Finished, Guarantee
from app.core.robust.holding import Conditions, HoldingOracle, OtherModel
from app.core.robust.lasting import LastingSearch
from app.core.robust.noise import Noise, NoisyFeature, standard_errors
from app.core.search.engines import Search
from tests.support.brute_force import Case, changed, favourable_sets, feasible_sets, is_feasible, minimal, movable
from tests.support.constrained import constrained_case
from tests.support.networks import Network
from tests.support.scale import scaled
from tests.support.searching import FAVOURABLE, pose_case
from tests.support.seeds import Seeds

DRAWS = 20
PROBLEMS = 25


@dataclass(frozen=True)
class Asked:
    """A random problem: the conditions as the engines take them, and what they mean for a row."""

    case: Case
    network: Network
    conditions: Conditions
    holds: Callable[[list[float]], bool]


def asked(seed: int, share: float | None = None) -> Asked:
    case, network = constrained_case(seed)
    rng = np.random.default_rng((seed, 19))
    if rng.random() < 0.3:
        # It favours the person as they are, but perhaps not for sure.
        value = float(network.value(np.nan_to_num(np.array(case.values), nan=network.unseen)))
        network = replace(network, second_bias=network.second_bias - value + float(rng.integers(1, 8)))
    noisy = {
        i: NoisyFeature(f"f{i}", Noise(float(rng.uniform(0, 1.5)), bool(rng.random() < 0.5)), i in case.whole)
        for i in range(len(case.values))
        if rng.random() < 0.5
    }
    count = int(rng.integers(0, 3))
    others = [replace(network, second_bias=network.second_bias + float(rng.integers(-4, 3))) for _ in range(count)]
    order = rng.permutation(len(case.values)).tolist()
    places = _places(order)
    named = tuple(OtherModel(f"m{n}", Permuted(other, order), FAVOURABLE, places) for n, other in enumerate(others))
    require = float(rng.choice([0.05, 0.5, 0.9, 0.95, 1.0])) if share is None else share
    conditions = Conditions(noisy, DRAWS, named, require)

    def holds(row: list[float]) -> bool:
        if not network.favours(row) or not all(other.favours(row) for other in others):
            return False
        passed = sum(network.favours(measured(row, noisy, draw)) for draw in range(DRAWS))
        return not noisy or passed / DRAWS >= require

    return Asked(replace(case, favourable=holds), network, conditions, holds)


def measured(row: list[float], noisy: dict[int, NoisyFeature], draw: int) -> list[float]:
    """The row as one draw measures it."""
    found = list(row)
    for i, (name, noise, whole) in noisy.items():
        if isnan(row[i]):
            continue
        sd = noise.amount * abs(row[i]) if noise.is_relative else noise.amount
        found[i] = row[i] + sd * standard_errors(name, DRAWS)[draw]
        found[i] = float(round(found[i])) if whole else found[i]
    return found


def _places(order: list[int]) -> tuple[int, ...]:
    return tuple(order.index(i) for i in range(len(order)))


class Permuted:
    """A network that has its columns in another order."""

    def __init__(self, network: Network, order: list[int]) -> None:
        self._network, self._places = network, list(_places(order))
        self.dtype, self.batch_rows = network.dtype, network.batch_rows

    def columns(self, position: int) -> tuple[int, ...]:
        return (position,)

    def cells(self, position: int, value: float) -> tuple[float, ...]:
        return self._network.cells(position, value)

    def runs(self, rows: int) -> int:
        return 1

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return self._network(rows[:, self._places])


class Run:
    """A search for plans that hold, with the answers as positions of features."""

    def __init__(self, problem: Asked, engine: str, kind: type[Search] = Search, *, rows: int = 10**9) -> None:
        self.problem = pose_case(problem.case)
        moves, instance = self.problem.moves, self.problem.instance
        budget = Budget(Limits(rows, 600.0), lambda: 0.0, 0.0, StopFlag())
        self.oracle = HoldingOracle(problem.network, FAVOURABLE, instance, moves, budget, problem.conditions)
        search = kind(self.problem, self.oracle, budget)
        self.already = bool(search.judge_instance(together=False).favourable[0])
        self.facts = [] if self.already else list(search.facts(Engine(engine)))
        found = [each for fact in self.facts if isinstance(fact, Answers) for each in fact]
        self.answers = [frozenset(moves[index].position for index in each.moves) for each in found]

    @property
    def finished(self) -> Finished:
        assert isinstance(self.facts[-1], Finished)
        return self.facts[-1]


@pytest.mark.parametrize("engine", ["lattice", "auto", "cemsp"])
def test_it_is_every_minimal_set_that_holds(engine: str):
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(PROBLEMS), first=310_000):
        problem = asked(seed)
        run, truth = Run(problem, engine), minimal(favourable_sets(problem.case))
        assert run.already == problem.holds(list(problem.case.values)), seed
        if run.already:
            seen["already"] += 1
            continue
        assert len(run.answers) == len(set(run.answers))
        assert set(run.answers) <= truth, seed
        if run.finished.complete:
            assert set(run.answers) == truth, seed
        assert engine == "cemsp" or run.finished.complete
        seen["found" if truth else "none"] += 1
        plain = minimal(favourable_sets(replace(problem.case, favourable=problem.network.favours)))
        seen["differs"] += truth != plain
    assert min(seen["found"], seen["none"], seen["differs"], seen["already"]) > 0


def test_what_to_give_up_is_told_of_plans_that_hold():
    """Every relaxation that is named opens a way that holds, and the smallest ones are all there."""
    told = 0
    for seed in Seeds(scaled(PROBLEMS), first=320_000):
        problem = asked(seed)
        run = Run(problem, "lattice")
        if run.already or run.answers:
            continue
        (explained,) = (fact for fact in run.facts if isinstance(fact, Explained))
        assert explained.proved
        for relaxation in explained.explanation.relaxations:
            moves = [run.problem.candidates[index] for index in relaxation.found.moves]
            row = list(problem.case.values)
            for move in moves:
                row[move.position] = move.target
            assert problem.holds(row), seed
            told += 1
        if explained.explanation.complete and not explained.explanation.relaxations:
            free = unconstrained(problem.case)
            assert not favourable_sets(free), seed
    assert told > 0


def unconstrained(case: Case) -> Case:
    several = dict.fromkeys(("causal", "correlated", "exclusive", "required", "formulas", "immutable"), ())
    return replace(case, max_changes=None, directions={}, max_step={}, **several)


@pytest.mark.parametrize("engine", ["lattice", "auto", "cemsp"])
def test_no_further_improvement_breaks_a_lasting_plan(engine: str):
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(PROBLEMS), first=330_000):
        problem = asked(seed, share=0.5)
        case, targets = problem.case, movable(problem.case)
        allowed = feasible_sets(case)
        good = {subset for subset in allowed if problem.holds(changed(case, subset, targets))}
        lasting = {subset for subset in allowed if all(larger in good for larger in allowed if larger >= subset)}
        run = Run(problem, engine, LastingSearch)
        as_it_is = problem.holds(list(case.values)) and all(subset in good for subset in allowed)
        assert run.already == as_it_is, seed
        if run.already:
            continue
        truth = minimal({subset for subset in lasting if subset})
        assert set(run.answers) == truth, seed
        assert len(run.answers) == len(truth)
        sizes = [len(answer) for answer in run.answers]
        assert sizes == sorted(sizes)
        assert (run.finished.complete, run.finished.guarantee) == (True, Guarantee.EXACT)
        seen["found" if truth else "none"] += 1
        seen["differs"] += truth != minimal(good - {frozenset()})
    assert min(seen["found"], seen["none"], seen["differs"]) > 0


def test_a_search_that_may_not_ask_on_claims_no_more_than_it_knows():
    stopped = 0
    for seed in Seeds(scaled(PROBLEMS), first=340_000):
        problem = asked(seed)
        rows = int(np.random.default_rng(seed).integers(1, 400))
        run, truth = Run(problem, "lattice", rows=rows), minimal(favourable_sets(problem.case))
        if run.already:
            continue
        assert set(run.answers) <= truth, seed
        small = {answer for answer in truth if len(answer) <= run.finished.complete_up_to}
        assert small <= set(run.answers), seed
        assert run.oracle.meter.rows <= max(rows, 1 + DRAWS + len(problem.conditions.others)), seed
        stopped += run.finished.stopped_by is StoppedBy.MAX_MODEL_ROWS
    assert stopped > 0


def test_the_share_that_is_needed_is_compared_as_a_share():
    for draws in (1, 3, 7, 20, 100, 333):
        for require in (1e-9, 0.05, 1 / 3, 0.5, 0.7, 0.95, 1.0):
            needed = Conditions({0: NoisyFeature("f", Noise(1.0))}, draws, (), require).needed
            assert needed == min(count for count in range(draws + 1) if count / draws >= require)


def test_draws_depend_on_the_name_alone_and_look_normal():
    one, more = standard_errors("ALT", 500), standard_errors("ALT", 4000)
    assert (one == more[:500]).all()
    assert not (one == standard_errors("AST", 500)).any()
    assert abs(more.mean()) < 0.06
    assert abs(more.std() - 1) < 0.05
    assert 0.62 < np.mean(np.abs(more) < 1) < 0.75


def test_an_infeasible_set_breaks_nothing():
    """Two changes that exclude each other: both together would be refused, and nobody may make both."""
    for seed in Seeds(scaled(20), first=350_000):
        problem = asked(seed, share=0.5)
        run = Run(problem, "auto", LastingSearch)
        assert all(is_feasible(problem.case, answer) for answer in run.answers)
