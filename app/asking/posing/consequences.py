"""What follows from changes: whether it can be worked out for every plan, and whether causes fit together."""

from collections.abc import Generator, Iterator, Sequence
from math import isnan

import numpy as np

from app.adapters.graphs.models import Model
from app.adapters.rules.causes import NOT_IN_A_FILE
from app.adapters.rules.constraints import IN_A_RING, ring_of
from app.asking.reading import Errors
from app.asking.rules import Rulebook
from app.core.budget import Budget
from app.core.constraints import Causal, Item
from app.core.facts import Moment, Working
from app.core.findings import Feature
from app.core.following.arithmetic import bound, features_of
from app.core.following.following import Following, Shift
from app.core.following.on_the_row import tables_of
from app.core.problem import Problem, pose
from app.core.relations.compiling import MOST_COMBINATIONS, combinations_of, values_of
from app.core.search.conflicts import Conflict, find_conflict

# Values of one feature are looked at in so many combinations of what it follows from.
MOST_LOOKED_AT = 2**16


def check_causes(books: Sequence[Rulebook], own: Rulebook, errors: Errors) -> None:
    """Causes with amounts of several owners: no pair twice, no ring; and what only a file may say."""
    known: set[tuple[int, int]] = set()
    for book in books:
        for item, shift in _shifts(book):
            if shift[:2] in known:
                errors.add(book.field(item), "says again by how much an effect moves with its cause")
        known |= {shift[:2] for _, shift in _shifts(book)}
    if known and not errors.found:
        items = [item for book in books for item in book.items]
        if (path := ring_of(items)) is not None:
            book = next(book for book in books for item in book.items if item.path == path)
            errors.add(book.field(next(item for item in book.items if item.path == path)), IN_A_RING)
    for item, shift in _shifts(own):
        if shift.even_if_immutable:
            errors.add(own.field(item), NOT_IN_A_FILE)


def _shifts(book: Rulebook) -> Iterator[tuple[Item, Shift]]:
    for item in book.items:
        if isinstance(item.statement, Causal):
            yield from ((item, shift) for shift in item.statement.shifts)


def check_tables(books: Sequence[Rulebook], problem: Problem, errors: Errors) -> None:
    """What depends on very many features that can all move is not looked at in every combination."""
    for book in books:
        for item in book.items:
            groups = tables_of(item.statement, problem.following)
            if any(
                combinations_of(group, problem.candidates, problem.following) > MOST_COMBINATIONS for group in groups
            ):
                reason = f"joins features that can take more than {MOST_COMBINATIONS:,} combinations of values"
                errors.add(book.field(item), f"{reason}; name fewer of them")


def check_consequences(books: Sequence[Rulebook], problem: Problem, model: Model, errors: Errors) -> None:
    """Every value that follows from a plan must be one that the model can read."""
    following = problem.following
    if following is None:
        return
    for feature in (*following.shifts, *following.derived):
        name, most = model.features[feature].name, model.types[feature].most
        if _bound(feature, following, problem) <= most:
            continue
        if combinations_of([feature], problem.candidates, following) > MOST_LOOKED_AT:
            reason = f"follows from features that can take more than {MOST_LOOKED_AT:,} combinations of values"
            errors.add(f"instance.{name}", f"{reason}; ask with fewer steps, or with fewer ranges")
            continue
        values, lacking = values_of(feature, problem.candidates, problem.instance, following)
        if not (lacking | (np.abs(values) <= most)).all():
            how, other = "", "another amount, or other targets"
            if feature in following.derived:
                how, other = f" ({model.features[feature].derived})", "other targets"
            reason = f"some changes would leave {name}{how} without a value that the model can read; give {other}"
            errors.add(_place_of(feature, books, problem, model), reason)


def _place_of(feature: int, books: Sequence[Rulebook], problem: Problem, model: Model) -> str:
    """Where it is said what the feature follows from; of several causes, the one that may move it farthest."""
    following = problem.following
    assert following is not None, "something follows"
    if feature in following.derived:
        return f"instance.{model.features[model.first_sent(feature)].name}"
    farthest = max(following.shifts[feature], key=lambda shift: abs(shift.factor) * _most(shift.cause, problem))
    return next(book.field(item) for book in books for item, shift in _shifts(book) if shift == farthest)


def _bound(feature: int, following: Following, problem: Problem) -> float:
    """What the value cannot exceed in any row, roughly; infinite where that is not known."""
    if feature in following.derived:
        arithmetic = following.derived[feature]
        if any(part in following for part in features_of(arithmetic)):
            return np.inf
        return bound(arithmetic, lambda part: _most(part, problem))
    shifts = following.shifts[feature]
    if any(shift.cause in following for shift in shifts):
        return np.inf
    return _most(feature, problem) + sum(2 * abs(shift.factor) * _most(shift.cause, problem) for shift in shifts)


def _most(feature: int, problem: Problem) -> float:
    targets = [move.target for move in problem.candidates if move.position == feature]
    known = [abs(value) for value in (problem.instance[feature], *targets) if not isnan(value)]
    return max(known, default=0.0)


def with_causes(
    conflict: Conflict, features: tuple[Feature, ...], items: Sequence[Item], budget: Budget
) -> Generator[Moment, None, Conflict]:
    """The conflict with those causes without whose amounts there would be none."""
    kept = [item for item in items if item in conflict.items or _moves_others(item)]
    left = list(kept)
    while left:
        yield Working()
        if budget.time_over() is not None:
            return Conflict(tuple(kept), settled=False)
        rest = [item for item in kept if item is not left[-1]]
        again = yield from find_conflict(pose(features, tuple(rest)), budget)
        if not again.settled:
            return Conflict(tuple(kept), settled=False)
        dropped = left.pop()
        if again.items:
            kept.remove(dropped)
            # What could not be left out before may be left out now.
            left = list(kept)
    return Conflict(tuple(kept))


def _moves_others(item: Item) -> bool:
    return isinstance(item.statement, Causal) and bool(item.statement.shifts)
