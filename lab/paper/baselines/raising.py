"""The decision weighs more and more against the cost, until every row is favourable."""

import time
from collections.abc import Callable

import numpy as np

from lab.paper.questions.network import Rows
from lab.paper.questions.question import Question

# By threes, from where decision and cost weigh the same to where only the decision does. After that a row is refused
# because it started where the network is flat, and only another start helps.
WEIGHTS = tuple(3.0 ** min(power, 6) for power in range(14))


def raised(question: Question, draw: Callable[[int], Rows], seek: Callable[[Rows, float], Rows]) -> Rows:
    """As many rows as are wanted: those still refused start again elsewhere, with the next weight.

    `draw` gives so many starting points, `seek` where they lead with a weight.
    """
    deadline = time.thread_time() + question.seconds
    rows = np.empty((question.count, len(question.instance)))
    refused = np.arange(question.count)
    for weight in WEIGHTS:
        found = seek(draw(len(refused)), weight)
        rows[refused] = found
        refused = refused[~question.network.favourable(found)]
        if len(refused) == 0 or time.thread_time() >= deadline:
            break
    return rows
