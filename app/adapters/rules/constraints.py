"""Constraints as written in requests, models, registries and keys, and the items that they become."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from app.adapters.files.names import LONGEST_NAME, suggestion
from app.adapters.files.numbers import CountFromNought, NotNegative
from app.adapters.graphs.features import ModelFeature
from app.adapters.rules.formulas import BadFormula, FormulaLimits, Place, count_tokens, parse_formula
from app.core.constraints import (
    Causal,
    Correlated,
    Directed,
    Direction,
    Exclusive,
    Immutable,
    Item,
    MaxChanges,
    MaxStep,
    Required,
    Stated,
    Statement,
)

MOST_HINTS = 100

Group = Annotated[list[str], Field(min_length=1)]


class CausalEntry(BaseModel):
    """If the cause changes, every effect is normal afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cause: str
    effects: list[str] = Field(min_length=1)


class ConstraintsEntry(BaseModel):
    """What cannot or may not change, and what goes together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    immutable: list[str] = Field(default=[], description="features that never change")
    directions: dict[str, Literal["increase", "decrease"]] = Field(
        default={}, description="the only direction in which a feature may move"
    )
    max_step: dict[str, NotNegative] = Field(default={}, description="how far a feature may move, in its unit")
    causal: list[CausalEntry] = Field(default=[], description="if the cause changes, its effects are normal afterwards")
    correlated: list[Group] = Field(
        default=[], description="features of which the abnormal ones change all together or not at all"
    )
    exclusive: list[Group] = Field(default=[], description="features of which at most one changes")
    required: list[str] = Field(default=[], description="features that must be normal afterwards")
    max_changes: CountFromNought | None = Field(default=None, description="most features that may change")
    formulas: list[str] = Field(default=[], description="Boolean expressions, such as: ALT xor AST")


class Mistake(NamedTuple):
    """A field of the constraints that cannot be accepted, and why; inside a formula, also where in it."""

    field: str
    message: str
    place: Place | None = None


class Names:
    """Turns names into positions, and collects mistakes."""

    def __init__(self, features: Sequence[ModelFeature]) -> None:
        self.positions = {feature.name: position for position, feature in enumerate(features)}
        self._categories = {feature.name for feature in features if feature.type == "category"}
        self.mistakes: list[Mistake] = []

    def one(self, name: str, field: str) -> list[int]:
        if name in self.positions:
            return [self.positions[name]]
        # Finding the closest name is slow, and nobody reads that many hints.
        hint = suggestion(name, self.positions) if len(self.mistakes) < MOST_HINTS else "check the spelling"
        self.mistakes.append(Mistake(field[:LONGEST_NAME], f"is not a feature of this model; {hint}"))
        return []

    def number(self, name: str, field: str) -> list[int]:
        """A feature that has a direction and a distance."""
        if name in self._categories:
            self.mistakes.append(Mistake(field, "is a category; categories have no direction and no step"))
        return self.one(name, field)

    def several(self, names: Sequence[str], field: str) -> list[int]:
        seen: set[str] = set()
        for index, name in enumerate(names):
            if name in seen:
                self.mistakes.append(Mistake(f"{field}[{index}]", f"names {name[:LONGEST_NAME]!r} twice"))
            seen.add(name)
        return [position for index, name in enumerate(names) for position in self.one(name, f"{field}[{index}]")]


def read_constraints(
    entry: ConstraintsEntry, features: Sequence[ModelFeature], limits: FormulaLimits
) -> tuple[tuple[Item, ...], list[Mistake]]:
    """The items of some constraints, each with its path, and all mistakes."""
    if not entry.model_fields_set:
        return (), []
    names = Names(features)
    if len(named(entry)) > limits.items:
        return (), [Mistake("", f"hold more than {limits.items:,} items")]
    items = [
        Item(path, statement)
        for path, statements in (
            *_about_one(entry, names),
            *_about_several(entry, names),
            *_formulas(entry.formulas, names, limits),
        )
        for statement in statements
    ]
    if entry.max_changes is not None:
        items.append(Item("max_changes", MaxChanges(entry.max_changes)))
    return tuple(items), names.mistakes


def extent(entry: ConstraintsEntry) -> int:
    """How much there is to read: names, and the words and signs of formulas."""
    return len(named(entry)) + count_tokens(entry.formulas)


def named(entry: ConstraintsEntry) -> list[str]:
    """Every name that the constraints hold, as often as they do; those in formulas aside."""
    if not entry.model_fields_set:
        return []
    groups = [*entry.correlated, *entry.exclusive, *(causal.effects for causal in entry.causal)]
    listed = [entry.immutable, entry.directions, entry.max_step, entry.required, *groups]
    return [*(name for names in listed for name in names), *(causal.cause for causal in entry.causal)]


Read = Iterator[tuple[str, list[Statement]]]


def _about_one(entry: ConstraintsEntry, names: Names) -> Read:
    for index, feature in enumerate(names.several(entry.immutable, "immutable")):
        yield f"immutable[{index}]", [Immutable(feature)]
    for name, way in entry.directions.items():
        path = f"directions.{name}"
        yield path, [Directed(feature, Direction(way)) for feature in names.number(name, path)]
    for name, step in entry.max_step.items():
        path = f"max_step.{name}"
        yield path, [MaxStep(feature, step) for feature in names.number(name, path)]
    for index, feature in enumerate(names.several(entry.required, "required")):
        yield f"required[{index}]", [Required(feature)]


def _about_several(entry: ConstraintsEntry, names: Names) -> Read:
    for index, causal in enumerate(entry.causal):
        path = f"causal[{index}]"
        effects = tuple(names.several(causal.effects, f"{path}.effects"))
        if causal.cause in causal.effects:
            names.mistakes.append(Mistake(f"{path}.effects", "names the cause as its own effect"))
        yield path, [Causal(cause, effects) for cause in names.one(causal.cause, f"{path}.cause")]
    for index, group in enumerate(entry.correlated):
        yield f"correlated[{index}]", [Correlated(tuple(names.several(group, f"correlated[{index}]")))]
    for index, group in enumerate(entry.exclusive):
        yield f"exclusive[{index}]", [Exclusive(tuple(names.several(group, f"exclusive[{index}]")))]


def _formulas(texts: Sequence[str], names: Names, limits: FormulaLimits) -> Read:
    if len(texts) > limits.count:
        names.mistakes.append(Mistake("formulas", f"holds more than {limits.count} formulas"))
        return
    if all(len(text) <= limits.length for text in texts) and count_tokens(texts) > limits.tokens:
        names.mistakes.append(Mistake("formulas", f"hold more than {limits.tokens:,} words and signs in total"))
        return
    literals = 0
    for index, text in enumerate(texts):
        try:
            formula, named = parse_formula(text, names.positions, limits)
        except BadFormula as error:
            names.mistakes.append(Mistake(f"formulas[{index}]", str(error), error.place))
            continue
        literals += named
        if literals > limits.literals:
            names.mistakes.append(Mistake("formulas", f"name more than {limits.literals:,} features in total"))
            return
        yield f"formulas[{index}]", [Stated(formula)]


class ItemPath(NamedTuple):
    """Where an item of the constraints stands: `immutable[0]`, `max_step.ALT` or `max_changes`."""

    kind: str
    place: int | None = None
    feature: str | None = None

    @classmethod
    def read(cls, text: str) -> "ItemPath":
        """What a path says; `ValueError` where it is none."""
        found = _ITEM_PATH.fullmatch(text)
        if found is None:
            raise ValueError("is not the path of an item")
        return cls(found["kind"], None if found["place"] is None else int(found["place"]), found["feature"])

    def chosen_from(self, content: Any) -> Any:
        """What stands there, of all that the constraints hold of the kind."""
        if self.place is not None:
            return content[self.place]
        return content if self.feature is None else content[self.feature]


_ITEM_PATH = re.compile(r"(?P<kind>\w+)(?:\[(?P<place>\d+)\]|\.(?P<feature>.+))?", re.DOTALL)


def written(entry: ConstraintsEntry, path: str) -> Any:
    """What was written at an item's path, in the words of whoever wrote it."""
    found = ItemPath.read(path)
    chosen = found.chosen_from(getattr(entry, found.kind))
    return chosen.model_dump() if isinstance(chosen, CausalEntry) else chosen
