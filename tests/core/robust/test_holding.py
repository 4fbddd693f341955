"""Plans that hold, against the definition: every subset, every draw, every other model, one row at a time."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from app.core.budget import StoppedBy
from app.core.facts import Explained, Guarantee
from app.core.robust.holding import Conditions
from app.core.robust.lasting import LastingSearch
from app.core.robust.noise import Noise, NoisyFeature, standard_errors
from app.core.search.engines import Search
from tests.core.robust.problems import DRAWS, Asked, Run, asked, turned
from tests.support.brute_force import Case, changed, favourable_sets, feasible_sets, is_feasible, minimal, movable
from tests.support.scale import scaled
from tests.support.seeds import Seeds

ENGINES = ["lattice", "auto", "cemsp", "through"]
PROBLEMS = 25


def problems_of(engine: str, first: int) -> Seeds:
    """Other problems for each engine: all are held against the definition, and not against each other."""
    return Seeds(scaled(PROBLEMS), first + 2_500 * ENGINES.index(engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_it_is_every_minimal_set_that_holds(engine: str):
    seen: Counter[str] = Counter()
    for seed in problems_of(engine, first=310_000):
        problem = asked(seed)
        run, truth = Run(problem, engine, together=seed % 2 == 0), minimal(favourable_sets(problem.case))
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
        seen["everything"] += problem.has_everything
    assert min(seen["found"], seen["none"], seen["differs"], seen["already"], seen["everything"]) > 0


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


@pytest.mark.parametrize("engine", ENGINES)
def test_no_further_improvement_breaks_a_lasting_plan(engine: str):
    """Noise, other models, a share, constraints and further improvement, all required together."""
    seen: Counter[str] = Counter()
    for seed in problems_of(engine, first=330_000):
        # Half of the problems with a share that is easier to reach, so that there are plans to compare.
        problem = asked(seed, share=0.5 if seed % 2 else None)
        case, targets = problem.case, movable(problem.case)
        allowed = feasible_sets(case)
        good = {subset for subset in allowed if problem.holds(changed(case, subset, targets))}
        lasting = {subset for subset in allowed if all(larger in good for larger in allowed if larger >= subset)}
        run = Run(problem, engine, LastingSearch, together=seed % 4 < 2)
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
        seen["everything"] += bool(truth) and problem.has_everything
    assert min(seen["found"], seen["none"], seen["differs"], seen["everything"]) > 0


@pytest.mark.parametrize("kind", [Search, LastingSearch])
@pytest.mark.parametrize("engine", ["lattice", "auto", "through"])
def test_permuting_the_features_permutes_the_answer_and_nothing_else(engine: str, kind: type[Search]):
    """Errors belong to a feature's name, and not to its place."""
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(PROBLEMS), first=360_000):
        problem = asked(seed)
        order = np.random.default_rng((seed, 36)).permutation(len(problem.case.values)).tolist()
        plain, other = Run(problem, engine, kind), Run(turned(problem, order), engine, kind)
        assert other.already == plain.already, seed
        back = [frozenset(order[i] for i in answer) for answer in other.answers]
        assert dict(zip(back, other.scores, strict=True)) == dict(zip(plain.answers, plain.scores, strict=True)), seed
        assert other.oracle.meter.rows == plain.oracle.meter.rows, seed
        if not plain.already:
            assert other.finished == plain.finished, seed
        seen["found"] += bool(back) and problem.has_everything
    assert seen["found"] > 0


@pytest.mark.parametrize("kind", [Search, LastingSearch])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_that_may_not_ask_on_claims_no_more_than_it_knows(engine: str, kind: type[Search]):
    stopped = 0
    for seed in Seeds(scaled(PROBLEMS), first=340_000):
        problem = asked(seed)
        rows = int(np.random.default_rng(seed).integers(1, 400))
        run, truth = Run(problem, engine, kind, rows=rows), sets_that(problem, lasting=kind is LastingSearch)
        if run.already:
            continue
        assert set(run.answers) <= truth, seed
        small = {answer for answer in truth if len(answer) <= run.finished.complete_up_to}
        assert small <= set(run.answers), seed
        assert not run.finished.complete or set(run.answers) == truth, seed
        assert run.oracle.meter.rows <= max(rows, 1 + DRAWS + len(problem.conditions.others)), seed
        stopped += run.finished.stopped_by is StoppedBy.MAX_MODEL_ROWS
    assert stopped > 0 or engine == "cemsp"


def sets_that(problem: Asked, lasting: bool) -> set[frozenset[int]]:
    """The minimal sets that hold; those that no further improvement breaks, where the search is for them."""
    if not lasting:
        return minimal(favourable_sets(problem.case))
    allowed, targets = feasible_sets(problem.case), movable(problem.case)
    good = {subset for subset in allowed if problem.holds(changed(problem.case, subset, targets))}
    return minimal({s for s in allowed if s and all(larger in good for larger in allowed if larger >= s)})


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
