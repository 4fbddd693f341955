"""The normal range that holds for each feature of a person: the request's own, or the registry's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import NamedTuple

from app.adapters.files.names import LONGEST_NAME, nearest
from app.adapters.graphs.features import ModelFeature, Unreadable
from app.adapters.graphs.models import Model
from app.adapters.rules.registries import KnownFeature, flaw_of_ways
from app.asking.reading import Errors
from app.asking.schemas import CounterfactualsRequest, RangeBody
from app.core.findings import SEVERAL
from app.core.ranges import (
    Allowed,
    Condition,
    ContextLacks,
    ContextNotANumber,
    Equals,
    IfMissing,
    MoveTo,
    NormalRange,
    Status,
    choose,
)

Facts = Mapping[str, object]


class Conditions(NamedTuple):
    """All that the ranges of a registry ask of one fact, in the order of the file."""

    written: tuple[Condition, ...]
    # Each value beside whether it is a truth value: True == 1 in Python, but not in a registry.
    values: frozenset[tuple[bool, object]]
    intervals: tuple[NormalRange, ...]

    @classmethod
    def of(cls, written: Sequence[Condition]) -> "Conditions":
        values = [condition.value for condition in written if isinstance(condition, Equals)]
        intervals = tuple(condition for condition in written if isinstance(condition, NormalRange))
        return cls(tuple(written), frozenset((isinstance(value, bool), value) for value in values), intervals)

    def know(self, fact: object) -> bool:
        """Whether any of them holds."""
        if (isinstance(fact, bool), fact) in self.values:
            return True
        if isinstance(fact, bool) or not isinstance(fact, int | float):
            return False
        return any(interval.status(fact) is Status.NORMAL for interval in self.intervals)


class ChosenRange(NamedTuple):
    """The range and the targets that hold for this person, and the condition that chose them."""

    normal: NormalRange | Allowed
    move_to: MoveTo
    when: Mapping[str, Condition]
    if_missing: IfMissing | None = None


def known_ranges(feature: ModelFeature, known: KnownFeature | None) -> tuple[ChosenRange, ...]:
    """What a registry knows of a feature, in the order that it is chosen from."""
    if known is None:
        return ()
    if_missing = None if known.if_missing is None else feature.if_missing(known.if_missing)
    if known.allowed:
        return (_allowed(known.allowed, feature, known.move_to, if_missing),)
    return tuple(ChosenRange(entry.normal, known.move_to, entry.when, if_missing) for entry in known.ranges)


def conditions_of(ranges: Iterable[ChosenRange]) -> dict[str, Conditions]:
    """What these ranges ask of each fact, every condition once."""
    asked: dict[str, dict[str, Condition]] = {}
    for entry in ranges:
        for key, condition in entry.when.items():
            # By its text: the condition 1 equals the condition true.
            asked.setdefault(key, {})[repr(condition)] = condition
    return {key: Conditions.of(tuple(written.values())) for key, written in asked.items()}


def known_facts(request: CounterfactualsRequest, model: Model, values: Sequence[float]) -> Facts:
    """What conditions can look at: the context first, then the instance; a missing value is no fact."""
    known = {
        feature.name: request.instance.get(feature.name, value)
        for feature, value in zip(model.features, values, strict=True)
        if not isnan(value)
    }
    return {**known, **request.context}


def choose_range(
    feature: ModelFeature,
    own: RangeBody | None,
    known: Sequence[ChosenRange],
    facts: Facts,
    errors: Errors,
    unused: Sequence[str] = (),
) -> ChosenRange | None:
    """The request's own range, or else the registry's for a person with these facts.

    `unused` are keys of the context that no range asks for: one of them may be a fact under a misspelt name.
    """
    if own is None:
        return _by_the_registry(feature, known, facts, errors, unused)
    if not own.is_range or (known and own.is_way and own.move_to is not None and own.move_to.policy in SEVERAL):
        chosen = _by_the_registry(feature, known, facts, errors, unused)
        if chosen is not None and own.move_to is not None:
            chosen = _own_way(chosen, own, feature, errors)
        return None if chosen is None else _with_own(chosen, own, feature, errors)
    if feature.type == "category":
        chosen = _own_categories(own, feature, errors)
    else:
        chosen = _own_range(own, feature, known[0].move_to if known else MoveTo(), errors)
    if chosen is None or errors.found:
        return chosen
    return _with_own(chosen._replace(if_missing=known[0].if_missing if known else None), own, feature, errors)


def own_if_missing(own: RangeBody, feature: ModelFeature, errors: Errors) -> IfMissing | None:
    """What a request says that a missing value would become."""
    try:
        return None if own.if_missing is None else feature.if_missing(own.if_missing)
    except Unreadable as error:
        errors.add(f"normal_ranges.{feature.name}.if_missing", f"value {error}")
        return None


def _with_own(chosen: ChosenRange, own: RangeBody, feature: ModelFeature, errors: Errors) -> ChosenRange:
    """The range with what the request says of missing values; what the registry says of them has to fit it too."""
    is_own = "if_missing" in own.model_fields_set
    said = own_if_missing(own, feature, errors) if is_own else chosen.if_missing
    if said is not None and (flaw := said.flaw(chosen.normal, chosen.move_to)):
        given = "" if is_own else "; the registry says so: give an if_missing of your own"
        errors.add(f"normal_ranges.{feature.name}.if_missing", f"{flaw}{given}")
    return chosen._replace(if_missing=said)


def _by_the_registry(
    feature: ModelFeature, known: Sequence[ChosenRange], facts: Facts, errors: Errors, unused: Sequence[str]
) -> ChosenRange | None:
    try:
        return choose(known, facts)
    except ContextLacks as lack:
        sent = nearest(lack.key, unused)
        hint = "" if sent is None else f"; you sent {sent[:LONGEST_NAME]!r}, which no range uses"
        errors.add(f"context.{lack.key}", f"is needed to choose the normal range of {feature.name}{hint}")
    except ContextNotANumber as lack:
        errors.add(f"context.{lack.key}", f"must be a number: the normal range of {feature.name} depends on it")
    return None


def _allowed(
    values: Sequence[float | str], feature: ModelFeature, move_to: MoveTo, if_missing: IfMissing | None = None
) -> ChosenRange:
    """The allowed values of a category, and those that it moves to, by their codes."""
    ways = replace(move_to, steps=tuple(map(feature.read, move_to.steps))) if move_to.steps else MoveTo()
    return ChosenRange(Allowed(tuple(feature.read(value) for value in values)), ways, {}, if_missing)


def _own_way(chosen: ChosenRange, own: RangeBody, feature: ModelFeature, errors: Errors) -> ChosenRange:
    """The registry's range with another way to move into it."""
    if isinstance(chosen.normal, Allowed):
        allowed = [feature.categories[int(code)] for code in chosen.normal.codes]
        found = _own_categories(own.model_copy(update={"allowed": allowed}), feature, errors)
    else:
        ends = {"low": chosen.normal.low, "high": chosen.normal.high}
        found = _own_range(own.model_copy(update=ends), feature, chosen.move_to, errors)
    return chosen if found is None else chosen._replace(move_to=found.move_to)


