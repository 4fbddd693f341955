"""What a decision costs that is not yet favourable; in logits, so that a confident refusal has a slope, too."""

import numpy as np

from lab.paper.questions.network import Network, Row, Rows
from lab.paper.questions.question import Spread

# Keeps the logarithms finite where a score is rounded to nought or one.
_TINY = 1e-300
_NEARLY_ONE = 1 - 1e-15


def log_loss(network: Network, rows: Rows) -> tuple[Row, Rows]:
    """Each row's -log(score), and how it changes with each feature."""
    scores, slopes = network.slopes(rows)
    scores = np.maximum(scores, _TINY)
    return -np.log(scores), -slopes / scores[:, np.newaxis]


def hinge_loss(network: Network, rows: Rows, margin: float) -> tuple[Row, Rows]:
    """What each row's logit lacks to `margin`, and how that changes with each feature."""
    scores, slopes = network.slopes(rows)
    scores = np.clip(scores, _TINY, _NEARLY_ONE)
    lacking = margin - (np.log(scores) - np.log1p(-scores))
    slopes = -slopes / (scores * (1 - scores))[:, np.newaxis]
    return np.maximum(lacking, 0), slopes * (lacking > 0)[:, np.newaxis]


def unit_costs(spread: Spread) -> Row:
    """What one unit of each feature costs in L1/MAD; a feature that hardly varies has no deviation, and costs one."""
    return 1 / np.where(spread.deviations > 0, spread.deviations, 1)
