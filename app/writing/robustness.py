"""What an answer says of plans that hold, as JSON."""

from app.adapters.files.numbers import number_text
from app.asking.posing.question import Question
from app.asking.robustness import Robustness
from app.core.robust.certificates import Breaking
from app.core.robust.telling import OtherVerdict, Stability
from app.writing.json_pieces import WRITTEN, encoded, judgement_json
from app.writing.wording import Wording


class StabilityWriter:
    """Writes what is told of the plans of one question."""

    def __init__(self, question: Question, robustness: Robustness, wording: Wording) -> None:
        self._robustness = robustness
        self._positions = [move.position for move in question.problem.moves]
        self._wording = wording
        self._models = [(encoded(model.name), [encoded(name) for name in model.classes]) for model in robustness.models]

    def asked(self) -> str:
        """What is asked of the plans, as applied."""
        asked, conditions = self._robustness, self._robustness.conditions
        noise = ",".join(
            f'{self._wording.features[position].cell}{{"{"relative" if feature.noise.is_relative else "sd"}":'
            f"{number_text(feature.noise.amount)}}}"
            for position, feature in conditions.noisy.items()
        )
        content = {
            "draws": conditions.draws if noise else 0,
            "models": [model.name for model in asked.models],
            "require": conditions.require,
            "more": asked.more,
            "order": asked.order,
            "plans": asked.plans,
        }
        return f'{{"noise":{{{noise}}},{encoded(content)[1:]}'

    def stability(self, told: Stability | None) -> str:
        if told is None:
            return "null"
        models = ",".join(map(self._model, range(len(told.others)), told.others))
        share = "null" if told.share is None else number_text(told.share)
        certified, breaking = told.certificate
        return (
            f'{{"share":{share},"draws":{told.draws},"certified":{WRITTEN[certified]},'
            f'"counterexample":{self._counterexample(breaking)},"models":[{models}],"more":{self._more(told)}}}'
        )

    def _counterexample(self, breaking: Breaking | None) -> str:
        if breaking is None:
            return "null"
        features = self._wording.features
        measured = ",".join([f"{features[at].cell}{number_text(value)}" for at, value in breaking.measured.items()])
        prediction = judgement_json(self._wording.labels[breaking.label], breaking.score, favourable=False)
        return f'{{"measured":{{{measured}}},"prediction":{prediction}}}'

    def _model(self, place: int, said: OtherVerdict) -> str:
        name, labels = self._models[place]
        label = labels[said.label] if labels else "null"
        return f'{{"name":{name},{judgement_json(label, said.score, said.favourable)[1:]}'

    def _more(self, told: Stability) -> str:
        if not told.lattice:
            return "null"
        if told.breaks_with is None:
            return '{"holds":true,"breaks_with":null}'
        # Up to the colon before a value.
        names = [self._wording.features[self._positions[move]].cell[:-1] for move in told.breaks_with]
        return f'{{"holds":false,"breaks_with":[{",".join(dict.fromkeys(names))}]}}'
