"""What an item of the constraints says: `immutable[0]` is a place in a request, `BIL never changes` is a rule."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.cohorts.report.wording import listed

REGISTRY = "registry:"
PATH = re.compile(r"(?P<kind>\w+)(?:\[(?P<place>\d+)\]|\.(?P<feature>.+))?", re.DOTALL)
ONE_WAY = {"increase": "may only go up", "decrease": "may only go down"}


def item_words(item: str, constraints: Mapping[str, Any]) -> str:
    """The rule behind a path; empty where the constraints that are known do not hold it."""
    found = PATH.fullmatch(item)
    if not found:
        return ""
    value = constraints.get(found["kind"])
    try:
        if found["place"] is not None:
            value = value[int(found["place"])]  # type: ignore[index]  # whatever else it is ends below
        elif found["feature"] is not None:
            value = value[found["feature"]]  # type: ignore[index]  # the same
        return _rule(found["kind"], found["feature"] or "", value)
    except (LookupError, TypeError, ValueError):
        return ""


def items_of(constraints: Mapping[str, Any]) -> Iterator[str]:
    """The paths of all items, in the order that they were written in."""
    for kind, content in constraints.items():
        if isinstance(content, Mapping):
            yield from (f"{kind}.{feature}" for feature in content)
        elif isinstance(content, list):
            yield from (f"{kind}[{place}]" for place in range(len(content)))
        elif content is not None:
            yield kind


def _rule(kind: str, feature: str, value: Any) -> str:
    match kind:
        case "immutable":
            return f"{value} never changes"
        case "directions":
            return f"{feature} {ONE_WAY[value]}"
        case "max_step":
            return f"{feature} may move by at most {value:g}"
        case "causal":
            return f"if {value['cause']} changes, {listed(value['effects'])} must be normal"
        case "correlated":
            return f"{listed(value)} change together or not at all"
        case "exclusive":
            return f"at most one of {listed(value)} changes"
        case "required":
            return f"{value} must be normal afterwards"
        case "max_changes":
            return f"at most {value} changes" if value != 1 else "at most 1 change"
        case "formulas":
            return str(value)
    return ""
