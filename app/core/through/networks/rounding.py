"""How far the runtime's sums may be from the true ones, whatever the order in which it adds.

A sum of k products is off by at most k roundings of the sum of their absolute values (the classical bound for any
order of additions, with k u / (1 - k u) for the share). What is already off goes on through the weights, and through an
activation no steeper than it is.
"""

import numpy as np

from app.core.through.networks.activations import Shape
from app.core.through.networks.network import Affine, Layer, Network
from app.core.through.view import Numbers, Unseen

# Half a unit in the last place, and the least number that keeps all its digits.
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
LEAST = {"float32": 2.0**-126, "float64": 2.0**-1022}
# The runtime's own functions, in units of rounding, as a share of the larger of 1 and the value. Measured on ten
# million numbers of all sizes: sigmoid 2.8, tanh 5.3 (8.0 in float64), softplus 2.7, elu 1.2. At least twice that is
# allowed.
OWN = {Shape.SIGMOID: 12.0, Shape.TANH: 16.0, Shape.SOFTPLUS: 16.0, Shape.ELU: 12.0, Shape.LEAKY_RELU: 1.0}
# The share that sums in float64 lose, in chains of up to 2^16 additions.
OWN_SHARE = 2.0**-36
# Numbers beyond this may overflow on the way; nothing is claimed about them.
LARGEST = 1e30


def losses(network: Network, largest: Numbers) -> Numbers:
    """The most that each of the last sums is off, for every row whose columns are at most `largest`, absolutely."""
    lost = np.zeros_like(largest)
    for layer in network.layers:
        if not layer.affine.may_reach(largest) < LARGEST:
            raise Unseen("the sums may become too large for the model's numbers")
        largest, lost = _through(layer, largest, lost, network.dtype)
    return lost


def _through(layer: Layer, largest: Numbers, lost: Numbers, dtype: str) -> tuple[Numbers, Numbers]:
    """The largest values and losses behind a layer, from those before it."""
    sums, off = _sums(layer.affine, largest, lost, dtype)
    activation = layer.activation
    at_nought = float(np.abs(activation.values(np.zeros(1)))[0])
    values = np.maximum(np.abs(activation.values(sums)), np.abs(activation.values(-sums)))
    values = np.maximum(values, at_nought)
    own = OWN.get(activation.shape, 0.0) * UNIT[dtype] * np.maximum(values, 1.0)
    return values, activation.steepest * off + own


def _sums(affine: Affine, largest: Numbers, lost: Numbers, dtype: str) -> tuple[Numbers, Numbers]:
    sums = largest @ affine.mass + affine.bias_mass
    carried = lost @ affine.mass
    share = affine.rounding / (1.0 - affine.rounding)
    least = len(largest) * LEAST[dtype] * (1.0 + affine.mass.sum(axis=0))
    return sums, carried + share * (sums + carried) + least


def own_losses(network: Network, largest: Numbers) -> tuple[Numbers, ...]:
    """The most that bounds on each layer's sums, computed here in float64, are off.

    A bound is made of lines behind each layer. On its interval neither part of a line, slope times number or offset,
    exceeds three times the largest sum, and one. Chains of up to 2^16 additions lose less than this share of that.
    """
    lost = []
    for layer in network.layers:
        largest = largest @ layer.affine.mass + layer.affine.bias_mass
        lost.append(OWN_SHARE * largest)
        largest = 3.0 * largest + 1.0
    return tuple(lost)
