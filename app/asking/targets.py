"""What a request calls favourable."""

import numpy as np

from app.adapters.files.numbers import number_type
from app.adapters.graphs.models import BEYOND_PROBABILITIES, Model, favourable_classes
from app.asking.reading import Errors, check_list
from app.asking.schemas import TargetBody
from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.ranges import NormalRange

# What any model gives its scores in fits at least this.
SCORES = number_type(np.dtype(np.float32))


def read_target(target: TargetBody, model: Model, errors: Errors) -> Favourable:
    """What the request, or else the model, calls favourable."""
    usual = model.favourable
    if not target.model_fields_set:
        return usual
    if isinstance(usual, FavourableInterval):
        return _interval(target, usual, errors)
    for side in ("low", "high"):
        if getattr(target, side) is not None:
            errors.add(f"target.{side}", "belongs to a regression; this model has classes")
    threshold = target.threshold
    if threshold is not None and model.probabilities and not 0 <= threshold <= 1:
        errors.add("target.threshold", BEYOND_PROBABILITIES.format("scores of this model"))
    elif threshold is not None and not SCORES.holds(threshold):
        errors.add("target.threshold", "is too large for any score")
    return _classes(target, usual, threshold, model, errors)


def _classes(
    target: TargetBody, usual: FavourableClasses, threshold: float | None, model: Model, errors: Errors
) -> FavourableClasses:
    chosen = target.classes
    if chosen is None:
        return FavourableClasses(usual.classes, usual.others, usual.threshold if threshold is None else threshold)
    check_list(chosen, model.classes, "target.classes", "class", errors)
    if not chosen or set(chosen) >= set(model.classes):
        errors.add("target.classes", f"must name some but not all of: {', '.join(model.classes)}")
    if errors.found:
        return usual
    favourable = favourable_classes(model.classes, chosen, threshold)
    # The model's own threshold goes with the model's own classes only.
    return usual if threshold is None and favourable.classes == usual.classes else favourable


def _interval(target: TargetBody, usual: FavourableInterval, errors: Errors) -> FavourableInterval:
    for name in ("classes", "threshold"):
        if getattr(target, name) is not None:
            errors.add(f"target.{name}", "belongs to a classification; this model gives one value")
    if target.low is None and target.high is None:
        return usual
    if flaw := NormalRange(target.low, target.high).flaw():
        errors.add("target", flaw)
    for name, end in (("low", target.low), ("high", target.high)):
        if end is not None and not SCORES.holds(end):
            errors.add(f"target.{name}", "is too large for any value of the model")
    return FavourableInterval(target.low, target.high)
