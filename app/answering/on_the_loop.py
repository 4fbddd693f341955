"""What is answered at once, on the event loop, while everybody else waits: only what is known beforehand to be quick.

All other requests go to the threads that search. What is asked here is counted, not timed, but for the model's own
speed. Should the model be slower all the same, the watchdog ends its run, and the request is begun again in a thread.
"""

import time
from math import comb, inf
from threading import Lock

from app.adapters.graphs.models import Model
from app.adapters.graphs.pacing import MOST_PROMPT_ROWS
from app.adapters.rules.constraints import ConstraintsEntry, extent, moves_along, named
from app.answering.in_use import ModelInUse
from app.asking.callers import ANYONE, Caller
from app.asking.posing.question import Question
from app.asking.schemas import CounterfactualsRequest
from app.core.budget import Limits
from app.core.constraints import Stated
from app.core.facts import Engine
from app.core.formula import extent as size_of_formula
from app.core.relations.relation import Relation
from app.core.search.conflicts import MOST_TABLED

# A longer body is parsed and checked in a thread, and its question is posed in one.
MOST_BYTES = 16 * 1024
# Names in the constraints, and words and signs in their formulas: those of a request, and those that always hold.
MOST_NAMED = 64
# Constraints of an answer that is given at once.
MOST_ITEMS = 8
# What is counted beforehand takes half of this at the most. Should it take longer, on a busy machine perhaps, the
# answer goes on in a thread.
ON_THE_LOOP_SECONDS = 0.01
# Telling which plans hold takes as long as so many prompt calls of the model, at the most.
PROMPT_CALLS = 2
# A run of the model that takes so long is ended, and begun again in a thread.
MOST_ON_THE_LOOP_SECONDS = 0.25


class LoopHeldUp(Exception):
    """A run that was to be quick was not, while everybody waited; it must be begun again in a thread."""


class TurnOnTheLoop:
    """The time that a request takes on the event loop. The watchdog looks at it from its own thread."""

    __slots__ = ("_lock", "_until", "_was_too_long")

    def __init__(self) -> None:
        self._lock = Lock()
        self._until = time.perf_counter() + MOST_ON_THE_LOOP_SECONDS
        self._was_too_long = False

    def end_if_late(self, now: float) -> bool:
        """Whether it has lasted too long by now, and must be ended."""
        with self._lock:
            self._was_too_long |= now > self._until
            return self._was_too_long

    def leave(self) -> None:
        """From here on only the client waits; `LoopHeldUp` where everybody has waited for too long before."""
        with self._lock:
            self._until = inf
            if self._was_too_long:
                raise LoopHeldUp


def keep_off_the_loop(model: Model) -> None:
    """It has held everybody up once, and gets no other opportunity."""
    model.scorer.prompt_rows = 0


def can_pose_on_the_loop(request: CounterfactualsRequest, chosen: ModelInUse, caller: Caller = ANYONE) -> bool:
    """Whether the question is sure to be posed in no time, with the constraints that are held to in any case.

    A long formula takes a while; so does looking for the name that was meant, and a solver's look for conflicts.
    """
    model, constraints = chosen.model, request.constraints
    if not model.scorer.prompt_rows or request.instance.keys() != model.sent.keys():
        return False
    held = _held_in_any_case(request, chosen, caller)
    if model.derived or any(map(moves_along, (constraints, *held))):
        # What follows may be looked at for very many combinations of values.
        return False
    here, always = extent(constraints), sum(map(extent, held))
    if here > MOST_NAMED or always > MOST_NAMED:
        return False
    if (here or always) and len(model.features) > MOST_TABLED:
        return False
    known = model.positions.keys()
    given = (named(constraints), request.normal_ranges, request.guide, request.weights)
    return all(known >= set(names) for names in given)


def _held_in_any_case(request: CounterfactualsRequest, chosen: ModelInUse, caller: Caller) -> list[ConstraintsEntry]:
    """The rules of the model, the key and the registry."""
    name = request.registry if request.names_registry else chosen.model.registry
    registry = None if name is None else chosen.catalog.registries.get(name)
    held = [chosen.model.constraints, caller.constraints]
    return held if registry is None else [*held, registry.constraints]


def rows_at_once(question: Question, engine: Engine, limits: Limits) -> float:
    """How many rows one call scores if it judges every subset, the explanation included, and no solver is needed.

    Infinite where one call would not do. Each answer, and each subset of an explanation, is held against every
    constraint: there must be few of those too, and no long formula among them.
    """
    if question.problem.ladder is not None or question.problem.following is not None or question.least:
        return inf
    items = question.problem.items
    if any(isinstance(item.statement, Relation) for item in items):
        return inf
    stated = [item.statement.formula for item in items if isinstance(item.statement, Stated)]
    if len(items) > MOST_ITEMS or sum(map(size_of_formula, stated)) > MOST_NAMED:
        return inf
    subsets = 1 << len(question.problem.candidates)
    if engine in (Engine.CEMSP, Engine.THROUGH) or 2 * subsets >= limits.max_model_rows:
        return inf
    return max(subsets, _rows_of_telling(question))


def _rows_of_telling(question: Question) -> float:
    """The rows that it takes to tell which plans hold, as calls of that many rows."""
    robustness, moves = question.robustness, len(question.problem.moves)
    if robustness is None:
        return 0
    if robustness.plans is None:
        # It was asked for: there may be any number of draws and models.
        return inf
    # No more sets than this are minimal.
    plans = min(robustness.plans, comb(moves, moves // 2))
    return plans * robustness.conditions.draws / PROMPT_CALLS


def judges_with_the_instance(question: Question, engine: Engine, rows: float) -> bool:
    """Whether every subset is scored in the call that scores the instance.

    So it is if `rows_at_once` are few, whether they are prompt or not: then an answer counts the same rows and calls on
    a busy machine. If the model lives elsewhere, two ways there and back would take twice as long; this never happens
    on the event loop.
    """
    scorer = question.model.scorer
    if rows <= MOST_PROMPT_ROWS and scorer.prompt_rows:
        return True
    is_elsewhere = question.model.sha256 is None and engine not in (Engine.CEMSP, Engine.THROUGH)
    return is_elsewhere and 1 << len(question.problem.candidates) <= scorer.rows_together
