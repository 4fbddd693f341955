"""Growing Spheres (Laugel et al. 2018): the first favourable point in ever wider layers round the person."""

import time

import numpy as np

from lab.paper.questions.network import Network, Row, Rows
from lab.paper.questions.question import Question, no_rows

# The first ball, and how thick a layer is; both are halved while the ball already holds a favourable point.
RADIUS = 0.1
# Points in a layer. Both are our choice: fine, and done in milliseconds.
POINTS = 1000


def growing_spheres(question: Question) -> Rows:
    """One run after the other, each with chances of its own."""
    rng = np.random.default_rng(question.seed)
    deadline = time.thread_time() + question.seconds
    found = []
    for _ in range(question.count):
        nearest = _nearest(question, rng, deadline)
        if nearest is not None:
            found.append(put_back(question.network, question.instance, nearest))
    return np.array(found) if found else no_rows(question)


def _nearest(question: Question, rng: np.random.Generator, deadline: float) -> Row | None:
    """The nearest favourable point of the first layer that holds one."""
    # Farther than the data reach there is nothing to recommend.
    farthest = float(np.linalg.norm(question.spread.highest - question.spread.lowest))
    inner, thickness, held = 0.0, RADIUS, None
    while inner < farthest and time.thread_time() < deadline:
        points = question.instance + layer(rng, inner, inner + thickness, len(question.instance))
        favourable = points[question.network.favourable(points)]
        if len(favourable) == 0:
            inner += thickness
            continue
        held = favourable[np.linalg.norm(favourable - question.instance, axis=1).argmin()]
        if inner > 0:
            break
        thickness /= 2
    return held


def layer(rng: np.random.Generator, inner: float, outer: float, width: int) -> Rows:
    """Points evenly over the volume between two spheres."""
    directions = rng.normal(size=(POINTS, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    # As shares of the outer radius, whose powers neither vanish nor overflow.
    volumes = rng.uniform((inner / outer) ** width, 1, size=(POINTS, 1))
    return directions * outer * volumes ** (1 / width)


def put_back(network: Network, instance: Row, point: Row) -> Row:
    """The point with features put back to the person's own, the smallest difference first, while it is favourable."""
    for feature in np.argsort(np.abs(point - instance), kind="stable"):
        trial = point.copy()
        trial[feature] = instance[feature]
        if not network.favourable(trial[np.newaxis])[0]:
            break
        point = trial
    return point
