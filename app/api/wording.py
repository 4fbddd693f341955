"""What every answer of a model says alike, encoded once: names, titles, units, classes, and who it is."""

from typing import NamedTuple

from app.adapters.features import ModelFeature
from app.adapters.models import Model
from app.api.json_pieces import encoded, model_identity, target_json


class FeatureWording(NamedTuple):
    """The fixed pieces of what is said of a feature, each up to the next value."""

    # Of the line `start`: up to the value; then up to the range, with what stood in for a missing value and without.
    state: str
    unfilled: str
    unit: str
    # Of a change: up to the value that it starts from, and from the target up to the direction.
    change: str
    direction: str
    # Of a changed or unchanged row: up to the value.
    cell: str
    # Of a sentence, inside its quotes.
    name: str
    spoken_unit: str

    @classmethod
    def of(cls, feature: ModelFeature) -> "FeatureWording":
        name, title, unit = encoded(feature.name), encoded(feature.title), encoded(feature.unit)
        return cls(
            state=f'{{"name":{name},"title":{title},"value":',
            unfilled=f',"filled":null,"unit":{unit},',
            unit=f',"unit":{unit},',
            change=f'{{"feature":{name},"title":{title},"from":',
            direction=f',"unit":{unit},"direction":',
            cell=f"{name}:",
            name=name[1:-1],
            spoken_unit="" if feature.unit in (None, "1") else f" {unit[1:-1]}",
        )


class Wording(NamedTuple):
    """The pieces of one model."""

    identity: str
    target: str
    # By the place of the class; a regression, which has none, puts its label at -1.
    labels: tuple[str, ...]
    features: tuple[FeatureWording, ...]

    @classmethod
    def of(cls, model: Model) -> "Wording":
        return cls(
            encoded(model_identity(model)),
            encoded(target_json(model.favourable, model.classes)),
            tuple(map(encoded, model.classes or (None,))),
            tuple(map(FeatureWording.of, model.features)),
        )
