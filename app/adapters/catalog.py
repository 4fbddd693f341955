"""The catalog: every model and registry of the two folders, checked together and held in memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from app.adapters.constraints import read_constraints
from app.adapters.features import ModelFeature
from app.adapters.flaws import BrokenFiles, Flaw
from app.adapters.formulas import FormulaLimits
from app.adapters.models import Model, load_model
from app.adapters.names import suggestion
from app.adapters.registries import KnownFeature, Registry, load_registry
from app.core.constraints import Item

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pairing:
    """A model and a registry together: why that does not do, or the items that the registry adds."""

    flaws: tuple[Flaw, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """What is served; every model has been held against every registry once."""

    models: Mapping[str, Model]
    registries: Mapping[str, Registry]
    pairings: Mapping[tuple[str, str], Pairing]

    def registries_for(self, model: Model) -> list[str]:
        """The registries that a request to this model may name."""
        return [name for name in self.registries if not self.pairings[model.name, name].flaws]


def load_catalog(models_dir: Path, normal_ranges_dir: Path) -> Catalog:
    """Load everything, or raise `BrokenFiles` with every flaw of every file."""
    folders = {"FLIPSET_MODELS_DIR": models_dir, "FLIPSET_NORMAL_RANGES_DIR": normal_ranges_dir}
    flaws = [
        Flaw(folder, "", f"is not a folder; {variable} names another one")
        for variable, folder in folders.items()
        if not folder.is_dir()
    ]
    if flaws:
        raise BrokenFiles(flaws)
    model_folders = sorted(path for path in models_dir.iterdir() if path.is_dir() and not path.name.startswith("."))
    models = _loaded(model_folders, load_model, flaws)
    registries = _loaded(sorted(normal_ranges_dir.glob("*.toml"), key=lambda file: file.stem), load_registry, flaws)
    if not model_folders:
        flaws.append(Flaw(models_dir, "", "holds no model: a folder with model.onnx and model.toml is needed"))
    catalog = Catalog(
        {model.name: model for model in models},
        {registry.name: registry for registry in registries},
        {(model.name, registry.name): _paired(model, registry) for model in models for registry in registries},
    )
    broken = {flaw.file for flaw in flaws}
    for model in models:
        flaws.extend(_default_flaws(model, catalog, broken, normal_ranges_dir))
    defaults = {model.registry for model in models}
    for name in catalog.registries:
        if name not in defaults:
            flaws.extend(_unfit_for_all(catalog, name))
    if flaws:
        raise BrokenFiles(flaws)
    return catalog


def _unfit_for_all(catalog: Catalog, name: str) -> tuple[Flaw, ...]:
    """Why a registry that is nobody's own fits none of the models that have all of its features; if there are such."""
    features = set(catalog.registries[name].features)
    meant = [
        catalog.pairings[model.name, name]
        for model in catalog.models.values()
        if features <= {feature.name for feature in model.features}
    ]
    return meant[0].flaws if meant and all(pairing.flaws for pairing in meant) else ()


def _loaded(paths: Iterable[Path], load: Callable[[Path], T], flaws: list[Flaw]) -> list[T]:
    loaded = []
    for path in paths:
        try:
            loaded.append(load(path))
        except BrokenFiles as error:
            flaws.extend(error.flaws)
    return loaded


def _default_flaws(model: Model, catalog: Catalog, broken: set[Path], folder: Path) -> Iterator[Flaw]:
    if model.registry is None or folder / f"{model.registry}.toml" in broken:
        return
    registry = catalog.registries.get(model.registry)
    if registry is None:
        yield Flaw(
            model.file,
            "normal_ranges",
            f"there is no registry {model.registry!r}; {suggestion(model.registry, catalog.registries)}",
        )
    else:
        yield from catalog.pairings[model.name, registry.name].flaws


def unfit(known: KnownFeature, feature: ModelFeature) -> Iterator[tuple[str, str]]:
    """What a registry says that the model's feature cannot be: the place, and why."""
    if feature.type == "category":
        if known.ranges:
            yield "", "is a category: give it allowed values instead of ranges"
        for index, value in enumerate(known.allowed):
            if value not in feature.categories or value in feature.missing_codes:
                yield f".allowed[{index}]", "is not one of the model's categories"
    elif known.allowed:
        yield "", "is not a category: give it ranges instead of allowed values"
    for index, entry in enumerate(known.ranges):
        if feature.whole and entry.normal.whole().flaw():
            yield f".ranges[{index}]", "holds no whole number, and the feature is an integer"


def _paired(model: Model, registry: Registry) -> Pairing:
    """Hold a registry against a model: a feature that it lacks, another unit, a range or constraint that cannot be."""
    features = {feature.name: feature for feature in model.features}
    found = []
    for name, known in registry.features.items():
        feature, field = features.get(name), f"features.{name}"
        if feature is None:
            found.append(Flaw(registry.file, field, f"model {model.name!r} has no such feature"))
        elif known.unit != feature.unit:
            here, there = (repr(unit) if unit else "not given" for unit in (known.unit, feature.unit))
            reason = f"the unit is {here} here and {there} in model {model.name!r}"
            found.append(Flaw(registry.file, f"{field}.unit", reason))
        else:
            found.extend(Flaw(registry.file, f"{field}{place}", reason) for place, reason in unfit(known, feature))
    items, mistakes = read_constraints(registry.constraints, model.features, FormulaLimits())
    found.extend(Flaw(registry.file, f"constraints.{mistake.field}", mistake.message) for mistake in mistakes)
    return Pairing(tuple(found), items)
