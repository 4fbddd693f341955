"""The plain arrays say what scikit-learn says, and their slopes are slopes."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from lab.paper.questions.network import Layer, Network


def random_network(seed: int, *widths: int) -> Network:
    rng = np.random.default_rng(seed)
    return Network(
        [Layer(rng.normal(size=(below, above)), rng.normal(size=above)) for below, above in pairwise(widths)]
    )


@pytest.fixture(scope="module")
def trained() -> MLPClassifier:
    rows = np.random.default_rng(0).normal(size=(200, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MLPClassifier((8, 5), max_iter=30, random_state=0).fit(rows, rows[:, 0] * rows[:, 1] > 0)


def test_it_scores_and_decides_as_scikit_learn_does(trained):
    network = Network([Layer(*layer) for layer in zip(trained.coefs_, trained.intercepts_, strict=True)])
    rows = np.random.default_rng(1).normal(size=(500, 3)) * 3
    np.testing.assert_allclose(network.scores(rows), trained.predict_proba(rows)[:, 1], rtol=1e-12)
    assert network.favourable(rows).tolist() == trained.predict(rows).tolist()


@pytest.mark.parametrize("widths", [(3, 1), (4, 6, 1), (5, 7, 6, 1)])
def test_its_slopes_are_those_of_small_differences(widths: tuple[int, ...]):
    network = random_network(2, *widths)
    rows = np.random.default_rng(3).normal(size=(20, widths[0]))
    scores, slopes = network.slopes(rows)
    np.testing.assert_array_equal(scores, network.scores(rows))
    for feature in range(widths[0]):
        step = 1e-6 * np.eye(widths[0])[feature]
        differences = (network.scores(rows + step) - network.scores(rows - step)) / 2e-6
        np.testing.assert_allclose(slopes[:, feature], differences, atol=1e-7)


def test_a_score_ends_at_nought_and_at_one():
    network = Network([Layer(np.array([[1.0]]), np.array([0.0]))])
    assert network.scores(np.array([[-1e4], [0.0], [1e4]])).tolist() == [0.0, 0.5, 1.0]
