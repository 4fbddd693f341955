"""Every method of the comparison by its name. The two that search subsets answer with sets, the others with rows."""

import time
from collections.abc import Mapping

import z3

from app.core.budget import Budget, Limits, StopFlag
from app.core.facts import Answers, Engine, Finished
from app.core.problem import Problem
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
    budget = Budget(
        Limits(max_model_rows=10**9, deadline_seconds=600.0), time.perf_counter, time.perf_counter(), StopFlag()
    )
    oracle = Oracle(trained.model.scorer, trained.model.favourable, problem.instance, problem.moves, budget)
    facts = list(Search(problem, oracle, budget).facts(Engine.LATTICE))
    last = facts[-1]
    assert isinstance(last, Finished), "the last fact says how the search ended"
    assert last.complete, "nothing may stop it: it is to find everything"
    found = (found for fact in facts if isinstance(fact, Answers) for found in fact)
    return [frozenset(problem.moves[index].position for index in answer.moves) for answer in found]


def published(trained: Trained, posed: Posed) -> PublishedCemsp:
    """The search as the paper prints it, with a solver that has seen nobody else."""
    return PublishedCemsp(trained.judge, posed.instance, posed.targets, z3.Context())
