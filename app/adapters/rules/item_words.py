"""Items of constraints in words: `immutable[0]` is a path in a request, `BIL never changes` is a rule."""

from collections.abc import Mapping
from typing import Any

from app.adapters.files.names import listed
from app.adapters.files.numbers import number_text
from app.adapters.rules.constraints import ItemPath

ONE_WAY = {"increase": "may only go up", "decrease": "may only go down"}


def item_words(item: str, constraints: Mapping[str, Any]) -> str:
    """The rule behind a path; empty where the constraints that are known do not hold it."""
    try:
        path = ItemPath.read(item)
        return _rule(path, path.chosen_from(constraints.get(path.kind)))
    except (LookupError, TypeError, ValueError):
        return ""


def rule_words(item: str, rule: object) -> str:
    """The same for what is written at the path; empty where that is no constraint."""
    try:
        return _rule(ItemPath.read(item), rule)
    except (LookupError, TypeError, ValueError):
        return ""


def _rule(path: ItemPath, value: Any) -> str:
    match path.kind:
        case "immutable":
            return f"{value} never changes"
        case "directions":
            return f"{path.feature} {ONE_WAY[value]}"
        case "max_step":
            return f"{path.feature} may move by at most {number_text(value)}"
        case "causal":
            return _causal_words(value["cause"], value["effects"])
        case "correlated":
            return f"{listed(value)} change together or not at all"
        case "exclusive":
            return f"at most one of {listed(value)} changes"
        case "required":
            return f"{value} must be normal afterwards"
        case "max_changes":
            return f"at most {value} features change" if value != 1 else "at most 1 feature changes"
        case "formulas" | "relations":
            return str(value)
    return ""


def _causal_words(cause: str, effects: list[Any]) -> str:
    """What must be normal, and what moves along."""
    normal = [effect for effect in effects if isinstance(effect, str)]
    moved = [effect for effect in effects if not isinstance(effect, str)]
    said = [f"{listed(normal)} must be normal"] if normal else []
    for effect in moved:
        times = "by as much" if effect["change"] in ("same", 1) else f"by {number_text(effect['change'])} times as much"
        said.append(f"{effect['feature']} moves {times}")
    return f"if {cause} changes, {listed(said)}"
