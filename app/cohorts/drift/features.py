"""Whether two versions of a model can judge the same rows."""

from collections.abc import Iterator

from app.adapters.files.names import listed
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.models import Model


class OtherFeatures(Exception):
    """The two versions do not read the same rows; the text says what differs."""


def check_same_features(old: Model, new: Model) -> None:
    """`OtherFeatures` if a value may mean something else to one version. The order of the features may differ."""
    if differences := [*_differences(old, new)]:
        raise OtherFeatures(f"{old.name} and {new.name} cannot be compared: {'; '.join(differences)}.")


def _differences(old: Model, new: Model) -> Iterator[str]:
    for one, other in ((old, new), (new, old)):
        if lacking := [feature.name for feature in one.features if feature.name not in other.positions]:
            yield f"{other.name} has no feature {listed(lacking)}"
    for before in old.features:
        if before.name in new.positions:
            now = _meaning(new.features[new.positions[before.name]])
            parts = [part for part, meant in _meaning(before).items() if now[part] != meant]
            yield from [f"{before.name} differs in {listed(parts)}"] if parts else []


def _meaning(feature: ModelFeature) -> dict[str, object]:
    """What a value means, by the keys of `model.toml`; what the graph reads in its place does not matter."""
    return {
        "unit": feature.unit,
        "type": feature.type,
        "categories": feature.categories,
        "missing_codes": frozenset(feature.missing_codes),
        "whether it may be missing": feature.may_be_missing,
        "whether it is derived": feature.derived is not None,
    }
