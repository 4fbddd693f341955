"""Networks whose nearest favourable point is known, and people whom they refuse."""

from dataclasses import dataclass, field

import numpy as np

from lab.paper.questions.network import Layer, Network, Row, Rows
from lab.paper.questions.question import Question, Spread


def linear(weights: list[float], bias: float) -> Network:
    """Favourable where `weights @ row + bias > 0`."""
    return Network([Layer(np.array(weights)[:, np.newaxis], np.array([bias]))])


def either_or() -> Network:
    """Favourable where the first feature is above 1, or the second above 1.5, by two ReLUs that look on."""
    return Network(
        [
            Layer(np.array([[4.0, 0.0], [0.0, 4.0], [0.0, 0.0]]), np.array([-2.0, -4.0])),
            Layer(np.array([[2.0], [2.0]]), np.array([-4.0])),
        ]
    )


@dataclass(frozen=True)
class Counting(Network):
    """Counts how often it is asked."""

    asked: list[int] = field(default_factory=list)

    def _passed(self, rows: Rows) -> list[Rows]:
        self.asked.append(len(rows))
        return super()._passed(rows)


def never(width: int = 3) -> Counting:
    """Refuses everybody, everywhere alike."""
    return Counting([Layer(np.zeros((width, 1)), np.array([-1.0]))])


def question(network: Network, width: int, **changes) -> Question:
    """The person at the origin, who wants three counterfactuals."""
    asked = {
        "network": network,
        "instance": np.zeros(width),
        "targets": {0: 2.0},
        "count": 3,
        "spread": Spread(np.full(width, -4.0), np.full(width, 4.0), np.ones(width)),
        "seed": 5,
        "seconds": 60.0,
    }
    return Question(**(asked | changes))


def refused(network: Network) -> Row:
    """Someone whom the network refuses."""
    rows = np.random.default_rng(0).normal(size=(1000, len(network.layers[0].weights)))
    return rows[~network.favourable(rows)][0]


def small_differences(function, rows: Rows) -> Rows:
    """How the sum of `function(rows)` changes with each cell."""
    found = np.zeros_like(rows)
    for cell in np.ndindex(rows.shape):
        step = np.zeros_like(rows)
        step[cell] = 1e-6
        found[cell] = (np.sum(function(rows + step)) - np.sum(function(rows - step))) / 2e-6
    return found
