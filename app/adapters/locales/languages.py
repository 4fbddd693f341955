"""All languages that answers are given in: those that come with Flipset, and those of `locales/`."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from app.adapters.locales.files import ENGLISH, LocaleEntry, ModelTexts, RegistryTexts, known_locale, shipped
from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.locales.numbers import Numbers

# There are about so many countries with a language of their own kind of Spanish.
MOST_KEPT = 64


class Languages:
    """Finds the language that is closest to the one that was asked for.

    `files` are those of `locales/`, by language. A file has the last word; what it leaves out comes from the language
    without its country, then from Flipset itself, then from the English.
    """

    def __init__(self, files: Mapping[str, LocaleEntry] | None = None) -> None:
        self.files = files or {}
        self._names = {tag.lower(): tag for tag in (*shipped(), *self.files)}
        self._entries = {
            key: _merged([entry for each in _wider(tag) for entry in self._of(each)])
            for key, tag in self._names.items()
        }
        self.closest = lru_cache(maxsize=MOST_KEPT)(self._closest)

    def _of(self, tag: str) -> Iterator[LocaleEntry]:
        yield from (held[tag] for held in (shipped(), self.files) if tag in held)

    def _closest(self, tag: str) -> Language | None:
        """The language of a tag such as `es-MX`, with the numbers of its country; None if it is not spoken here."""
        if tag.split("-", maxsplit=1)[0].lower() == ENGLISH:
            return IN_ENGLISH
        name = next((each for each in reversed(_wider(tag)) if each.lower() in self._entries), None)
        if name is None:
            return None
        locale = next(known for each in reversed(_wider(tag)) if (known := known_locale(each)) is not None)
        written = str(locale).replace("_", "-")
        entry, own = self._entries[name.lower()], self._names[name.lower()]
        return Language(written, own, entry, Numbers(locale), locale.plural_form)


def _wider(tag: str) -> list[str]:
    """A tag and the wider ones that it is part of, the widest first."""
    parts = tag.split("-")
    return ["-".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _merged(entries: list[LocaleEntry]) -> LocaleEntry:
    """The last one has the last word on each message, model and registry."""
    messages: dict[str, object] = {}
    models: dict[str, ModelTexts] = {}
    registries: dict[str, RegistryTexts] = {}
    for entry in entries:
        messages |= entry.said
        models |= entry.models
        registries |= entry.registries
    merged = LocaleEntry().messages.model_copy(update=messages)
    versions = {name: _with_those_of(models.get(name.partition("@")[0]), texts) for name, texts in models.items()}
    return LocaleEntry.model_construct(messages=merged, models=versions, registries=registries)


def _with_those_of(base: ModelTexts | None, texts: ModelTexts) -> ModelTexts:
    """A version of a model says what differs; the rest it has from the name before its @."""
    if base is None or base is texts:
        return texts
    return ModelTexts(
        title=texts.title or base.title,
        classes={**base.classes, **texts.classes},
        features={**base.features, **texts.features},
    )
