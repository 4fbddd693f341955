"""What is served at the moment. A request takes it once: a reload in between does not concern it."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from app.adapters.catalog import Catalog
from app.adapters.graphs.models import Model
from app.adapters.rules.registries import Registry
from app.asking.prepared import PreparedModels
from app.asking.refusals import UnknownModel, UnknownRegistry


class ModelInUse(NamedTuple):
    """A model that a request names, and all that was loaded with it."""

    model: Model
    prepared: PreparedModels

    @property
    def catalog(self) -> Catalog:
        return self.prepared.catalog


@dataclass(frozen=True, slots=True)
class CatalogInUse:
    """What is served, since when, and what was made of it for requests: switched together, by one reference."""

    catalog: Catalog
    prepared: PreparedModels
    since: datetime

    def model(self, name: str) -> ModelInUse:
        if name not in self.catalog.models:
            raise UnknownModel(name, self.catalog.models)
        return ModelInUse(self.catalog.models[name], self.prepared)

    def registry(self, name: str) -> Registry:
        if name not in self.catalog.registries:
            raise UnknownRegistry(name, self.catalog.registries)
        return self.catalog.registries[name]
