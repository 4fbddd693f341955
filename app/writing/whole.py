"""Answers that come in one piece: predictions, and the picture of all subsets."""

from collections.abc import Sequence

import numpy as np

from app.answering.predictions import Predictions
from app.asking.posing.question import Question
from app.core.search.all_subsets import Subset
from app.writing.json_pieces import encoded, model_identity, prediction_json, target_json
from app.writing.wording import wording_of


def predictions_json(said: Predictions) -> str:
    """What the model says of one instance, or of each of several."""
    model, verdict, each = said.model, said.verdict, prediction_texts(said)
    predictions = f'"prediction":{each[0]}' if said.is_single else f'"predictions":[{",".join(each)}]'
    target = encoded(target_json(verdict.target, model))
    return f'{{"model":{encoded(model_identity(model))},"target":{target},{predictions}}}'


def prediction_texts(said: Predictions) -> list[str]:
    """What the model says of each instance."""
    verdict = said.verdict
    classes = tuple(map(encoded, said.model.classes or (None,)))
    labels, flags = verdict.label.tolist(), verdict.favourable.tolist()
    return [
        prediction_json(classes[label], score, favourable)
        for label, score, favourable in zip(labels, verdict.score, flags, strict=True)
    ]


def subsets_json(question: Question, subsets: Sequence[Subset]) -> str:
    """Every subset of the movable features, with what the model says of it."""
    names = [encoded(question.model.features[move.position].name) for move in question.problem.moves]
    target = encoded(target_json(question.favourable, question.model))
    wording = wording_of(question.prepared)
    return (
        f'{{"model":{wording.model},"normal_ranges":{wording.registry},"target":{target},'
        f'"features":[{",".join(names)}],"subsets":[{",".join([_subset(subset, names) for subset in subsets])}]}}'
    )


def _subset(subset: Subset, names: list[str]) -> str:
    # The shortest decimal that is this score in its own type, as in a prediction.
    score = str(subset.score) if np.isfinite(subset.score) else "null"
    return (
        f'{{"features":[{",".join([names[move] for move in subset.moves])}],"score":{score},'
        f'"favourable":{encoded(subset.favourable)},"allowed":{encoded(subset.allowed)},"role":{encoded(subset.role)}}}'
    )
