"""Pieces of JSON that more than one kind of answer is made of."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.adapters.models import Model
from app.core.favourable import Favourable, FavourableInterval
from app.core.ranges import Condition, Equals

# json.dumps would make an encoder anew for each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encoded(value: Any) -> str:
    """A value as compact JSON."""
    return _ENCODER.encode(value)


def prediction_json(label: str, score: np.floating[Any], favourable: bool) -> str:
    """What the model says, with its label as JSON, and the shortest decimal that is this score in its own type."""
    return f'{{"label":{label},"score":{score!s},"favourable":{"true" if favourable else "false"}}}'


def model_identity(model: Model) -> dict[str, str]:
    """Which model it was, to the last bit."""
    return {"name": model.name, "version": model.version, "sha256": model.sha256}


def target_json(favourable: Favourable, classes: tuple[str, ...]) -> dict[str, Any]:
    """What counted as favourable."""
    if isinstance(favourable, FavourableInterval):
        return {"low": favourable.low, "high": favourable.high}
    return {"classes": [classes[place] for place in favourable.classes], "threshold": favourable.threshold}


def when_json(when: Mapping[str, Condition]) -> dict[str, Any]:
    """Conditions the way that a registry writes them."""
    return {
        key: condition.value if isinstance(condition, Equals) else {"low": condition.low, "high": condition.high}
        for key, condition in when.items()
    }
