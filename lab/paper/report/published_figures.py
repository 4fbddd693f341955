"""The figures of the paper's authors, from the result files that they keep with their code: anchors, not goals.

Their Diversity multiplies by the deviation instead of dividing by it, so it is left out. Their noise rows do not
recompute which features are abnormal, and their retrained models also differ in width.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SIGMAS = (0.0001, 0.001, 0.01, 0.1)


@dataclass(frozen=True)
class PublishedFigures:
    """One method on one data set; `noise` by sigma is the inconsistency, as is `retrained`."""

    metrics: Mapping[str, float]
    retrained: float
    noise: Mapping[float, float]


def _figures(
    sparsity: float, aps: float, c_diversity: float | None, retrained: float, noise: tuple[float, ...]
) -> PublishedFigures:
    metrics = {"sparsity": sparsity, "aps": aps}
    if c_diversity is not None:
        metrics["c_diversity"] = c_diversity
    return PublishedFigures(metrics, retrained, dict(zip(SIGMAS, noise, strict=True)))


HCV = {
    "growing_spheres": _figures(0.643, 0.137, 0.487, 2.657, (2.86, 2.62, 2.41, 2.78)),
    "plain_cf": _figures(0.126, 0.192, 0.975, 2.553, (2.30, 2.30, 2.24, 2.43)),
    "dice": _figures(0.019, 0.120, 0.991, 2.047, (1.60, 1.62, 1.73, 2.52)),
    "cf_proto": _figures(0.046, 0.135, 0.952, 1.250, (1.32, 1.37, 1.11, 1.42)),
    "sns": _figures(0.002, 0.198, 0.989, 0.945, (0.135, 0.159, 0.212, 0.478)),
    "published": _figures(0.706, 0.069, 0.267, 0.747, (0.0003, 0.0025, 0.073, 0.698)),
}
THYROID = {
    "growing_spheres": _figures(0.641, 0.056, None, 1.896, (0.73, 0.78, 0.98, 0.98)),
    "plain_cf": _figures(0.024, 0.166, None, 3.655, (2.56, 2.88, 2.46, 2.15)),
    "dice": _figures(0.028, 0.070, None, 3.034, (2.43, 3.17, 1.68, 2.90)),
    "cf_proto": _figures(0.089, 0.117, None, 1.573, (1.57, 1.62, 1.63, 1.48)),
    "sns": _figures(0.000, 0.234, None, 1.944, (0.87, 0.97, 0.87, 1.06)),
    "published": _figures(0.750, 0.026, None, 0.000, (0.0002, 0.0015, 0.016, 0.171)),
}
SYNTHETIC = {
    "growing_spheres": _figures(0.710, 0.080, 0.326, 0.293, (0.30, 0.33, 0.29, 0.41)),
    "plain_cf": _figures(0.177, 0.166, 0.945, 1.185, (1.24, 1.30, 1.27, 1.29)),
    "dice": _figures(0.009, 0.158, 1.000, 1.569, (1.12, 1.06, 1.12, 1.19)),
    "cf_proto": _figures(0.004, 0.355, 0.683, 0.199, (0.33, 0.38, 0.32, 0.34)),
    "sns": _figures(0.002, 0.204, 0.996, 1.624, (1.17, 1.23, 1.21, 1.22)),
    "published": _figures(0.691, 0.110, 0.547, 0.022, (0.0001, 0.0015, 0.014, 0.204)),
}

# By data set and registry: on hcv the paper takes the tight ranges, and with others its figures are no anchor.
PUBLISHED: Mapping[tuple[str, str], Mapping[str, PublishedFigures]] = {
    ("hcv", "hcv-paper-tight"): HCV,
    ("thyroid", "thyroid"): THYROID,
    ("synthetic", "synthetic"): SYNTHETIC,
}

# Not the authors': every minimal set, found with their models and their people.
EXACT_WITH_THEIR_MODELS: Mapping[tuple[str, str], PublishedFigures] = {
    ("hcv", "hcv-paper-tight"): _figures(0.701, 0.071, None, 0.621, (0.0003, 0.0060, 0.058, 0.512)),
}
