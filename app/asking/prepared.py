"""A model and a registry made ready for requests: what all requests to them have in common is worked out once."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.adapters.catalog import Catalog
from app.adapters.graphs.models import Model
from app.adapters.rules.registries import KnownFeature, Registry
from app.asking.policies import Policy, policies_of
from app.asking.ranges import ChosenRange, Conditions, conditions_of, known_ranges
from app.asking.rules import MODEL, REGISTRY, Rulebook, RuleInForce, rules_of
from app.core.robust.noise import NoisyFeature


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PreparedModel:
    """A model with a registry or none, and what that registry knows of each of its features."""

    model: Model
    registry: Registry | None
    ranges: tuple[tuple[ChosenRange, ...], ...]
    # What the conditions of the ranges ask for, in the order of the file.
    asked: Mapping[str, Conditions]
    # What always holds: the model's rules, and the registry's; and all of it as an answer names it.
    books: tuple[Rulebook, ...]
    policies: tuple[Policy, ...]
    rules: tuple[RuleInForce, ...]
    # The features whose measurements have an error by the registry, by their positions.
    noisy: Mapping[int, NoisyFeature]


class PreparedModels:
    """Those that requests have asked for: as many as there are models and registries, at the most."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._made: dict[tuple[str, str | None], PreparedModel] = {}

    def with_registry(self, model: Model, registry: Registry | None) -> PreparedModel:
        """A model and a registry that fits it."""
        key = model.name, None if registry is None else registry.name
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(model, registry)
        return made

    def _make(self, model: Model, registry: Registry | None) -> PreparedModel:
        books: tuple[Rulebook, ...] = (Rulebook.of(MODEL, model.constraints, model.items),)
        if registry is not None:
            always = self.catalog.pairings[model.name, registry.name].items
            books += (Rulebook.of(REGISTRY, registry.constraints, always),)
        known = {} if registry is None else registry.features
        ranges = tuple(known_ranges(feature, known.get(feature.name)) for feature in model.features)
        policies = policies_of(model)
        return PreparedModel(
            model=model,
            registry=registry,
            ranges=ranges,
            asked=conditions_of(entry for choices in ranges for entry in choices),
            books=books,
            policies=policies,
            rules=rules_of((*books, *policies)),
            noisy=_noisy(model, known),
        )


def _noisy(model: Model, known: Mapping[str, KnownFeature]) -> dict[int, NoisyFeature]:
    entries = {name: feature.noise for name, feature in known.items() if feature.noise is not None}
    return {
        position: NoisyFeature(feature.name, entries[feature.name].noise, feature.whole)
        for position, feature in enumerate(model.features)
        if feature.name in entries
    }
