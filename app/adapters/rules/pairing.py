"""Whether a registry fits a model: the misfits, each reported once for all models, and the registry's items."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.adapters.files.fields import MissingEntry
from app.adapters.files.flaws import Flaw
from app.adapters.files.names import closest, listed, suggestion
from app.adapters.graphs.features import ModelFeature, Unreadable
from app.adapters.graphs.models import Model
from app.adapters.rules.constraints import read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.adapters.rules.registries import KnownFeature, Registry
from app.core.constraints import Item


class Misfit(NamedTuple):
    """A field of a registry that does not fit a model, and why. The message may name the model before or after that."""

    field: str
    reason: str
    model_before: bool = False
    model_behind: bool = False

    def told(self, models: Sequence[str]) -> str:
        """The reason, for all of these models."""
        named = f"model{'s' if len(models) > 1 else ''} {listed([repr(name) for name in models])}"
        if self.model_before:
            reason = self.reason if len(models) == 1 else self.reason.replace("has", "have", 1)
            return f"{named} {reason}"
        return f"{self.reason} {named}" if self.model_behind else self.reason


@dataclass(frozen=True, slots=True)
class Pairing:
    """A model and a registry: why they do not fit, or the items that the registry adds."""

    misfits: tuple[Misfit, ...]
    items: tuple[Item, ...]


def pair_up(model: Model, registry: Registry) -> Pairing:
    """Check a registry against a model: missing features, other units, and ranges or constraints that do not fit."""
    features = {feature.name: feature for feature in model.features}
    found = []
    for name, known in registry.features.items():
        feature, field = features.get(name), f"features.{name}"
        if feature is None:
            found.append(Misfit(field, _lacks_it(name, features), model_before=True))
        elif known.unit != feature.unit:
            here, there = (repr(unit) if unit else "not given" for unit in (known.unit, feature.unit))
            found.append(Misfit(f"{field}.unit", f"the unit is {here} here and {there} in", model_behind=True))
        else:
            found.extend(Misfit(f"{field}{place}", reason) for place, reason in _unfit(known, feature))
    items, mistakes = read_constraints(registry.constraints, model.features, FormulaLimits())
    found.extend(Misfit(f"constraints.{mistake.field}", mistake.message) for mistake in mistakes)
    return Pairing(tuple(found), items)


def _lacks_it(name: str, features: Iterable[str]) -> str:
    hint = closest(name, features)
    return f"has no such feature; {hint}" if hint else "has no such feature"


def flaws_of_registry(registry: Registry, pairings: Mapping[str, Pairing]) -> list[Flaw]:
    """The misfits of a registry with these models, as one flaw for each field."""
    by_field: dict[str, dict[Misfit, list[str]]] = {}
    for model, pairing in pairings.items():
        for misfit in pairing.misfits:
            by_field.setdefault(misfit.field, {}).setdefault(misfit, []).append(model)
    return [Flaw(registry.file, field, _told(found)) for field, found in by_field.items()]


def _told(found: Mapping[Misfit, list[str]]) -> str:
    """The first reason, and the names of models that the same field does not fit for other reasons."""
    (misfit, models), *others = found.items()
    rest = listed([repr(name) for _, named in others for name in named])
    return f"{misfit.told(models)}; it does not fit {rest} either" if others else misfit.told(models)


def _unfit(known: KnownFeature, feature: ModelFeature) -> Iterator[tuple[str, str]]:
    """What a registry says about a feature that contradicts the model: the place, and why."""
    if feature.type == "category":
        yield from _unfit_category(known, feature)
    elif known.allowed:
        yield "", "is not a category: give it ranges instead of allowed values"
    elif feature.whole and not all(float(step).is_integer() for step in known.move_to.steps):
        yield ".move_to", "steps must be whole numbers: the feature is an integer"
    for index, entry in enumerate(known.ranges):
        if feature.whole and entry.normal.whole().flaw():
            yield f".ranges[{index}]", "holds no whole number, and the feature is an integer"
    try:
        feature.if_missing(known.if_missing or MissingEntry(None))
    except Unreadable as error:
        yield ".if_missing", f"value {error}"


def _unfit_category(known: KnownFeature, feature: ModelFeature) -> Iterator[tuple[str, str]]:
    if known.noise:
        yield ".noise", "belongs to a number; a category has none"
    if known.ranges:
        yield "", "is a category: give it allowed values instead of ranges"
    places = [(f".allowed[{index}]", value) for index, value in enumerate(known.allowed)]
    for place, value in (*places, *((".move_to", step) for step in known.move_to.steps)):
        if value not in feature.categories or value in feature.missing_codes:
            named = f"names {value!r}, which is" if place == ".move_to" else "is"
            hint = suggestion(str(value), map(str, feature.categories))
            yield place, f"{named} not one of the model's categories; {hint}"
