"""The files of `locales/`, one for each language, and those that come with Flipset."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from babel import Locale, UnknownLocaleError
from pydantic import Field

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.snapshots import Snapshot
from app.adapters.files.toml_files import Entry, read_toml
from app.adapters.locales.messages import Messages

SHIPPED = Path(__file__).parent / "shipped"
# The language of Flipset itself, which needs no file.
ENGLISH = "en"


class FeatureTexts(Entry):
    """What a feature is called, and its categories."""

    title: str | None = Field(default=None, min_length=1)
    short: str | None = Field(default=None, min_length=1)
    values: dict[str, str] = {}


class ModelTexts(Entry):
    """The texts of a model, by the names that its own file has."""

    title: str | None = Field(default=None, min_length=1)
    classes: dict[str, str] = {}
    features: dict[str, FeatureTexts] = {}


class ReasonTexts(Entry):
    """What a registry says of a feature."""

    reason: str | None = Field(default=None, min_length=1)


class RegistryTexts(Entry):
    """The texts of a registry."""

    title: str | None = Field(default=None, min_length=1)
    features: dict[str, ReasonTexts] = {}


class LocaleEntry(Entry):
    """A file of `locales/`: the words of Flipset, if it has others than those that come with it, and of your models."""

    messages: Messages = Messages()
    models: dict[str, ModelTexts] = {}
    registries: dict[str, RegistryTexts] = {}

    @property
    def said(self) -> Mapping[str, object]:
        """The messages that the file really has."""
        return {name: getattr(self.messages, name) for name in self.messages.model_fields_set}


@cache
def shipped() -> Mapping[str, LocaleEntry]:
    """What comes with Flipset, by language."""
    return {file.stem: read_toml(file, file.read_bytes(), LocaleEntry) for file in sorted(SHIPPED.glob("*.toml"))}


def load_locale(file: Path, snapshot: Snapshot) -> LocaleEntry:
    """Read one file; `BrokenFiles` with all its flaws."""
    locale = known_locale(file.stem)
    if locale is None:
        raise BrokenFiles([Flaw(file, "", "is not named like a language: call it de.toml or pt-BR.toml")])
    if locale.language == ENGLISH:
        raise BrokenFiles([Flaw(file, "", "is English, which has no file: the models have their own texts")])
    entry = read_toml(file, snapshot.read(file), LocaleEntry)
    forms = {*locale.plural_form.tags, "other"}
    flaws = [
        Flaw(file, f"messages.{name}.{form}", f"is no plural form of this language; known: {', '.join(sorted(forms))}")
        for name in ("sets", "more")
        for form in getattr(entry.messages, name)
        if name in entry.said and form not in forms
    ]
    if flaws:
        raise BrokenFiles(flaws)
    return entry


def known_locale(tag: str) -> Locale | None:
    """What CLDR knows of a language, written like `de` or `pt-BR`."""
    try:
        return Locale.parse(tag, sep="-")
    except (ValueError, UnknownLocaleError):
        return None
