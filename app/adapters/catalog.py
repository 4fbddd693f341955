"""The catalog: every model, registry and translation of the folders, checked together and held in memory."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as member
from pathlib import Path
from typing import TypeVar

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.names import suggestion
from app.adapters.files.snapshots import Snapshot, take_snapshot
from app.adapters.graphs.models import Model, digest_of, load_model
from app.adapters.locales.files import load_locale
from app.adapters.locales.languages import Languages
from app.adapters.rules.pairing import Pairing, flaws_of_registry, pair_up
from app.adapters.rules.registries import Registry, load_registry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models and registries that are served, how each model and registry fit together, and the languages."""

    models: Mapping[str, Model]
    registries: Mapping[str, Registry]
    pairings: Mapping[tuple[str, str], Pairing]
    languages: Languages = member(default_factory=Languages)

    def registries_for(self, model: Model) -> list[str]:
        """The registries that fit this model and that its policy allows."""
        fitting = (name for name in self.registries if not self.pairings[model.name, name].misfits)
        return [name for name in fitting if model.policy.allows(name)]


def load_catalog(models_dir: Path, normal_ranges_dir: Path) -> Catalog:
    """Load everything, or raise `BrokenFiles` with every flaw of every file."""
    return catalog_of(take_snapshot(models_dir, normal_ranges_dir))


def catalog_of(
    snapshot: Snapshot,
    kept: Mapping[str, Model] | None = None,
    left_out: Collection[Path] = (),
    before_each: Callable[[Path], None] = lambda folder: None,
) -> Catalog:
    """Load everything from a snapshot, or raise `BrokenFiles` with every flaw. Reuses unchanged models of `kept`.

    `left_out` are folders that are known to be broken. `before_each` is called with each folder before it is loaded.
    """

    def model_in(folder: Path) -> Model:
        before_each(folder)
        old = (kept or {}).get(folder.name)
        # What lives elsewhere is tried again: it may have changed.
        is_known = old is not None and old.sha256 is not None and old.digest == digest_of(folder, snapshot)
        return old if old is not None and is_known else load_model(folder, snapshot)

    flaws: list[Flaw] = []
    models = _loaded([folder for folder in snapshot.model_folders if folder not in left_out], model_in, flaws)
    registries = _loaded(snapshot.registries, lambda file: load_registry(file, snapshot), flaws)
    locales = _loaded(snapshot.locales, lambda file: (file.stem, load_locale(file, snapshot)), flaws)
    if not snapshot.model_folders:
        reason = "holds no model: add a folder with model.onnx and model.toml"
        flaws.append(Flaw(snapshot.models_dir, "", reason))
    catalog = Catalog(
        {model.name: model for model in models},
        {registry.name: registry for registry in registries},
        {(model.name, registry.name): pair_up(model, registry) for model in models for registry in registries},
        Languages(dict(locales)),
    )
    broken = {flaw.file for flaw in flaws}
    flaws.extend(flaw for model in models for flaw in _lacking(model, catalog, broken, snapshot.normal_ranges_dir))
    for registry in registries:
        flaws.extend(flaws_of_registry(registry, _meant(catalog, registry, all_models=not left_out)))
    if flaws:
        raise BrokenFiles(flaws)
    return catalog


def check_features(catalog: Catalog, most: int) -> None:
    """`BrokenFiles` with the models that have more features than a request may name."""
    flaws = [
        Flaw(model.file, "features", f"are {len(model.features):,}, but FLIPSET_MAX_FEATURES allows {most:,}")
        for model in catalog.models.values()
        if len(model.features) > most
    ]
    if flaws:
        raise BrokenFiles(flaws)


def _meant(catalog: Catalog, registry: Registry, all_models: bool) -> dict[str, Pairing]:
    """The models that a registry must fit, each with its pairing: those that name it as their own.

    A registry that no model names must fit one of the models that have all its features, if there are any.
    """
    pairings = {model: catalog.pairings[model, registry.name] for model in catalog.models}
    own = {name: pairings[name] for name, model in catalog.models.items() if model.registry == registry.name}
    if own or not all_models:
        return own
    features = set(registry.features)
    able = {
        name: pairings[name]
        for name, model in catalog.models.items()
        if features <= {feature.name for feature in model.features}
    }
    return {} if any(not pairing.misfits for pairing in able.values()) else able


def _loaded(paths: Iterable[Path], load: Callable[[Path], T], flaws: list[Flaw]) -> list[T]:
    loaded = []
    for path in paths:
        try:
            loaded.append(load(path))
        except BrokenFiles as error:
            flaws.extend(error.flaws)
    return loaded


def _lacking(model: Model, catalog: Catalog, broken: set[Path], folder: Path) -> Iterator[Flaw]:
    """Registries that a model names but that do not exist or do not fit it."""
    allowed = {f"policy.registries[{place}]": name for place, name in enumerate(model.policy.registries or ())}
    for field, name in {"normal_ranges": model.registry, **allowed}.items():
        if name is None or folder / f"{name}.toml" in broken:
            continue
        if name not in catalog.registries:
            hint = suggestion(name, catalog.registries)
            yield Flaw(model.file, field, f"there is no registry {name!r}; {hint}")
        elif name != model.registry and (misfits := catalog.pairings[model.name, name].misfits):
            yield Flaw(
                model.file, field, f"does not fit this model: {misfits[0].field}: {misfits[0].told([model.name])}"
            )
