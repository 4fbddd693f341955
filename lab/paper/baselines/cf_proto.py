"""CFProto (Van Looveren & Klaise 2019): a near point, drawn towards a prototype of the favourable class."""

import time

import numpy as np

from lab.paper.baselines.descent import Pace, Pull, descend
from lab.paper.baselines.losses import hinge_loss
from lab.paper.baselines.raising import raised
from lab.paper.questions.network import Row, Rows
from lab.paper.questions.question import Question

# The weight of L1 beside L2: the default of the authors' package, which the CEMSP authors' code keeps.
BETA = 0.1
# The weight of the prototype: as much as the person's own point, as in the CEMSP authors' code.
THETA = 1.0
# How far past the border, in logits: a hinge without margin ends on the border, half of the time on its wrong side.
MARGIN = 0.1
# The starting points, near the person, yet apart: our choice.
NEARNESS = 0.3
PACE = Pace(steps=150, rate=0.1, tolerance=1e-5)


def cf_proto(question: Question, theta: float = THETA) -> Rows:
    """Each row goes its own way downhill from a random point near the person; c, the weight of the hinge, is raised."""
    rng = np.random.default_rng(question.seed)
    deadline = time.thread_time() + question.seconds
    instance, prototype = question.instance, question.prototype
    pull = Pull(instance, np.full(len(instance), BETA))

    def draw(count: int) -> Rows:
        return instance + NEARNESS * rng.normal(size=(count, len(instance)))

    def seek(starts: Rows, weight: float) -> Rows:
        def weighed(rows: Rows) -> tuple[Row, Rows]:
            losses, slopes = hinge_loss(question.network, rows, MARGIN)
            gone, left = rows - instance, rows - prototype
            losses = weight * losses + (gone**2).sum(axis=1) + theta * (left**2).sum(axis=1)
            return losses, weight * slopes + 2 * gone + 2 * theta * left

        return descend(weighed, pull, starts, PACE, deadline)

    return raised(question, draw, seek)
