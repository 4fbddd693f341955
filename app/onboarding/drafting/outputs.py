"""What a graph's output means: which output, which classes in which order, and whether an activation is lacking."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.adapters.files.names import listed
from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.feeds import SCORES, Offer, UnusableGraph
from app.adapters.graphs.inspecting import Graph
from app.adapters.graphs.onnx import MAPPED_SCORES, ModelFailed, OnnxGraph, UnloadableGraph, open_session
from app.core.favourable import Bools, Floats
from app.onboarding.failures import Unfit
from app.onboarding.reading.outcomes import MOST_CLASSES, Outcomes

# Below this the scores do not tell the outcomes apart, in whatever order.
LEAST_AUC = 0.55
# Classes that a message lists.
MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Output:
    """The output part of a description, and what a person should look at."""

    tensor: str
    activation: str
    # None for a regression.
    classes: tuple[str, ...] | None
    favourable: tuple[str, ...]
    notes: tuple[str, ...]
    # What a person should not overlook.
    doubts: tuple[str, ...] = ()


class Probe:
    """A graph that is asked about people before it has a description."""

    def __init__(self, content: bytes, graph: Graph, features: Sequence[ModelFeature], tensor: str | None) -> None:
        self.tensor = _score_output(graph.outputs, tensor)
        self.names = _map_names(content, graph, features, self.tensor)
        try:
            self._graph = OnnxGraph(content, features, self.tensor, self.names or ())
        except (UnusableGraph, UnloadableGraph) as error:
            raise Unfit(f"the graph cannot be served: {error}") from None

    def scores(self, rows: NDArray[np.float64]) -> Floats:
        """What the graph gives these rows, without an activation; `Unfit` if it fails."""
        try:
            return self._graph.run(rows.astype(self._graph.dtype)).astype(np.float64)
        except (ModelFailed, UnusableGraph) as error:
            raise Unfit(f"the graph fails on the people of the table: {error}") from None


def _score_output(outputs: Sequence[Offer], asked: str | None) -> str:
    usable = [offer for offer in outputs if offer.type in (*SCORES, *MAPPED_SCORES)]
    names = [offer.name for offer in usable]
    if asked is not None and asked not in names:
        raise Unfit(f"--tensor {asked}: is not an output with scores; there are {listed(names) or 'none'}")
    if not usable:
        raise Unfit("the graph has no output of floating-point scores")
    likely = [offer.name for offer in usable if "prob" in offer.name.casefold()]
    if asked is None and len(usable) > 1 and len(likely) != 1:
        raise Unfit(f"the graph has several outputs: say which holds the scores with --tensor: {listed(names, 'or')}")
    return asked or (likely or names)[0]


def _map_names(content: bytes, graph: Graph, features: Sequence[ModelFeature], tensor: str) -> list[str] | None:
    """The names of the classes where the graph gives a dictionary by texts: only those it tells itself."""
    if next(offer.type for offer in graph.outputs if offer.name == tensor) != MAPPED_SCORES[1]:
        return None
    session = open_session(content)
    fed = OnnxGraph(content, features, tensor, ("", " ")).feeds
    row = np.array([[cell for feature in features for cell in feature.cells(0.0)]])
    (scores,) = session.run([tensor], {feed.name: feed.tensor(np.repeat(row, 2, axis=0)) for feed in fed})
    return [str(key) for key in scores[0]]


def read_output(probe: Probe, raw: Floats, outcomes: Outcomes, known: Bools) -> Output:
    """What the scores of these people say, held against their outcomes; `known` are the people who were scored."""
    if outcomes.interval is not None:
        if raw.shape[1] != 1:
            raise Unfit(f"the graph gives {raw.shape[1]} scores, and --favourable asks for a number: it needs one")
        return Output(probe.tensor, "none", None, (), ())
    classes = outcomes.classes
    accepted = outcomes.accepted[known]
    if probe.names is not None and set(probe.names) == set(classes):
        favourable = [place for place, name in enumerate(probe.names) if name in outcomes.favourable]
        doubts = _doubts(_auc(raw[:, favourable].sum(axis=1), accepted))
        note = "the classes as the graph names them"
        return Output(probe.tensor, _activation(raw), tuple(probe.names), outcomes.favourable, (note,), doubts)
    if max(raw.shape[1], 2) == 2 and len(classes) <= MOST_CLASSES and (probe.names is not None or len(classes) > 2):
        _check_not_a_number(raw, outcomes)
        return _two_sides(probe, raw, outcomes, accepted)
    if len(classes) > MOST_CLASSES or len(classes) != max(raw.shape[1], 2):
        _check_not_a_number(raw, outcomes)
        raise Unfit(_too_many(max(raw.shape[1], 2), outcomes))
    return _ordered(probe.tensor, raw, outcomes, known, classes)


def _check_not_a_number(raw: Floats, outcomes: Outcomes) -> None:
    """`Unfit` if this is rather a regression."""
    assert outcomes.column is not None
    if raw.shape[1] == 1 and outcomes.column.is_number and len(outcomes.classes) > 2:
        raise Unfit(
            f"the graph gives one number, and {outcomes.column.name} has many: "
            "if it is a regression, say --favourable '>=5' or '<=5'"
        )


def _too_many(needed: int, outcomes: Outcomes) -> str:
    assert outcomes.column is not None
    classes = outcomes.classes
    told = f"more than {MOST_CLASSES}" if len(classes) > MOST_CLASSES else str(len(classes))
    named = f" ({listed(classes)})" if 1 < len(classes) <= MOST_NAMED else ""
    return (
        f"the graph has scores for {needed} classes, but {outcomes.column.name} has {told} different "
        f"values{named}; leave out the people whose outcome is not one of the model's"
    )


def _two_sides(probe: Probe, raw: Floats, outcomes: Outcomes, accepted: Bools) -> Output:
    """Two classes, of which one is the favourable outcomes and the other all others: the scores say which."""
    assert outcomes.column is not None
    auc = _auc(raw[:, -1], accepted)
    if max(auc, 1 - auc) < LEAST_AUC:
        raise Unfit(f"{_too_many(2, outcomes)} (so they hardly fit: AUC {auc:.2f})")
    side = f"not {outcomes.favourable[0]}" if len(outcomes.favourable) == 1 else "unfavourable"
    names = probe.names or [side, outcomes.favourable[0] if len(outcomes.favourable) == 1 else "favourable"]
    if probe.names is None and auc < 0.5:
        names = names[::-1]
    favourable = names[1] if auc >= 0.5 else names[0]
    others = [name for name in outcomes.classes if name not in outcomes.favourable]
    rest = listed(others, "or") if len(others) <= MOST_NAMED else f"the {len(others)} others"
    told = (
        f"guessed: {favourable} stands for {outcomes.column.name} {listed(outcomes.favourable, 'or')}, the other class "
        f"for {rest}: so the scores fit the outcomes (AUC {max(auc, 1 - auc):.2f})"
    )
    return Output(probe.tensor, _activation(raw), tuple(names), (favourable,), (told,), (told,))


def _doubts(auc: float) -> tuple[str, ...]:
    """What to say of scores of the favourable side that do not tell who has the favourable outcome."""
    if auc >= LEAST_AUC:
        return ()
    return (f"Look: the scores hardly fit the outcomes (AUC {auc:.2f}). Are the columns in the graph's order?",)


def _activation(raw: Floats) -> str:
    """Which activation is lacking for the scores to be probabilities."""
    inside = bool(np.all((raw >= 0) & (raw <= 1)))
    if raw.shape[1] == 1:
        return "none" if inside else "sigmoid"
    shares = inside and bool(np.all(np.abs(raw.sum(axis=1) - 1) < 1e-3))
    return "none" if shares or inside else "softmax"


def _ordered(tensor: str, raw: Floats, outcomes: Outcomes, known: Bools, classes: list[str]) -> Output:
    """The classes in the order of the scores: sorted, as trainers sort them, unless the outcomes say otherwise."""
    assert outcomes.column is not None
    are = [outcomes.column.are(name)[known] for name in classes]
    # How well the score at each place fits each class.
    fits = np.array([[_auc(_score(raw, place), people) for people in are] for place in range(len(classes))])
    order, best = list(range(len(classes))), fits.argmax(axis=1).tolist()
    if len(classes) == 2:
        order = [1, 0] if fits[1, 1] < 1 - LEAST_AUC else order
    elif sorted(best) == order:
        order = best
    named = tuple(classes[place] for place in order)
    aucs = [float(fits[place, at]) for place, at in enumerate(order)]
    told = listed([f"{name} {auc:.2f}" for name, auc in zip(named, aucs, strict=True)])
    doubts: tuple[str, ...] = ()
    if list(named) != classes:
        told = f"{aucs[0]:.2f}" if len(classes) == 2 else told
        note = f"the classes in this order, not sorted: so the scores fit the outcomes (AUC {told})"
    elif min(aucs) < LEAST_AUC:
        doubt = f"the classes sorted; but so the scores hardly fit the outcomes (AUC {told}). Is the order right?"
        note, doubts = f"guessed: {doubt}", (f"Look: {doubt}",)
    else:
        note = f"the classes sorted, as trainers sort them: so the scores fit the outcomes (AUC {told})"
    return Output(tensor, _activation(raw), named, outcomes.favourable, (note,), doubts)


def _score(raw: Floats, place: int) -> Floats:
    if raw.shape[1] == 1:
        return raw[:, 0] if place else -raw[:, 0]
    others = np.delete(raw, place, axis=1).max(axis=1)
    return np.asarray(raw[:, place] - others)


def fit(raw: Floats, accepted: Bools) -> float:
    """How well one of the scores tells the people with the favourable outcome from the others, either way round."""
    if accepted.all() or not accepted.any():
        return 0.5
    return max(abs(_auc(score, accepted) - 0.5) for score in raw.T) + 0.5


def _auc(scores: Floats, are: Bools) -> float:
    """How often somebody of the class scores higher than somebody else; a tie counts half."""
    if are.all() or not are.any():
        return 1.0
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[places]
    inside = int(are.sum())
    return float((ranks[are].sum() - inside * (inside + 1) / 2) / (inside * (len(are) - inside)))
