"""Reading networks: an activation makes addends of sums, and what is added up behind it is the next layer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from app.adapters.structures.arithmetic import after_sums, clip
from app.adapters.structures.columns import elementwise
from app.adapters.structures.graph import Array, Node, NotUnderstood
from app.adapters.structures.values import UNIT, Columns, Linked, Sum, Value, sum_of
from app.adapters.structures.walking import Rule, Walk
from app.core.through.links import Link, Softmax
from app.core.through.networks.activations import Activation, Shape
from app.core.through.networks.network import Affine, Ending, Layer, Network
from app.core.through.steps import Picked

# A wider layer takes too long to bound.
MOST_UNITS = 1024
# What computing the factors of a normalisation loses, in roundings.
NORMALISING = 8

IDENTITY = Activation(Shape.IDENTITY)


@dataclass(frozen=True, slots=True)
class Hidden:
    """Sums, and the function that is applied to each."""

    sum: Sum
    activation: Activation


@dataclass(slots=True)
class Layers:
    """The hidden layers of a walk, by the names of their tensors."""

    hidden: dict[str, Hidden] = field(default_factory=dict)

    def rules(self) -> Mapping[str, Rule]:
        """What to do at each operator; those that are activations start a new layer."""
        rules: dict[str, Rule] = {name: self._rule(shape) for name, shape in SHAPES.items()}
        rules["BatchNormalization"] = normalise
        rules["Clip"] = self._clip
        return rules

    def _rule(self, shape: Shape) -> Rule:
        def apply(walk: Walk, node: Node) -> Value:
            value, alpha = after_sums(walk, node), float(node.attributes.get("alpha", ALPHAS.get(shape, 0.0)))
            if not 0 <= alpha <= 1:
                raise NotUnderstood(f"its {node.operator} bends the other way")
            return self.activated(value, Activation(shape, alpha), node.outputs[0])

        return apply

    def _clip(self, walk: Walk, node: Node) -> Value:
        value = walk.value(node)
        if not isinstance(value, Sum):
            return clip(walk, node)
        low, high = (_end(walk, node, place, name) for place, name in ((1, "min"), (2, "max")))
        return self.activated(value, Activation(Shape.CLIP, low=low, high=high), node.outputs[0])

    def activated(self, value: Sum | Linked, activation: Activation, name: str) -> Sum:
        if not isinstance(value, Sum) or len(value.shape) != 1:
            raise NotUnderstood("it applies one function to the result of another")
        self.hidden[name] = Hidden(value, activation)
        units = len(value.bias)
        return sum_of(name, np.eye(units), np.zeros(units), 0.0, value.dtype)

    def network(self, value: Sum | Linked, link: Link, taken: list[Sum]) -> tuple[Network, str]:
        """The layers up to the scores, and the name of the columns that the first one reads."""
        if isinstance(value, Linked):
            if len(taken) != 1 or not _is_softmax(link):
                raise NotUnderstood("what follows its last layer is not understood")
            value, ending = taken[0], Ending.SOFTMAX
        else:
            value, ending = self._ended(value)
        found, name = [Hidden(value, IDENTITY)], _addend(value)
        while name in self.hidden:
            found.append(self.hidden[name])
            name = _addend(found[-1].sum)
        if len(found) < 2:
            raise NotUnderstood("it has no hidden layer")
        narrow = any(each.sum.dtype == "float32" for each in found)
        layers = tuple(_layer(each) for each in reversed(found))
        return Network(layers, ending, "float32" if narrow else "float64"), name

    def _ended(self, value: Sum) -> tuple[Sum, Ending]:
        """Whether the scores are sigmoids of sums, as they are or the two sides of one."""
        last = self.hidden.get(_addend(value))
        if last is None or last.activation.shape is not Shape.SIGMOID:
            return value, Ending.NONE
        (term,) = value.terms.values()
        if np.array_equal(term.weights, np.eye(len(value.bias))) and not value.bias.any():
            return last.sum, Ending.SIGMOID
        if term.weights.tolist() == [[-1.0, 1.0]] and value.bias.tolist() == [1.0, 0.0]:
            return last.sum, Ending.TWO_SIDED
        return value, Ending.NONE


SHAPES = {
    "Relu": Shape.RELU,
    "LeakyRelu": Shape.LEAKY_RELU,
    "Elu": Shape.ELU,
    "Softplus": Shape.SOFTPLUS,
    "Sigmoid": Shape.SIGMOID,
    "Tanh": Shape.TANH,
}
ALPHAS = {Shape.LEAKY_RELU: 0.01, Shape.ELU: 1.0}


def normalise(walk: Walk, node: Node) -> Value:
    """BatchNormalization as it is when a model is used: each column is shifted and scaled."""
    value = walk.value(node)
    if node.attributes.get("training_mode"):
        raise NotUnderstood("it normalises people by each other")
    if isinstance(value, Columns):
        return elementwise(walk, node)
    if not isinstance(value, Sum) or len(value.shape) != 1:
        raise NotUnderstood("it normalises something other than a layer")
    scale, offset, mean, variance = (_held(walk, node, place) for place in range(1, 5))
    factor = scale / np.sqrt(variance + node.attributes.get("epsilon", 1e-5))
    normalised = value.shifted(-mean).scaled(factor).shifted(offset)
    return replace(normalised, rounding=normalised.rounding + NORMALISING * UNIT[value.dtype])


def _is_softmax(link: Link) -> bool:
    """Whether nothing follows but a softmax, whose shares stay where they are."""
    first, *others = link.steps
    return isinstance(first, Softmax) and all(
        isinstance(step, Picked) and step.places.tolist() == list(range(len(first.groups))) for step in others
    )


def _held(walk: Walk, node: Node, place: int) -> Array:
    held = walk.constant(node, place)
    if held is None:
        raise NotUnderstood(f"the operator {node.operator} is told how by other parts of the graph")
    return held.astype(np.float64)


def _end(walk: Walk, node: Node, place: int, name: str) -> float:
    """Where a Clip stops: an attribute or a constant."""
    if len(node.inputs) > place and node.inputs[place]:
        return float(_held(walk, node, place).reshape(()))
    return float(node.attributes.get(name, -np.inf if name == "min" else np.inf))


def _addend(value: Sum) -> str:
    if len(value.terms) != 1:
        raise NotUnderstood("it adds up more than one layer at once")
    return next(iter(value.terms))


def _layer(hidden: Hidden) -> Layer:
    value = hidden.sum
    (term,) = value.terms.values()
    if max(term.weights.shape) > MOST_UNITS:
        raise NotUnderstood(f"a layer has more than {MOST_UNITS} units")
    if not (np.isfinite(term.weights).all() and np.isfinite(value.bias).all()) or value.rounding > 0.1:
        raise NotUnderstood("its weights are too large, or too many")
    affine = Affine(term.weights, value.bias, term.sizes, value.bias_size, value.rounding, term.peaks, value.bias_peak)
    return Layer(affine, hidden.activation)
