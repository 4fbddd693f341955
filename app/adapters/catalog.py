"""The catalog: every model and registry of the two folders, checked together and held in memory."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from app.adapters.constraints import read_constraints
from app.adapters.features import ModelFeature
from app.adapters.flaws import BrokenFiles, Flaw
from app.adapters.formulas import FormulaLimits
from app.adapters.models import Model, digest_of, load_model
from app.adapters.names import suggestion
from app.adapters.registries import KnownFeature, Registry, load_registry
from app.adapters.snapshots import Snapshot, take_snapshot
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
    return catalog_of(take_snapshot(models_dir, normal_ranges_dir))


def catalog_of(
    snapshot: Snapshot,
    kept: Mapping[str, Model] | None = None,
    left_out: Collection[Path] = (),
    before_each: Callable[[Path], None] = lambda folder: None,
) -> Catalog:
    """The same from a snapshot. Models that are `kept` and have not changed are not loaded again.

    `left_out` are folders that are known to be broken; `before_each` is told of every folder whose model is next.
    """

    def model_in(folder: Path) -> Model:
        before_each(folder)
        old = (kept or {}).get(folder.name)
        return old if old is not None and old.digest == digest_of(folder, snapshot) else load_model(folder, snapshot)

    flaws: list[Flaw] = []
    models = _loaded([folder for folder in snapshot.model_folders if folder not in left_out], model_in, flaws)
    registries = _loaded(snapshot.registries, lambda file: load_registry(file, snapshot), flaws)
    if not snapshot.model_folders:
        reason = "holds no model: a folder with model.onnx and model.toml is needed"
        flaws.append(Flaw(snapshot.models_dir, "", reason))
    catalog = Catalog(
        {model.name: model for model in models},
        {registry.name: registry for registry in registries},
        {(model.name, registry.name): _paired(model, registry) for model in models for registry in registries},
    )
    broken = {flaw.file for flaw in flaws}
    for model in models:
        flaws.extend(_default_flaws(model, catalog, broken, snapshot.normal_ranges_dir))
    defaults = {model.registry for model in models}
    for name in catalog.registries:
        if name not in defaults and not left_out:
            flaws.extend(_unfit_for_all(catalog, name))
    if flaws:
        raise BrokenFiles(flaws)
    return catalog


def check_features(catalog: Catalog, most: int) -> None:
    """`BrokenFiles` with the models that have more features than a request may name."""
    flaws = [
        Flaw(model.file, "features", f"are {len(model.features):,}, and FLIPSET_MAX_FEATURES allows {most:,}")
        for model in catalog.models.values()
        if len(model.features) > most
    ]
    if flaws:
        raise BrokenFiles(flaws)


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
