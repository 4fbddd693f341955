"""Derived features of a model: how they are computed from the others."""

from pathlib import Path

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.graphs.features import ModelFeature
from app.adapters.rules.arithmetic import parse_arithmetic
from app.adapters.rules.formulas import BadFormula
from app.core.following.arithmetic import Arithmetic, features_of
from app.core.following.following import Cycle, in_order


def read_derived(file: Path, features: tuple[ModelFeature, ...]) -> dict[int, Arithmetic]:
    """How derived features are computed, in an order in which that can be done."""
    positions = {feature.name: position for position, feature in enumerate(features)}
    categories = {feature.name for feature in features if feature.type == "category"}
    found: dict[int, Arithmetic] = {}
    for position, feature in enumerate(features):
        if feature.derived is not None:
            try:
                found[position] = parse_arithmetic(feature.derived, positions, categories)
            except BadFormula as error:
                raise BrokenFiles([Flaw(file, f"features[{position}].derived", str(error))]) from None
    try:
        return {position: found[position] for position in in_order({each: features_of(found[each]) for each in found})}
    except Cycle as error:
        reason = "is computed from itself, by way of other derived features or directly"
        raise BrokenFiles([Flaw(file, f"features[{error.args[0]}].derived", reason)]) from None
