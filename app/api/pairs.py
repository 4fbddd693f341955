"""A model and a registry together, ready for requests: what all requests to them have in common is made once."""

from dataclasses import dataclass

from app.adapters.catalog import Catalog
from app.adapters.models import Model
from app.adapters.registries import Registry
from app.api.json_pieces import encoded
from app.api.ranges import ChosenRange, known_ranges
from app.api.wording import Wording
from app.core.constraints import Item

# Before the path of an item that comes from the registry.
REGISTRY = "registry:"


@dataclass(frozen=True, slots=True)
class Pair:
    """The registry, or none, with its identity as JSON, and what it knows of each feature of the model."""

    wording: Wording
    registry: Registry | None
    text: str
    ranges: tuple[tuple[ChosenRange, ...], ...]
    asked: frozenset[str]
    items: tuple[Item, ...]


class Pairs:
    """The pairs that requests have asked for: as many as there are models and registries, at the most."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._made: dict[tuple[str, str | None], Pair] = {}

    def pair(self, model: Model, registry: Registry | None) -> Pair:
        """A model and a registry that fits it."""
        key = model.name, None if registry is None else registry.name
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(model, registry)
        return made

    def _make(self, model: Model, registry: Registry | None) -> Pair:
        if registry is None:
            return Pair(Wording.of(model), None, "null", ((),) * len(model.features), frozenset(), ())
        ranges = tuple(known_ranges(feature, registry.features.get(feature.name)) for feature in model.features)
        always = self.catalog.pairings[model.name, registry.name].items
        return Pair(
            wording=Wording.of(model),
            registry=registry,
            text=encoded({"name": registry.name, "version": registry.version}),
            ranges=ranges,
            asked=frozenset(key for choices in ranges for entry in choices for key in entry.when),
            items=tuple(Item(f"{REGISTRY}{item.path}", item.statement) for item in always),
        )
