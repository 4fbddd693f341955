"""Every method of the comparison by its name. Those that search subsets answer with sets, the others with rows."""

import time
from collections.abc import Callable, Mapping, Sequence

import z3

from app.core.budget import Budget, Limits, StopFlag
from app.core.facts import Answers, Engine, Finished
from app.core.problem import Problem
from app.core.robust.holding import Conditions, HoldingOracle, OtherModel
from app.core.robust.noise import Noise, NoisyFeature
from app.core.search.engines import Search
from app.core.search.oracle import Oracle
from lab.paper.baselines.cf_proto import cf_proto
from lab.paper.baselines.dice_gradient import dice_gradient
from lab.paper.baselines.dice_package import dice_package, import_package
from lab.paper.baselines.growing_spheres import growing_spheres
from lab.paper.baselines.plain_cf import plain_cf
from lab.paper.baselines.sns import sns
from lab.paper.published_cemsp import PublishedCemsp
from lab.paper.questions.posing import Posed
from lab.paper.questions.question import Method
from lab.paper.retraining import Trained

Subset = frozenset[int]

# What is asked of plans that hold: errors with this standard deviation, in standardised units (the strongest noise of
# the comparison), so many draws, and the share of them that must be favourable.
ERROR, DRAWS, REQUIRED = 0.01, 100, 0.95

BASELINES: Mapping[str, Method] = {
    "growing_spheres": growing_spheres,
    "plain_cf": plain_cf,
    "cf_proto": cf_proto,
    "dice": dice_gradient,
    "dice_ml": dice_package,
    "sns": sns,
}


def warm_up() -> None:
    """Load what a method loads only when it is first asked."""
    import_package()


def exact(trained: Trained, problem: Problem) -> list[Subset]:
    """Flipset's engine `lattice`, as the service runs it."""
    model = trained.model
    return _found(
        problem, lambda budget: Oracle(model.scorer, model.favourable, problem.instance, problem.moves, budget)
    )


def robust(trained: Trained, companions: Sequence[Trained], problem: Problem) -> list[Subset]:
    """The same with `robustness` in the request: every minimal set that holds for all networks of a committee and,
    under errors of every value, in nearly all draws.
    """
    model, positions = trained.model, tuple(range(len(problem.instance)))
    noisy = {
        place: NoisyFeature(feature.name, Noise(ERROR * float(trained.scale.deviation[place])))
        for place, feature in enumerate(model.features)
    }
    others = [OtherModel(each.model.name, each.model.scorer, each.model.favourable, positions) for each in companions]
    conditions = Conditions(noisy, DRAWS, tuple(others), REQUIRED)
    given = model.scorer, model.favourable, problem.instance, problem.moves
    return _found(problem, lambda budget: HoldingOracle(*given, budget, conditions))


def _found(problem: Problem, oracle_of: Callable[[Budget], Oracle]) -> list[Subset]:
    """All that the engine `lattice` finds."""
    budget = Budget(
        Limits(max_model_rows=10**9, deadline_seconds=600.0), time.perf_counter, time.perf_counter(), StopFlag()
    )
    oracle = oracle_of(budget)
    facts = list(Search(problem, oracle, budget).facts(Engine.LATTICE))
    last = facts[-1]
    assert isinstance(last, Finished), "the last fact says how the search ended"
    assert last.complete, "nothing may stop it: it is to find everything"
    found = (found for fact in facts if isinstance(fact, Answers) for found in fact)
    return [frozenset(problem.moves[index].position for index in answer.moves) for answer in found]


def published(trained: Trained, posed: Posed) -> PublishedCemsp:
    """The search as the paper prints it, with a solver that has seen nobody else."""
    return PublishedCemsp(trained.judge, posed.instance, posed.targets, z3.Context())
