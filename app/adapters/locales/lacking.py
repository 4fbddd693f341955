"""What a language of `locales/` leaves in English, and what it names that models and registries do not have."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from app.adapters.catalog import Catalog
from app.adapters.files.flaws import Flaw
from app.adapters.files.names import listed, suggestion
from app.adapters.graphs.models import Model
from app.adapters.locales.files import LocaleEntry, ModelTexts, RegistryTexts
from app.adapters.locales.messages import Messages
from app.adapters.rules.registries import Registry

Gaps = Iterator[str]


def lacking(files: Iterable[Path], catalog: Catalog) -> Iterator[Flaw]:
    """One line for each part of a file that says too little, or names what there is not."""
    for file in files:
        found = catalog.languages.closest(file.stem)
        assert found is not None, "every file is loaded"
        texts, said = found.texts, found.texts.registries
        gaps = {"messages": list(_unsaid(texts.messages))}
        for name, model in catalog.models.items():
            gaps[f"models.{name}"] = list(_of_model(_texts(texts, name), model))
        for name, registry in catalog.registries.items():
            gaps[f"registries.{name}"] = list(_of_registry(said.get(name, RegistryTexts()), registry))
        yield from (Flaw(file, part, f"leaves in English: {listed(names)}") for part, names in gaps.items() if names)
        yield from _unknown(file, catalog)


def _unsaid(messages: Messages) -> Gaps:
    for name, field in Messages.model_fields.items():
        if field.default and name not in messages.model_fields_set:
            yield name


def _texts(entry: LocaleEntry, name: str) -> ModelTexts:
    return entry.models.get(name) or entry.models.get(name.partition("@")[0]) or ModelTexts()


def _of_model(texts: ModelTexts, model: Model) -> Gaps:
    if texts.title is None:
        yield "title"
    yield from (f"classes.{name}" for name in model.classes if name not in texts.classes)
    for feature in model.features:
        said = texts.features.get(feature.name)
        if feature.title is not None and (said is None or said.title is None):
            yield f"features.{feature.name}.title"
        for value in feature.categories:
            if isinstance(value, str) and (said is None or value not in said.values):
                yield f"features.{feature.name}.values.{value}"


def _of_registry(texts: RegistryTexts, registry: Registry) -> Gaps:
    if texts.title is None:
        yield "title"
    for name, known in registry.features.items():
        said = texts.features.get(name)
        if known.reason is not None and (said is None or said.reason is None):
            yield f"features.{name}.reason"


def _unknown(file: Path, catalog: Catalog) -> Iterator[Flaw]:
    """Names that a served model or registry does not have, so that their texts are never read."""
    entry = catalog.languages.files[file.stem]
    for name, model in catalog.models.items():
        texts = entry.models.get(name, ModelTexts())
        features = [feature.name for feature in model.features]
        yield from _not_of(file, f"models.{name}.classes", texts.classes, model.classes)
        yield from _not_of(file, f"models.{name}.features", texts.features, features)
    for name, registry in catalog.registries.items():
        said = entry.registries.get(name, RegistryTexts())
        yield from _not_of(file, f"registries.{name}.features", said.features, list(registry.features))


def _not_of(file: Path, part: str, named: Iterable[str], known: Sequence[str]) -> Iterator[Flaw]:
    for name in named:
        if name not in known:
            yield Flaw(file, f"{part}.{name}", f"is not there; {suggestion(name, known)}")
