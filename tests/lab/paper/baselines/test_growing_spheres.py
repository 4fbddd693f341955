"""Growing Spheres finds about the nearest favourable point, and puts back what it can."""

import numpy as np
import pytest

from lab.paper.baselines.growing_spheres import growing_spheres, layer, put_back
from tests.lab.paper.baselines.problems import linear, never, question


def test_it_comes_as_near_as_the_border_is():
    """3 a + b = 3 is 3 / sqrt(10) from the origin, and neither feature alone is enough at that distance."""
    distances = np.linalg.norm(growing_spheres(question(linear([3.0, 1.0], -3.0), 2, count=20)), axis=1)
    border = 3 / np.sqrt(10)
    assert len(distances) == 20
    assert (distances > border).all()
    assert (distances < border + 0.06).all()
    # The nearest of the layer's points, and not just any.
    assert distances.mean() < border + 0.02


def test_it_looks_closer_where_the_border_is_close():
    """Within the first ball: its radius is halved until the ball is empty."""
    distances = np.linalg.norm(growing_spheres(question(linear([1.0, 1.0], -0.003), 2, count=20)), axis=1)
    border = 0.003 / np.sqrt(2)
    assert (distances > border).all()
    assert (distances < 2 * border).all()


@pytest.mark.parametrize("instance", [[0.0] * 5, [0.3, -1.7, 0.1, 2.2, 0.9]])
def test_what_does_not_matter_is_put_back_exactly(instance: list[float]):
    asked = question(linear([1.0, 0.0, 0.0, 0.0, 0.0], -1.0), 5, instance=np.array(instance))
    rows = growing_spheres(asked)
    assert ((rows == asked.instance) == [False, True, True, True, True]).all()
    assert (rows[:, 0] > 1).all()


def test_a_layer_is_filled_evenly():
    """Of the volume between the radii 1 and 2 the part within 1.5 is (1.5^3 - 1) / 7."""
    radii = np.linalg.norm(layer(np.random.default_rng(0), 1.0, 2.0, 3), axis=1)
    assert ((radii >= 1) & (radii <= 2)).all()
    assert (radii < 1.5).mean() == pytest.approx((1.5**3 - 1) / 7, abs=0.05)


def test_features_are_put_back_from_the_smallest_difference_up_to_the_first_that_is_needed():
    network = linear([1.0, 0.0, 0.0], -0.3)
    put = put_back(network, np.zeros(3), np.array([0.5, 2.0, 0.1]))
    assert put.tolist() == [0.5, 2.0, 0.0]


def test_it_gives_up_where_the_data_end():
    network = never()
    assert growing_spheres(question(network, 3)).shape == (0, 3)
    # From the origin to the diagonal of the data, 14 units, in layers of a tenth, three times.
    assert len(network.asked) == 3 * 139
