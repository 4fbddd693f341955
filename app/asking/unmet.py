"""Why an item that is part of a conflict cannot be met: the features in it that have nowhere to go."""

from collections.abc import Sequence

from app.adapters.files.names import listed
from app.adapters.graphs.features import ModelFeature
from app.core.constraints import Item, Required, Stated
from app.core.findings import WhyNot
from app.core.formula import Changed, Formula, substituted
from app.core.problem import Problem

# The words for one feature, and for several.
REASONS = {
    WhyNot.NORMAL: ("is already normal", "are already normal"),
    WhyNot.NO_RANGE: ("has neither a range nor a guide", "have neither a range nor a guide"),
    WhyNot.MISSING: ("is missing, without if_missing", "are missing, without if_missing"),
    WhyNot.AT_TARGET: ("is already at its target", "are already at their targets"),
}


def why_unmet(item: Item, problem: Problem, features: Sequence[ModelFeature]) -> str:
    """What stands behind the rule in a message; empty where all of its features could change but for other rules."""
    fixed: dict[WhyNot, list[str]] = {}
    for position in _demanded(item):
        why_not = problem.findings[position].why_not
        if why_not in REASONS:
            fixed.setdefault(why_not, []).append(features[position].name)
    said = [_said(why_not, names) for why_not, names in fixed.items()]
    return f" ({'; '.join(said)})" if said else ""


def _said(why_not: WhyNot, names: Sequence[str]) -> str:
    one, several = REASONS[why_not]
    return f"{names[0]} {one}, so it cannot change" if len(names) == 1 else f"{listed(names)} {several}, so they cannot"


def _demanded(item: Item) -> list[int]:
    """The features of an item that may ask for changes."""
    match item.statement:
        case Required(feature):
            return [feature]
        case Stated(formula):
            return _named(formula)
    return []


def _named(formula: Formula) -> list[int]:
    seen: dict[int, None] = {}

    def noted(position: int) -> Formula:
        seen[position] = None
        return Changed(position)

    substituted(formula, noted)
    return list(seen)
