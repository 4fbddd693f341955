"""Pieces of JSON that more than one kind of answer is made of."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from app.adapters.files.numbers import number_text
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import Model
from app.adapters.rules.registries import Registry
from app.asking.posing.question import Question
from app.asking.ranges import ChosenRange
from app.asking.rules import RuleInForce
from app.core.favourable import Favourable, FavourableInterval
from app.core.ranges import Allowed, Condition, Equals

# json.dumps would make an encoder anew for each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
WRITTEN = {True: "true", False: "false", None: "null"}


def encoded(value: Any) -> str:
    """A value as compact JSON."""
    return _ENCODER.encode(value)


def prediction_json(label: str, score: np.floating[Any], favourable: bool) -> str:
    """What the model says, with its label as JSON, and the shortest decimal that is this score in its own type."""
    return f'{{"label":{label},"score":{score!s},"favourable":{"true" if favourable else "false"}}}'


def judgement_json(label: str, score: np.floating[Any], favourable: bool) -> str:
    """The same of a row that nobody is advised to reach; its score need not be finite, and is null then."""
    said = str(score) if np.isfinite(score) else "null"
    return f'{{"label":{label},"score":{said},"favourable":{"true" if favourable else "false"}}}'


def model_identity(model: Model) -> dict[str, str | None]:
    """Which model it was, to the last bit: its graph, if it is here, and its description."""
    return {
        "name": model.name,
        "version": model.version,
        "sha256": model.sha256,
        "description_sha256": model.description_sha256,
    }


def registry_identity(registry: Registry) -> dict[str, str]:
    """Which ranges it was, to the last bit."""
    return {"name": registry.name, "version": registry.version, "sha256": registry.sha256}


def target_json(favourable: Favourable, model: Model) -> dict[str, Any]:
    """What counted as favourable: as it was said, and as the model's own type has it, in which scores are compared."""
    dtype = model.scorer.score_dtype
    if isinstance(favourable, FavourableInterval):
        said = {"low": favourable.low, "high": favourable.high}
        return {**said, "compared_as": {"type": str(dtype), **{end: _in_type(said[end], dtype) for end in said}}}
    threshold = favourable.threshold
    return {
        "classes": [model.classes[place] for place in favourable.classes],
        "threshold": threshold,
        "compared_as": {"type": str(dtype), "threshold": _in_type(threshold, dtype)},
    }


def _in_type(number: float | None, dtype: np.dtype[Any]) -> float | None:
    """The shortest decimal that is this number in a type."""
    return None if number is None else float(str(dtype.type(number)))


def rules_json(rules: Iterable[RuleInForce]) -> str:
    """Rules as the entries of a list."""
    return ",".join([encoded(rule._asdict()) for rule in rules])


def range_json(chosen: ChosenRange | None, feature: ModelFeature) -> str:
    """What a feature is held against, as fields of an object."""
    if chosen is None:
        return '"low":null,"high":null,"allowed":null,"when":null'
    if isinstance(chosen.normal, Allowed):
        return f'"low":null,"high":null,"allowed":[{",".join(map(feature.text, chosen.normal.codes))}],"when":{{}}'
    low, high = ("null" if end is None else number_text(end) for end in (chosen.normal.low, chosen.normal.high))
    return f'"low":{low},"high":{high},"allowed":null,"when":{encoded(when_json(chosen.when))}'


def when_json(when: Mapping[str, Condition]) -> dict[str, Any]:
    """Conditions the way that a registry writes them."""
    return {key: condition_json(condition) for key, condition in when.items()}


def condition_json(condition: Condition) -> Any:
    """A value or an interval."""
    return condition.value if isinstance(condition, Equals) else {"low": condition.low, "high": condition.high}


def unmatched_json(question: Question) -> str:
    """The keys of the context with a value that no range knows, and what ranges know instead; never the value."""
    if not question.unmatched_context:
        return "[]"
    asked = question.prepared.asked
    known = {key: list(map(condition_json, asked[key].written)) for key in question.unmatched_context}
    return encoded([{"key": key, "known": conditions} for key, conditions in known.items()])
