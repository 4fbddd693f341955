"""One language: what Flipset says in it, and what it calls models, features, classes and reasons."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import Model
from app.adapters.locales.files import ENGLISH, FeatureTexts, LocaleEntry, ModelTexts, RegistryTexts
from app.adapters.locales.messages import Messages, Plural
from app.adapters.rules.registries import ReasonEntry, Registry


def _english_form(count: int) -> str:
    return "one" if count == 1 else "other"


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """`tag` is what an answer is in, with the country whose numbers it has; `name` is the same for all countries."""

    tag: str
    name: str
    texts: LocaleEntry = LocaleEntry()
    number: Callable[[str], str] = str
    form: Callable[[int], str] = _english_form

    @property
    def messages(self) -> Messages:
        return self.texts.messages

    def counted(self, forms: Plural, count: int) -> str:
        """The form of a message that this number wants, with the number in it."""
        return forms.get(self.form(count), forms["other"]).format(count=self.number(str(count)))

    def title(self, model: Model) -> str:
        return self._model(model.name).title or model.title

    def features(self, model: Model) -> Sequence[ModelFeature]:
        """The features, called as they are in this language."""
        texts = self._model(model.name).features
        if not texts:
            return model.features
        return [_called(feature, texts.get(feature.name)) for feature in model.features]

    def label(self, model: Model, place: int) -> str:
        """A class, called as it is in this language."""
        name = model.classes[place]
        return self._model(model.name).classes.get(name, name)

    def value(self, model: Model, feature: str, text: str) -> str:
        """A value, as JSON, inside a sentence: a category called as it is in this language, or a number."""
        plain = json.loads(text) if text.startswith('"') else text
        texts = self._model(model.name).features.get(feature)
        if texts is not None and plain in texts.values:
            return texts.values[plain]
        return self.number(text) if plain is text else str(plain)

    def registry_title(self, registry: Registry) -> str:
        return self._registry(registry.name).title or registry.title

    def reason(self, registry: Registry, feature: str) -> ReasonEntry | None:
        """What a notice states, in this language; its code and its source stay."""
        known = registry.features.get(feature)
        texts = self._registry(registry.name).features.get(feature)
        if known is None or known.reason is None or texts is None or texts.reason is None:
            return None if known is None else known.reason
        return known.reason.model_copy(update={"text": texts.reason})

    def _model(self, name: str) -> ModelTexts:
        """A version that has no texts of its own has those of the name before its @."""
        models = self.texts.models
        return models.get(name) or models.get(name.partition("@")[0]) or NO_TEXTS

    def _registry(self, name: str) -> RegistryTexts:
        return self.texts.registries.get(name) or RegistryTexts()


NO_TEXTS = ModelTexts()
IN_ENGLISH = Language(ENGLISH, ENGLISH)


def _called(feature: ModelFeature, texts: FeatureTexts | None) -> ModelFeature:
    """Without a short name in this language, its sentences use the title rather than an English word."""
    if texts is None:
        return feature
    short = feature.short if texts.title is None else None
    return replace(feature, title=texts.title or feature.title, short=texts.short or short)
