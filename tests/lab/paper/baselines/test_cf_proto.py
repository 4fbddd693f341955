"""CFProto ends between the person and the prototype, past the border."""

import numpy as np

from lab.paper.baselines.cf_proto import BETA, MARGIN, cf_proto
from tests.lab.paper.baselines.problems import linear, question


def test_a_heavy_prototype_draws_every_row_to_it():
    asked = question(linear([1.0, 1.0, 0.0], -1.0), 3, targets={0: 2.0, 2: -1.0})
    rows = cf_proto(asked, theta=1000.0)
    assert np.abs(rows - [2.0, 0.0, -1.0]).max() < 0.02


def test_one_as_heavy_as_the_person_ends_half_way():
    """b g + g^2 + (g - p)^2 is least at p / 2 - b / 4, which is favourable here; what has no target stays exactly."""
    rows = cf_proto(question(linear([1.0, 1.0, 0.0], -0.5), 3, targets={0: 2.0}))
    np.testing.assert_allclose(rows[:, 0], 1 - BETA / 4, atol=0.01)
    assert (rows[:, 1:] == 0).all()


def test_it_goes_past_the_border_where_half_way_is_not_enough():
    rows = cf_proto(question(linear([1.0, 0.0], -1.5), 2, targets={0: 2.0}))
    np.testing.assert_allclose(rows[:, 0], 1.5 + MARGIN, atol=0.01)


def test_without_prototype_it_takes_the_shortest_way():
    """Both features alike, so that the way is the diagonal."""
    rows = cf_proto(question(linear([1.0, 1.0], -2.0), 2, targets={0: 4.0}), theta=0.0)
    np.testing.assert_allclose(rows, 1 + MARGIN / 2, atol=0.02)
