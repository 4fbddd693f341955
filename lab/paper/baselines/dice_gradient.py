"""DiCE (Mothilal et al. 2020), its objective downhill: near rows that are favourable, and far from each other."""

import time

import numpy as np

from lab.paper.baselines.descent import Pace, Pull, descend
from lab.paper.baselines.losses import hinge_loss, unit_costs
from lab.paper.baselines.raising import WEIGHTS
from lab.paper.questions.network import Row, Rows
from lab.paper.questions.question import Question

# Of the cost and of the diversity against the decision: the values that the authors found best.
PROXIMITY = 0.5
DIVERSITY = 1.0
# The authors' hinge: a logit of one, which is a score of 0.73.
MARGIN = 1.0
# Two rows that meet would make the kernel singular.
JITTER = 1e-4
PACE = Pace(steps=150, rate=0.1, tolerance=1e-5)


def dice_gradient(question: Question, diversity: float = DIVERSITY) -> Rows:
    """All rows go downhill together, from standard normal points."""
    rng = np.random.default_rng(question.seed)
    deadline = time.thread_time() + question.seconds
    shape = (question.count, len(question.instance))
    # Both distances are means over the features, as in the authors' paper.
    units = unit_costs(question.spread) / len(question.instance)
    pull = Pull(question.instance, PROXIMITY * units)

    def seek(starts: Rows, weight: float) -> Rows:
        def weighed(rows: Rows) -> tuple[Row, Rows]:
            losses, slopes = hinge_loss(question.network, rows, MARGIN)
            spread, apart = spread_out(rows, units)
            # The authors take the mean over the rows of all but the diversity. Times their number it comes to this.
            return weight * losses - diversity * spread, weight * slopes - diversity * len(rows) * apart

        return descend(weighed, pull, starts, PACE, deadline)

    rows, refused = np.empty(shape), np.ones(question.count, dtype=np.bool_)
    # The authors' weight is one; more is for rows that it leaves refused, which start again among the others.
    for weight in WEIGHTS:
        rows = seek(np.where(refused[:, np.newaxis], rng.normal(size=shape), rows), weight)
        refused = ~question.network.favourable(rows)
        if not refused.any() or time.thread_time() >= deadline:
            break
    return rows


def spread_out(rows: Rows, units: Row) -> tuple[float, Rows]:
    """The determinant of the kernel 1 / (1 + distance), and how it changes with each feature of each row."""
    gaps = rows[:, np.newaxis] - rows[np.newaxis]
    kernel = 1 / (1 + np.abs(gaps) @ units)
    steadied = kernel + JITTER * np.eye(len(rows))
    determinant = float(np.linalg.det(steadied))
    cofactors = determinant * np.linalg.inv(steadied)
    # Each pair stands twice in the kernel, which is symmetric.
    pairs = -2 * cofactors * kernel**2
    return determinant, (pairs[:, :, np.newaxis] * np.sign(gaps)).sum(axis=1) * units
