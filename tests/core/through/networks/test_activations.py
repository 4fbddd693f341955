"""Lines above and below every activation, against the function itself on many points."""

import numpy as np
import pytest

from app.core.through.networks.activations import Activation, Shape
from tests.support.scale import scaled

EVERY = [
    Activation(Shape.IDENTITY),
    Activation(Shape.RELU),
    Activation(Shape.LEAKY_RELU, alpha=0.2),
    Activation(Shape.CLIP, low=0.0, high=6.0),
    Activation(Shape.CLIP, low=-1.0, high=1.0),
    Activation(Shape.ELU, alpha=0.8),
    Activation(Shape.SOFTPLUS),
    Activation(Shape.SIGMOID),
    Activation(Shape.TANH),
]


@pytest.mark.parametrize("activation", EVERY)
def test_the_lines_enclose_the_function_on_every_interval(activation: Activation):
    rng = np.random.default_rng(5)
    ends = np.sort(rng.normal(0, 10 ** rng.uniform(-7, 2, (scaled(2_000), 1)), (scaled(2_000), 2)), axis=1)
    lines = activation.lines(ends[:, 0], ends[:, 1])
    for share in np.linspace(0, 1, 41):
        x = ends[:, 0] + share * (ends[:, 1] - ends[:, 0])
        values, room = activation.values(x), 1e-9 * (1 + np.abs(ends).max(axis=1))
        assert (values <= lines.upper * x + lines.upper_offset + room).all()
        assert (values >= lines.lower * x + lines.lower_offset - room).all()


@pytest.mark.parametrize("activation", EVERY)
def test_no_slope_is_steeper_than_said(activation: Activation):
    x = np.linspace(-20, 20, 4_001)
    steps = np.diff(activation.values(x)) / np.diff(x)
    assert (steps >= 0).all()
    assert steps.max() <= activation.steepest + 1e-9
    inside = np.abs(x) > 0.02
    numeric = (activation.values(x + 1e-6) - activation.values(x - 1e-6)) / 2e-6
    kinks = np.minimum(np.abs(x - activation.low), np.abs(x - activation.high)) > 0.02
    assert np.allclose(activation.slopes(x)[inside & kinks], numeric[inside & kinks], atol=1e-5)
