"""The rules of a run, item by item, each in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.adapters.rules.item_words import item_words
from app.cohorts.report.run import Run

# What stands before the path of an item, and what of run.json holds the constraints of its owner.
OWNERS = {"model:": "model", "registry:": "registry", "": "request"}


def rules_of(run: Run) -> Iterator[tuple[str, str]]:
    """Every rule in force for everyone: its owner and path, and what it says."""
    for owner in OWNERS:
        constraints = _constraints(run, owner)
        yield from ((f"{owner}{item}", item_words(item, constraints)) for item in items_of(constraints))


def words_of(run: Run, item: str) -> str:
    """What an item says, for any owner."""
    owner = next(owner for owner in OWNERS if item.startswith(owner))
    return item_words(item.removeprefix(owner), _constraints(run, owner))


def _constraints(run: Run, owner: str) -> Mapping[str, Any]:
    constraints = run.facts_of(OWNERS[owner]).get("constraints")
    return constraints if isinstance(constraints, Mapping) else {}


def items_of(constraints: Mapping[str, Any]) -> Iterator[str]:
    """The paths of all items, in the order that they were written in."""
    for kind, content in constraints.items():
        if isinstance(content, Mapping):
            yield from (f"{kind}.{feature}" for feature in content)
        elif isinstance(content, list):
            yield from (f"{kind}[{place}]" for place in range(len(content)))
        elif content is not None:
            yield kind
