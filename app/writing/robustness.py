"""What an answer says of plans that hold, as JSON."""

from typing import Any

from app.adapters.files.numbers import number_text
from app.asking.posing import Question
from app.asking.robustness import Robustness
from app.core.robust.telling import OtherVerdict, Stability
from app.writing.json_pieces import encoded, prediction_json


class StabilityWriter:
    """Writes what is told of the plans of one question."""

    def __init__(self, question: Question, robustness: Robustness) -> None:
        self._robustness = robustness
        self._names = [question.model.features[move.position].name for move in question.problem.moves]
        self._models = [(encoded(model.name), [encoded(name) for name in model.classes]) for model in robustness.models]

    def asked(self) -> str:
        """What is asked of the plans, as applied."""
        asked, conditions = self._robustness, self._robustness.conditions
        noise: dict[str, Any] = {
            feature.name: {"relative" if feature.noise.is_relative else "sd": feature.noise.amount}
            for feature in conditions.noisy.values()
        }
        content = {
            "noise": noise,
            "draws": conditions.draws if noise else 0,
            "models": [model.name for model in asked.models],
            "require": conditions.require,
            "more": asked.more,
            "order": asked.order,
            "plans": asked.plans,
        }
        return encoded(content)

    def stability(self, told: Stability | None) -> str:
        if told is None:
            return "null"
        models = ",".join(map(self._model, range(len(told.others)), told.others))
        share = "null" if told.share is None else number_text(told.share)
        return (
            f'{{"share":{share},"draws":{told.draws},"certified":null,"models":[{models}],"more":{self._more(told)}}}'
        )

    def _model(self, place: int, said: OtherVerdict) -> str:
        name, labels = self._models[place]
        label = labels[said.label] if labels else "null"
        return f'{{"name":{name},{prediction_json(label, said.score, said.favourable)[1:]}'

    def _more(self, told: Stability) -> str:
        if not told.lattice:
            return "null"
        broken = told.breaks_with is not None
        names = [self._names[move] for move in told.breaks_with or ()]
        return f'{{"holds":{encoded(not broken)},"breaks_with":{encoded(names) if broken else "null"}}}'
