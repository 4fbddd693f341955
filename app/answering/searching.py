"""Which search a question gets."""

from collections.abc import Sequence
from functools import partial

from app.asking.posing.question import Question
from app.core.budget import Budget
from app.core.problem import Move
from app.core.robust.asked import More
from app.core.robust.lasting import LastingSearch
from app.core.search.engines import Search
from app.core.search.oracle import Oracle
from app.core.steps.search import StepSearch
from app.core.through.networks.view import NetworkView
from app.core.through.view import Kind, Unseen, View


def search_of(question: Question, oracle: Oracle, budget: Budget) -> Search:
    """The search that a question asks for, seeing through the model where that is of use."""
    robustness = question.robustness
    if robustness is not None and robustness.more is More.REQUIRE:
        return LastingSearch(question.problem, oracle, budget)
    ladder = question.problem.ladder
    if ladder is not None:
        required = robustness is not None and robustness.is_required
        is_seen = question.model.structure.kind in (Kind.LINEAR, Kind.TREES) and ladder.is_chained and not required
        return StepSearch(question.problem, oracle, budget, partial(_view, question, oracle) if is_seen else None)
    # The view tells what the model decides, not what holds.
    is_seen = question.model.structure.kind is not Kind.OPAQUE and not (robustness and robustness.is_required)
    return Search(question.problem, oracle, budget, partial(_view, question, oracle) if is_seen else None)


def _view(question: Question, oracle: Oracle, moves: Sequence[Move]) -> View | NetworkView | None:
    """What is seen of the model for these moves of the person; nothing where other values follow from them."""
    if question.problem.following is not None:
        return None
    row, cells = oracle.cells_of(moves)
    try:
        return question.model.structure.view(row, cells, question.favourable)
    except Unseen:
        return None
