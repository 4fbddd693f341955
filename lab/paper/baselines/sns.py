"""Stable Neighbor Search (Black et al. 2022): near a counterfactual, the one whose score is high all the way to it."""

import time

import numpy as np

from lab.paper.baselines.plain_cf import plain_cf
from lab.paper.questions.network import Network, Row, Rows
from lab.paper.questions.question import Question

# How far from the counterfactual, in L2: one standard deviation, our choice. The short steps lead twice as far.
RADIUS = 1.0
STEPS = 20
STRIDE = RADIUS / 10
# Where on the way from the origin (in standardised units, the mean of the data) the score is taken.
STATIONS = (np.arange(10) + 0.5) / 10


def sns(question: Question) -> Rows:
    """From each answer of PlainCF uphill, and back into its ball; of the favourable rows on the way the most stable."""
    deadline = time.thread_time() + question.seconds
    centres = plain_cf(question)
    rows = best = centres
    highest, slopes = stability(question.network, rows)
    for _ in range(STEPS):
        if time.thread_time() >= deadline:
            break
        rows = _into_ball(rows + STRIDE * _directions(slopes), centres)
        heights, slopes = stability(question.network, rows)
        better = (heights > highest) & question.network.favourable(rows)
        best = np.where(better[:, np.newaxis], rows, best)
        highest = np.where(better, heights, highest)
    return best


def stability(network: Network, rows: Rows) -> tuple[Row, Rows]:
    """The mean score between the origin and each row, and how it changes with each feature."""
    shares = STATIONS[:, np.newaxis, np.newaxis]
    stations = shares * rows
    scores, slopes = network.slopes(stations.reshape(-1, rows.shape[1]))
    return scores.reshape(stations.shape[:2]).mean(axis=0), (shares * slopes.reshape(stations.shape)).mean(axis=0)


def _directions(slopes: Rows) -> Rows:
    lengths = np.linalg.norm(slopes, axis=1, keepdims=True)
    return slopes / np.where(lengths > 0, lengths, 1)


def _into_ball(rows: Rows, centres: Rows) -> Rows:
    away = rows - centres
    lengths = np.linalg.norm(away, axis=1, keepdims=True)
    back: Rows = centres + away / np.maximum(lengths / RADIUS, 1)
    return back
