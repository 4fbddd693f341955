"""A network as its graph describes it: layers of weights with an activation behind each, and what follows the last."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from app.core.favourable import Bools
from app.core.through.networks.activations import Activation
from app.core.through.view import Numbers


class Ending(StrEnum):
    """What turns the last layer's numbers into the model's outputs."""

    NONE = "none"
    # One number for two classes: the second class gets its sigmoid, the first class the rest.
    TWO_SIDED = "two_sided"
    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"


@dataclass(frozen=True, slots=True)
class Affine:
    """Numbers in, sums of their multiples out; one row of `weights` for each number that comes in.

    However the runtime adds it up, in one step or several, it loses no more than the share `rounding` of the same sums
    with `mass` and `bias_mass`, which are absolute. On the way no sum exceeds that with `peaks` and `bias_peak`.
    """

    weights: Numbers
    bias: Numbers
    mass: Numbers
    bias_mass: Numbers
    rounding: float
    peaks: Numbers
    bias_peak: float

    @property
    def plain(self) -> Bools:
        """The weights of which nothing cancelled on the way: rounding keeps their signs."""
        held: Bools = np.abs(self.weights) >= self.mass * (1 - 1e-9)
        return held

    def may_reach(self, largest: Numbers) -> float:
        """The most that a number may be on the way, or one of those that come in and are at most `largest`."""
        return max(float(largest.max(initial=0.0)), float(largest @ self.peaks) + self.bias_peak)


@dataclass(frozen=True, slots=True)
class Layer:
    """Sums, and a function of each."""

    affine: Affine
    activation: Activation

    @property
    def units(self) -> int:
        return len(self.affine.bias)


@dataclass(frozen=True, slots=True)
class Network:
    """The layers from the columns of a row to the last sums. `dtype` is what the runtime computes in."""

    layers: tuple[Layer, ...]
    ending: Ending
    dtype: str = "float32"

    @property
    def columns(self) -> int:
        return len(self.layers[0].affine.weights)

    def sums(self, rows: Numbers) -> Numbers:
        """The numbers that the last layer gives, as exactly as float64 can tell."""
        return beyond(self.layers, rows @ self.layers[0].affine.weights + self.layers[0].affine.bias)


def beyond(layers: tuple[Layer, ...], sums: Numbers) -> Numbers:
    """What the last of the layers gives, from the first layer's sums on."""
    numbers = layers[0].activation.values(sums)
    for layer in layers[1:]:
        numbers = layer.activation.values(numbers @ layer.affine.weights + layer.affine.bias)
    return numbers
