"""What items demand, as formulas over the moves of a person."""

from collections.abc import Sequence
from typing import Protocol

from app.core.constraints import Causal, Item, State, Statement, meaning
from app.core.following.arithmetic import Arithmetic
from app.core.following.following import Following
from app.core.following.on_the_row import asked_of_the_row, speaks_of
from app.core.formula import FALSE, TRUE, Changed, Formula, any_of, substituted
from app.core.ranges import Allowed, NormalRange
from app.core.relations.compiling import Judge, TargetedMove, compiled, tabulated
from app.core.relations.relation import Relation


class SteppedMove(TargetedMove, Protocol):
    """A move, and which of its feature's steps it is."""

    @property
    def step(self) -> int: ...


class Held(Protocol):
    """A value, what it is held against, and how it is computed, if it is."""

    @property
    def value(self) -> float: ...

    @property
    def normal(self) -> NormalRange | Allowed | None: ...

    @property
    def whole(self) -> bool: ...

    @property
    def derived(self) -> Arithmetic | None: ...


def following_of(features: Sequence[Held], items: Sequence[Item]) -> Following | None:
    """What follows in every row by the description of the model and by causes with amounts; None if nothing does."""
    shifts = [shift for item in items if isinstance(item.statement, Causal) for shift in item.statement.shifts]
    derived = {place: feature.derived for place, feature in enumerate(features) if feature.derived is not None}
    if not shifts and not derived:
        return None
    known = {place: feature.normal for place, feature in enumerate(features)}
    return Following.of(
        [feature.value for feature in features],
        shifts,
        derived,
        frozenset(place for place, feature in enumerate(features) if feature.whole),
        {place: (normal.low, normal.high) for place, normal in known.items() if isinstance(normal, NormalRange)},
    )


def _atoms(moves: Sequence[SteppedMove], features: int) -> dict[int, Formula]:
    """What a change of a feature, or a step of it, means in terms of the moves; see `at_step`."""
    found: dict[int, Formula] = {}
    for place, move in enumerate(moves):
        at = move.position + (move.step - 1) * features
        found[at] = Changed(place) if at not in found else any_of(found[at], Changed(place))
    return found


def formulas_of(
    items: Sequence[Item], moves: Sequence[SteppedMove], states: Sequence[State], following: Following | None
) -> list[Formula]:
    """Each item as a formula; no feature changes but by these moves."""
    index = _atoms(moves, len(states))
    values = [state.value for state in states]

    def over_moves(formula: Formula) -> Formula:
        return substituted(formula, lambda position: index.get(position, FALSE))

    def table(features: Sequence[int], judge: Judge) -> Formula:
        return tabulated(features, judge, moves, values, following)

    def formula(statement: Statement) -> Formula:
        if isinstance(statement, Relation):
            return compiled(statement, moves, values, following)
        if following is not None and speaks_of(statement, following):
            return asked_of_the_row(statement, states, following, table, over_moves)
        return over_moves(meaning(statement, states))

    return [formula(item.statement) for item in items]


def conjuncts_of(
    items: Sequence[Item],
    moves: Sequence[SteppedMove],
    states: Sequence[State],
    settled: tuple[type[Statement], ...],
    following: Following | None,
) -> tuple[Formula, ...]:
    """The formulas that remain after what the choice of moves, or their number, has settled: items of these kinds."""
    if not items:
        return ()
    others = [item for item in items if not isinstance(item.statement, settled) or speaks_of(item.statement, following)]
    return tuple(formula for formula in formulas_of(others, moves, states, following) if formula != TRUE)
