"""The versions that a record names: those that are served, or those in the archive."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.adapters.catalog import Catalog
from app.adapters.files.flaws import BrokenFiles
from app.adapters.files.snapshots import Snapshot
from app.adapters.graphs.models import Model, load_model
from app.adapters.records.archive import Archive, NotArchived
from app.adapters.rules.pairing import pair_up
from app.adapters.rules.registries import Registry, load_registry
from app.answering.in_use import CatalogInUse, ModelInUse
from app.asking.prepared import PreparedModels

MODELS, REGISTRIES = Path("models"), Path("normal_ranges")


class VersionsGone(Exception):
    """What a record names is neither served nor archived any more; the text says what."""


class Versions:
    """Finds what a record names. What comes from the archive is loaded once."""

    def __init__(self, archive: Path | None) -> None:
        self._archive = None if archive is None else Archive(archive)
        self._load = lru_cache(maxsize=8)(self._from_archive)

    def find(self, sealed: Mapping[str, Any], served: CatalogInUse) -> ModelInUse:
        """The model of a record, with all that it was asked with; `VersionsGone` if something is missing."""
        if _is_served(sealed, served.catalog):
            return served.model(sealed["model"]["name"])
        named = {key: sealed[key] for key in ("model", "others", "normal_ranges")}
        return self._load(json.dumps(named, sort_keys=True))

    def _from_archive(self, named: str) -> ModelInUse:
        wanted = json.loads(named)
        models = [wanted["model"], *wanted["others"]]
        registries = [] if wanted["normal_ranges"] is None else [wanted["normal_ranges"]]
        contents = {}
        for each in models:
            folder = MODELS / each["name"]
            contents[folder / "model.toml"] = self._read(each, "description_sha256")
            if each["sha256"] is not None:
                contents[folder / "model.onnx"] = self._read(each, "sha256")
        for each in registries:
            contents[REGISTRIES / f"{each['name']}.toml"] = self._read(each, "sha256")
        snapshot = Snapshot(MODELS, REGISTRIES, contents, {}, (), ())
        try:
            return _in_use(
                [load_model(MODELS / each["name"], snapshot) for each in models],
                [load_registry(REGISTRIES / f"{each['name']}.toml", snapshot) for each in registries],
            )
        except BrokenFiles:
            raise VersionsGone("the archived files cannot be loaded by this version of Flipset") from None

    def _read(self, wanted: Mapping[str, str], digest: str) -> bytes:
        what = f"{wanted['name']} {wanted['version']}"
        if self._archive is None:
            raise VersionsGone(f"{what} is not served any more, and there is no FLIPSET_ARCHIVE")
        try:
            return self._archive.read(wanted[digest])
        except NotArchived:
            raise VersionsGone(f"{what} is neither served nor in the archive") from None


def _is_served(sealed: Mapping[str, Any], catalog: Catalog) -> bool:
    ranges = sealed["normal_ranges"]
    registry = None if ranges is None else catalog.registries.get(ranges["name"])
    if ranges is not None and (registry is None or registry.sha256 != ranges["sha256"]):
        return False
    return all(_is_model(each, catalog.models.get(each["name"])) for each in (sealed["model"], *sealed["others"]))


def _is_model(wanted: Mapping[str, Any], model: Model | None) -> bool:
    digests = wanted["sha256"], wanted["description_sha256"]
    return model is not None and (model.sha256, model.description_sha256) == digests


def _in_use(models: list[Model], registries: list[Registry]) -> ModelInUse:
    pairings = {(model.name, registry.name): pair_up(model, registry) for model in models for registry in registries}
    catalog = Catalog(
        {model.name: model for model in models}, {registry.name: registry for registry in registries}, pairings
    )
    return CatalogInUse(catalog, PreparedModels(catalog), datetime.now(UTC)).model(models[0].name)
