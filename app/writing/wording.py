"""What every answer of a model with a registry says alike, encoded once: names, titles, units, ranges, rules."""

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from math import inf
from typing import NamedTuple
from weakref import WeakKeyDictionary

from app.adapters.graphs.features import ModelFeature
from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.locales.messages import Messages
from app.asking.prepared import PreparedModel
from app.writing.json_pieces import encoded, model_identity, range_json, registry_identity, rules_json, target_json
from app.writing.sentences import Sentences

HINT = "Say what it would become: normal_ranges.{}.if_missing in the request, or if_missing in the registry."


class FeatureWording(NamedTuple):
    """The fixed pieces of what is said of a feature, each up to the next value."""

    # Of the line `start`: up to the value; then up to the range, with what stood in for a missing value and without.
    state: str
    unfilled: str
    unit: str
    # How to have a missing value move.
    hint: str
    # Of a change: up to the value that it starts from, and from the target up to the direction.
    change: str
    direction: str
    # Of a changed or unchanged row: up to the value.
    cell: str
    # Of a sentence, inside its quotes.
    spoken: str
    spoken_unit: str
    # Whether a value is spoken as it is written.
    plain: bool
    # Values between these need no warning.
    least: float
    most: float

    @classmethod
    def of(cls, feature: ModelFeature, spoken: str, language: Language) -> "FeatureWording":
        name, title, unit = encoded(feature.name), encoded(feature.title), encoded(feature.unit)
        low, high = (None, None) if feature.bounds is None else (feature.bounds.low, feature.bounds.high)
        return cls(
            state=f'{{"name":{name},"title":{title},"value":',
            unfilled=f',"filled":null,"unit":{unit},',
            unit=f',"unit":{unit},',
            hint=f',"hint":{encoded(HINT.format(feature.name))}',
            change=f'{{"feature":{name},"title":{title},"from":',
            direction=f',"unit":{unit},"direction":',
            cell=f"{name}:",
            spoken=encoded(spoken)[1:-1],
            spoken_unit=encoded(spoken_unit(feature))[1:-1],
            plain=language is IN_ENGLISH and feature.type != "category",
            least=-inf if low is None else low,
            most=inf if high is None else high,
        )


class Wording(NamedTuple):
    """The pieces of one model with a registry, or with none."""

    model: str
    registry: str
    target: str
    # By the place of the class; a regression, which has none, puts its label at -1.
    labels: tuple[str, ...]
    features: tuple[FeatureWording, ...]
    # By the identity of a range that the registry knows, or of None: such ranges live as long as what is prepared.
    ranges: dict[int, str]
    rules: str
    sentences: Sentences

    @classmethod
    def of(cls, prepared: PreparedModel, language: Language) -> "Wording":
        model, registry = prepared.model, prepared.registry
        known, called = zip(model.features, prepared.ranges, strict=True), language.features(model)
        return cls(
            model=encoded(model_identity(model)),
            registry="null" if registry is None else encoded(registry_identity(registry)),
            target=encoded(target_json(model.favourable, model)),
            labels=tuple(map(encoded, model.classes or (None,))),
            features=tuple(map(FeatureWording.of, called, spoken_names(called), repeat(language))),
            ranges={id(chosen): range_json(chosen, feature) for feature, ranges in known for chosen in (None, *ranges)},
            rules=rules_json(prepared.rules),
            sentences=Sentences(_inside_quotes(language.messages)),
        )


def spoken_names(features: Sequence[ModelFeature]) -> list[str]:
    """What sentences call each feature: what two of them are called alike has the name behind it."""
    counts = Counter(feature.spoken for feature in features)
    return [
        feature.spoken if counts[feature.spoken] == 1 else f"{feature.spoken} ({feature.name})" for feature in features
    ]


def spoken_unit(feature: ModelFeature) -> str:
    """The unit behind a value, where there is one to speak of."""
    return "" if feature.unit in (None, "1") else f" {feature.unit}"


def _inside_quotes(messages: Messages) -> Messages:
    """The templates as they stand inside a text of JSON."""
    texts = {name: encoded(text)[1:-1] for name, text in messages if isinstance(text, str)}
    return messages.model_copy(update=texts)


_made: WeakKeyDictionary[PreparedModel, dict[str, Wording]] = WeakKeyDictionary()


def wording_of(prepared: PreparedModel, language: Language = IN_ENGLISH) -> Wording:
    """The same pieces for every answer in a language, as long as the model is served."""
    made = _made.get(prepared)
    if made is None:
        made = _made[prepared] = {}
    wording = made.get(language.name)
    if wording is None:
        wording = made[language.name] = Wording.of(prepared, language)
    return wording
