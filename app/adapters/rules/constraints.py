"""Constraints as written in requests, models, registries and keys, and the items that they become."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from app.adapters.files.names import LONGEST_NAME, suggestion
from app.adapters.files.numbers import CountFromNought, NotNegative
from app.adapters.graphs.features import ModelFeature
from app.adapters.rules.causes import AmountEntry, CausalEntry
from app.adapters.rules.formulas import BadFormula, FormulaLimits, Place, count_tokens, parse_formula
from app.adapters.rules.relations import parse_relation
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
from app.core.following.following import Cycle, Shift, in_order

MOST_HINTS = 100

Group = Annotated[list[str], Field(min_length=1)]


class ConstraintsEntry(BaseModel):
    """What cannot or may not change, and what goes together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    immutable: list[str] = Field(default=[], description="features that never change")
    directions: dict[str, Literal["increase", "decrease"]] = Field(
        default={}, description="the only direction in which a feature may move"
    )
    max_step: dict[str, NotNegative] = Field(default={}, description="how far a feature may move, in its unit")
    causal: list[CausalEntry] = Field(
        default=[], description="if the cause changes, its effects are normal afterwards, or move along with it"
    )
    correlated: list[Group] = Field(
        default=[], description="features of which the abnormal ones change all together or not at all"
    )
    exclusive: list[Group] = Field(default=[], description="features of which at most one changes")
    required: list[str] = Field(default=[], description="features that must be normal afterwards")
    max_changes: CountFromNought | None = Field(default=None, description="most features that may change")
    formulas: list[str] = Field(default=[], description="Boolean expressions, such as: ALT xor AST")
    relations: list[str] = Field(
        default=[], description="comparisons between values of the changed row, such as: ALT <= 2 * AST + 5"
    )


class Mistake(NamedTuple):
    """A field of the constraints that cannot be accepted, and why; inside a formula, also where in it."""

    field: str
    message: str
    place: Place | None = None


class Names:
    """Turns names into positions, and collects mistakes."""

    def __init__(self, features: Sequence[ModelFeature]) -> None:
        self.positions = {feature.name: position for position, feature in enumerate(features)}
        self.categories = {feature.name for feature in features if feature.type == "category"}
        self.derived = {feature.name for feature in features if feature.derived is not None}
        # Causes and effects of which it was said by how much they move.
        self.shifted: set[tuple[int, int]] = set()
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
        if name in self.categories:
            self.mistakes.append(Mistake(field, "is a category; categories have no direction and no step"))
        return self.one(name, field)

    def shifts(
        self, causal: CausalEntry, cause: int, effects: Sequence[tuple[int, str | AmountEntry]], path: str
    ) -> Iterator[Shift]:
        """What moves along with a cause: numbers with numbers, and neither of them derived."""
        for place, (position, effect) in enumerate(effects):
            if isinstance(effect, str):
                continue
            for name, field in ((causal.cause, f"{path}.cause"), (effect.feature, f"{path}.effects[{place}].feature")):
                if name in self.categories:
                    self.mistakes.append(Mistake(field, "is a category; amounts are of numbers"))
                elif name in self.derived:
                    self.mistakes.append(Mistake(field, "is derived, so it follows from its own features alone"))
            if (cause, position) in self.shifted:
                self.mistakes.append(Mistake(f"{path}.effects[{place}]", "says again by how much the effect moves"))
            self.shifted.add((cause, position))
            factor = 1.0 if effect.change == "same" else effect.change
            yield Shift(cause, position, factor, effect.even_if_immutable)

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
            *_relations(entry.relations, names, limits),
        )
        for statement in statements
    ]
    if names.shifted and (place := ring_of(items)) is not None:
        names.mistakes.append(Mistake(place, IN_A_RING))
    if entry.max_changes is not None:
        items.append(Item("max_changes", MaxChanges(entry.max_changes)))
    return tuple(items), names.mistakes


IN_A_RING = "closes a ring of causes with amounts, so nothing says by how much anything moves"


def ring_of(items: Sequence[Item]) -> str | None:
    """The path of the first item that closes a ring of causes with amounts, if one does."""
    causes: dict[int, list[int]] = {}
    for item in items:
        for shift in item.statement.shifts if isinstance(item.statement, Causal) else ():
            causes.setdefault(shift.effect, []).append(shift.cause)
        try:
            list(in_order(causes))
        except Cycle:
            return item.path
    return None


def extent(entry: ConstraintsEntry) -> int:
    """How much there is to read: names, and the words and signs of formulas."""
    return len(named(entry)) + count_tokens((*entry.formulas, *entry.relations))


def moves_along(entry: ConstraintsEntry) -> bool:
    """Whether it says of any effect by how much that moves with its cause."""
    return any(not isinstance(effect, str) for causal in entry.causal for effect in causal.effects)


def named(entry: ConstraintsEntry) -> list[str]:
    """Every name that the constraints hold, as often as they do; those in formulas aside."""
    if not entry.model_fields_set:
        return []
    groups = [*entry.correlated, *entry.exclusive, *(causal.names for causal in entry.causal)]
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
        positions = names.several(causal.names, f"{path}.effects")
        if causal.cause in causal.names:
            names.mistakes.append(Mistake(f"{path}.effects", "names the cause as its own effect"))
        for cause in names.one(causal.cause, f"{path}.cause"):
            if len(positions) < len(causal.effects):
                break
            pairs = list(zip(positions, causal.effects, strict=True))
            effects = tuple(position for position, effect in pairs if isinstance(effect, str))
            yield path, [Causal(cause, effects, tuple(names.shifts(causal, cause, pairs, path)))]
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


def _relations(texts: Sequence[str], names: Names, limits: FormulaLimits) -> Read:
    if len(texts) > limits.count:
        names.mistakes.append(Mistake("relations", f"holds more than {limits.count} relations"))
        return
    for index, text in enumerate(texts):
        try:
            yield f"relations[{index}]", [parse_relation(text, names.positions, names.categories, limits)]
        except BadFormula as error:
            names.mistakes.append(Mistake(f"relations[{index}]", str(error), error.place))


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
