"""Reading a model: what stands in its graph, as far as it is understood; else why not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.features import ModelFeature, placed
from app.adapters.graphs.feeds import Feed, Offer, feeds_of
from app.adapters.structures.arithmetic import ARITHMETIC
from app.adapters.structures.bending import bent_features
from app.adapters.structures.columns import COLUMNS
from app.adapters.structures.graph import Graph, NotUnderstood, read_graph
from app.adapters.structures.layers import Layers
from app.adapters.structures.linking import Linking
from app.adapters.structures.networks import NetworkStructure
from app.adapters.structures.preparing import Cut, without_inputs
from app.adapters.structures.served import Served
from app.adapters.structures.sums.adding import ADDING
from app.adapters.structures.sums.structure import Structure
from app.adapters.structures.trusting import Trial
from app.adapters.structures.values import Columns, Linked, Sum, Value
from app.adapters.structures.walking import RULES, needed, walk
from app.core.favourable import Favourable, Floats
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.networks.activations import Activation, Shape
from app.core.through.over import Rows
from app.core.through.view import Kind, Unseen

ALL_RULES = {**COLUMNS, **RULES, **ARITHMETIC, **ADDING}


@dataclass(frozen=True, slots=True)
class Opaque:
    """A model that is not seen through, and why."""

    why: str
    kind: Kind = Kind.OPAQUE

    def view(self, row: NDArray[Any], moves: Sequence[MoveCells], favourable: Favourable) -> NoReturn:
        raise Unseen(self.why)

    def over(self, low: Rows, high: Rows, favourable: Favourable) -> NoReturn:
        raise Unseen(self.why)


def in_words(structure: Structure | NetworkStructure | Opaque) -> str:
    """One line for a person."""
    return f"structure {structure.kind}" + (f": {structure.why}" if structure.why else "")


def structure_of(
    served: Served, scorer: Callable[[NDArray[Any]], Floats], features: Sequence[ModelFeature], dtype: np.dtype[Any]
) -> Structure | NetworkStructure | Opaque:
    """What is understood of a model, once it has been tried against the model itself."""

    def read() -> Structure | NetworkStructure:
        structure = _read(served)
        Trial(structure, scorer, features, served.places, dtype, served.outputs).run()
        return structure

    return _or_opaque(read)


def untried(
    content: bytes, inputs: Sequence[Offer], features: Sequence[ModelFeature], output: str
) -> Structure | NetworkStructure | Opaque:
    """The same for a graph without a description, of which only its inputs are known."""
    return _or_opaque(
        lambda: _read(Served(content, feeds_of(inputs, features), placed(features), output, (), "none", outputs=1))
    )


def _or_opaque(read: Callable[[], Structure | NetworkStructure]) -> Structure | NetworkStructure | Opaque:
    """Whatever goes wrong makes a model opaque: no graph that the runtime loads may stop the service."""
    try:
        return read()
    except NotUnderstood as error:
        return Opaque(str(error))
    except Exception as error:  # noqa: BLE001  # a graph may be wrong in any way
        return Opaque(f"its graph could not be read ({type(error).__name__})")


def _read(served: Served) -> Structure | NetworkStructure:
    """Sums of tables, or else a network."""
    try:
        return read_structure(served)
    except NotUnderstood as error:
        layers = Layers()
        try:
            return read_network(served, layers)
        except NotUnderstood as other:
            # Where there is no layer, it is none of a network's reasons.
            raise (other if layers.hidden else error) from None


def read_network(served: Served, layers: Layers) -> NetworkStructure:
    """A network; `NotUnderstood`, or whatever goes wrong on the way."""
    graph = _folded(served.content, read_graph(served.content), served.output)
    owners = _owners(served)
    inputs = {feed.name: _input(feed, owners) for feed in served.feeds}
    done = walk(graph, inputs, served.output, {**ALL_RULES, **layers.rules()})
    scores = _scores(done.linking, done.values[served.output], graph, served, layers)
    link = done.linking.link(scores)
    network, name = layers.network(scores, link, [taken.sum for taken in done.linking.taken])
    columns = done.values.get(name)
    if not isinstance(columns, Columns):
        raise NotUnderstood("its first layer reads something that is not understood")
    cut = Cut(served.content, [name], tuple(inputs), bent_features(graph, [name], done.values))
    return NetworkStructure(served.feeds, owners, cut, columns, network)


def _owners(served: Served) -> NDArray[np.intp]:
    """The feature of each column of a row."""
    owners = np.empty(sum(map(len, served.places)), dtype=np.intp)
    for feature, places in enumerate(served.places):
        owners[list(places)] = feature
    return owners


def read_structure(served: Served) -> Structure:
    """What is understood of a model; `NotUnderstood`, or whatever goes wrong on the way."""
    graph = _folded(served.content, read_graph(served.content), served.output)
    owners = _owners(served)
    inputs = {feed.name: _input(feed, owners) for feed in served.feeds}
    done = walk(graph, inputs, served.output, ALL_RULES)
    scores = _scores(done.linking, done.values[served.output], graph, served)
    link = done.linking.link(scores)
    taken = done.linking.taken
    added = {name for each in taken for name in each.sum.terms}
    trees = {name: each for name, each in done.trees.items() if name in added}
    read = sorted({each.columns for each in trees.values()} | (added - set(trees)))
    columns = {name: each for name in read if isinstance(each := done.values[name], Columns)}
    cut = Cut(served.content, read, tuple(inputs), bent_features(graph, read, done.values))
    return Structure(served.feeds, owners, cut, columns, trees, taken, link)


def _input(feed: Feed, owners: NDArray[np.intp]) -> Columns:
    needs = np.array([1 << int(feature) for feature in owners[feed.columns]], dtype=object)
    return Columns(feed.name, needs[0].reshape(()) if feed.flat else needs, np.dtype(feed.dtype).name)


def _folded(content: bytes, graph: Graph, output: str) -> Graph:
    """The same graph with more constants: those that follow from others."""
    known, names = set(graph.constants), []
    nodes = needed(graph, output)
    for node in nodes:
        if node.inputs and all(name in known or not name for name in node.inputs):
            known |= set(node.outputs)
            names += [name for name in node.outputs if name]
    if not names:
        return graph
    constants = {**graph.constants, **without_inputs(content, names)}
    left = tuple(node for node in nodes if not set(node.outputs) & set(names))
    return Graph(left, constants, graph.inputs, graph.outputs, graph.opsets, graph.makers)


def _scores(linking: Linking, value: Value, graph: Graph, served: Served, layers: Layers | None = None) -> Sum | Linked:
    """What the service makes of the output: in the order of its classes, activated, one score for each class."""
    if isinstance(value, Columns):
        raise NotUnderstood("it adds nothing up")
    order = _order(graph, served)
    if order is not None:
        value = _picked(linking, value, order)
    value = _picked(linking, value, np.arange(int(np.prod(value.shape, dtype=np.int64))))
    if served.activation == "softmax":
        value = linking.softmax(value)
    elif served.activation == "sigmoid" and layers is not None:
        value = layers.activated(value, Activation(Shape.SIGMOID), "scores")
    elif served.activation == "sigmoid":
        value = linking.sigmoid(value)
    if served.outputs != 2 or value.shape != (1,):
        return value
    both = _picked(linking, value, np.array([0, 0]))
    factor, offset = np.array([-1.0, 1.0]), np.array([1.0, 0.0])
    return both.scaled(factor).shifted(offset) if isinstance(both, Sum) else linking.scaled(both, factor, offset)


def _picked(linking: Linking, value: Sum | Linked, places: NDArray[np.intp]) -> Sum | Linked:
    shape = (len(places),)
    if value.shape == shape and (places == np.arange(len(places))).all():
        return value
    return value.picked(places, shape) if isinstance(value, Sum) else linking.picked(value, places, shape)


def _order(graph: Graph, served: Served) -> NDArray[np.intp] | None:
    """Where the scores come as dictionaries: the service takes them by the names of the classes, or by number."""
    node = graph.makers.get(served.output)
    if node is None or node.operator != "ZipMap":
        return None
    held = node.attributes
    labels = list(held.get("classlabels_strings") or held.get("classlabels_int64s") or ())
    names = [str(label) for label in labels]
    wanted = list(served.classes) if set(names) == set(served.classes) else [str(label) for label in sorted(labels)]
    return np.array([names.index(name) for name in wanted], dtype=np.intp)
