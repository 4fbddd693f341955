"""From how hard changes are to weights that a registry can take."""

from collections.abc import Sequence

from app.adapters.files.toml_files import quoted
from app.learning.logit import Hardness

# A change that people rather like still costs something.
LEAST_WEIGHT = 0.05


def suggested_weights(hardness: Sequence[Hardness]) -> dict[str, float]:
    """Weights in proportion to the hardness; 1 is the mean of those changes that are hard at all."""
    hard = [each.value for each in hardness if each.value > 0]
    scale = sum(hard) / len(hard) if hard else 1.0
    return {each.feature: round(max(each.value / scale, LEAST_WEIGHT), 2) for each in hardness}


def weights_toml(hardness: Sequence[Hardness], people: int) -> str:
    """The table `weights` of a registry, with what it rests on."""
    lines = [f"# Suggested from the choices of {people} people. 1 is a change of usual hardness.", "[weights]"]
    weights = suggested_weights(hardness)
    for each in hardness:
        found = f"hardness {each.value:.2f}, 95 % interval {each.low:.2f} to {each.high:.2f}, {each.offers} choices"
        lines.append(f"{quoted(each.feature)} = {weights[each.feature]}  # {found}")
    return "\n".join(lines) + "\n"
