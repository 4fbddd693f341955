"""Where effects are that move along with several causes."""

import numpy as np
import pytest

from app.core.following.following import Following, Shift

# The effect has more digits than sums are told in.
BEFORE = (0.1234567890123456, 3.0, 5.0)


@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.1, 0.1), (1 / 3, 1 / 3)])
def test_causes_that_cancel_out_leave_an_effect_where_it_was(factors: tuple[float, float]):
    shifts = [Shift(cause, 0, factor) for cause, factor in zip((1, 2), factors, strict=True)]
    following = Following.of(BEFORE, shifts, {})
    reached = {1: np.array([3.2, 3.2]), 2: np.array([4.8, 5.0])}
    cancelled, moved = following.after(lambda feature: reached.get(feature, np.float64(BEFORE[feature])))[0]
    assert cancelled == BEFORE[0]
    assert moved == float(f"{BEFORE[0] + 0.2 * factors[0]:.12g}")
