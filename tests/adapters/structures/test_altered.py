"""Graphs altered by a byte, an operator or an attribute are refused, opaque, or seen through rightly: never wrongly."""

from collections import Counter

import numpy as np
import pytest

from app.adapters.graphs.feeds import UnusableGraph
from app.adapters.graphs.onnx import ModelFailed, UnloadableGraph
from app.core.through.view import Kind, Unseen
from tests.adapters.structures.sums.test_trees import COLUMNS, FORMS, person
from tests.adapters.structures.test_pipelines import CASES, model
from tests.support.altered_graphs import altered
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.structures import Held, numbers


def some_graph(rng: np.random.Generator) -> tuple[bytes, int, int]:
    """A graph, how many columns it reads, and how many scores it gives."""
    if rng.random() < 0.6:
        outputs, made = FORMS[str(rng.choice(list(FORMS)))]
        return made(rng).SerializeToString(), COLUMNS, outputs
    outputs, nodes, constants = CASES[str(rng.choice(list(CASES)))]
    return model(nodes, **constants), 4, outputs


def outcome(seed: int) -> str:
    rng = np.random.default_rng(seed)
    content, columns, outputs = some_graph(rng)
    try:
        held = Held(altered(content, rng), numbers(columns), outputs)
    except (UnloadableGraph, UnusableGraph, ModelFailed):
        return "refused"
    if held.structure.kind is Kind.OPAQUE:
        assert held.structure.why
        return "opaque"
    for _ in range(4):
        now, then = person(rng)
        try:
            held.check(now[:columns], {place: value for place, value in then.items() if place < columns})
        except Unseen:
            return "unseen"
    return "right"


def check(seeds: Seeds) -> Counter[str]:
    return Counter(map(outcome, seeds))


def test_an_altered_graph_is_never_seen_through_wrongly():
    found = check(Seeds(scaled(120), first=180_000))
    assert found["right"] > 10
    assert found["opaque"] > 0


@pytest.mark.slow
def test_two_thousand_altered_graphs_are_never_seen_through_wrongly():
    """Of those that the runtime loads at all: two of three it refuses."""
    found: Counter[str] = Counter()
    for part in range(9):
        found += check(Seeds(800, first=190_000 + 800 * part))
    assert found["right"] + found["opaque"] + found["unseen"] >= 2_000
