"""PlainCF (Wachter et al. 2017): the least L1/MAD cost plus a weighted loss of the decision, from random points."""

import time

import numpy as np

from lab.paper.baselines.descent import Pace, Pull, descend
from lab.paper.baselines.losses import log_loss, unit_costs
from lab.paper.baselines.raising import raised
from lab.paper.questions.network import Row, Rows
from lab.paper.questions.question import Question

# Our choice: enough steps to cross the data (some six units) and settle. The tolerance is the CEMSP authors'.
PACE = Pace(steps=150, rate=0.1, tolerance=1e-4)


def plain_cf(question: Question) -> Rows:
    """Each row goes its own way from a standard normal point, as in the CEMSP authors' code, and lambda is raised."""
    rng = np.random.default_rng(question.seed)
    deadline = time.thread_time() + question.seconds
    pull = Pull(question.instance, unit_costs(question.spread))

    def draw(count: int) -> Rows:
        return rng.normal(size=(count, len(question.instance)))

    def seek(starts: Rows, weight: float) -> Rows:
        def weighed(rows: Rows) -> tuple[Row, Rows]:
            losses, slopes = log_loss(question.network, rows)
            return weight * losses, weight * slopes

        return descend(weighed, pull, starts, PACE, deadline)

    return raised(question, draw, seek)