def _own_categories(own: RangeBody, feature: ModelFeature, errors: Errors) -> ChosenRange | None:
    field = f"normal_ranges.{feature.name}"
    move_to = MoveTo() if own.move_to is None else own.move_to
    is_plain = own.move_to is None or move_to.policy in SEVERAL
    if not own.allowed or own.low is not None or own.high is not None or not is_plain:
        errors.add(field, "is a category: give it allowed values, and nothing else")
        return None
    for index, value in enumerate(own.allowed):
        try:
            feature.read(value)
        except Unreadable as error:
            errors.add(f"{field}.allowed[{index}]", str(error))
            return None
    try:
        found = _allowed(own.allowed, feature, move_to)
    except Unreadable as error:
        errors.add(f"{field}.move_to", str(error))
        return None
    if flaw := flaw_of_ways(move_to, own.allowed):
        errors.add(f"{field}.move_to", flaw)
    return found


def _own_range(own: RangeBody, feature: ModelFeature, usual: MoveTo, errors: Errors) -> ChosenRange:
    normal = NormalRange(own.low, own.high)
    move_to = usual if own.move_to is None else own.move_to
    field = f"normal_ranges.{feature.name}"
    if own.allowed is not None:
        errors.add(field, "is not a category: give it low, high or both")
    elif flaw := normal.flaw():
        is_alone = own.move_to is not None and own.low is None and own.high is None
        errors.add(field, "move_to needs a range beside it: give low, high or both" if is_alone else flaw)
    elif feature.whole and normal.whole().flaw():
        errors.add(field, "holds no whole number, and the feature is an integer")
    elif feature.whole and not all(isinstance(step, str) or step.is_integer() for step in move_to.steps):
        errors.add(f"{field}.move_to", "steps must be whole numbers: the feature is an integer")
    elif flaw := move_to.flaw(normal):
        given = "" if own.move_to is not None else "; the registry moves it so: give a move_to of your own"
        errors.add(f"{field}.move_to", f"{flaw}{given}")
    return ChosenRange(normal, move_to, {})
