"""Which requests are answered at once, on the event loop: only what is known beforehand to take a few milliseconds.

All others go to the threads that search. What is asked here is counted, not timed, but for the model's own speed.
"""

from app.adapters.constraints import extent, named
from app.adapters.models import Model
from app.adapters.registries import Registry
from app.api.posing import Question
from app.api.schemas import CounterfactualsRequest
from app.core.budget import Limits
from app.core.conflicts import MOST_TABLED
from app.core.constraints import Stated
from app.core.facts import Engine

# Names in the constraints, and words in those of the registry.
MOST_NAMED = 64
# Constraints of an answer that is given at once.
MOST_ITEMS = 8


def is_prompt_to_pose(request: CounterfactualsRequest, model: Model, registry: Registry | None) -> bool:
    """Whether the question is sure to be posed in no time.

    Reading a formula takes a while; so does looking for the name that was meant, and a solver's look for conflicts.
    """
    named_here = named(request.constraints)
    always = 0 if registry is None else extent(registry.constraints)
    if request.constraints.formulas or len(named_here) > MOST_NAMED or always > MOST_NAMED:
        return False
    if (named_here or always) and len(model.features) > MOST_TABLED:
        return False
    known = model.positions.keys()
    others = (named_here, request.normal_ranges, request.guide, request.weights)
    if not model.scorer.prompt_rows or request.instance.keys() != known:
        return False
    return all(known >= set(names) for names in others)


def is_prompt_to_answer(question: Question, engine: Engine, limits: Limits) -> bool:
    """Whether every subset can be judged in one prompt call, the explanation included, and no solver is needed.

    Each answer, and each subset of an explanation, is held against every constraint: there must be few of those too.
    """
    items = question.problem.items
    if len(items) > MOST_ITEMS or any(isinstance(item.statement, Stated) for item in items):
        return False
    subsets = 1 << len(question.problem.candidates)
    within_limits = 2 * subsets < limits.max_model_rows
    return engine is not Engine.CEMSP and subsets <= question.model.scorer.prompt_rows and within_limits
