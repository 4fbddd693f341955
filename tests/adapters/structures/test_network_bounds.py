"""Bounds on networks hold what ONNX Runtime computes: for single rows, and for whole boxes of subsets."""

from itertools import product

import numpy as np

from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.networks.bounds import Boxes
from app.core.through.networks.margins import margins_of
from tests.support.layered import ENDINGS, random_graph, served
from tests.support.scale import scaled
from tests.support.seeds import Seeds

MOVES = 10
FAVOURABLE = FavourableClasses((1,), (0,))


def _seen(seed: int):
    """A random network, a row, moves of all columns, and every subset of them with what the runtime says."""
    rng = np.random.default_rng(seed)
    ending = str(rng.choice(ENDINGS))
    outputs = 1 if ending in ("none", "sigmoid") else 2
    content = random_graph(rng, MOVES, outputs, ending)
    scorer, structure = served(content, MOVES, outputs, alone=False)
    scale = 10 ** rng.uniform(-2, 3)
    now, then = rng.normal(0, scale, (2, MOVES)).astype(np.float32)
    moves = [MoveCells((place,), (float(then[place]),)) for place in range(MOVES)]
    view = structure.view(now, moves, FAVOURABLE)
    made = np.array(list(product([False, True], repeat=MOVES)))
    return rng, view, made, scorer(np.where(made, then, now))


def test_what_the_runtime_says_of_a_row_lies_within_its_bounds():
    for seed in Seeds(scaled(30), first=182_000):
        _, view, made, said = _seen(seed)
        low, high = view.outputs_of(made)
        assert ((low <= said) & (said <= high)).all(), seed


def test_no_limit_rules_out_what_the_runtime_favours_at_thresholds_that_are_scores_or_next_to_one():
    asked = 0
    for seed in Seeds(scaled(10), first=187_000):
        rng, view, made, said = _seen(seed)
        person = view.person
        for score in rng.choice(said[:, -1], 10):
            favourable = _at_least(rng.choice([score, *np.nextafter(score, np.float32([-np.inf, np.inf]))]), said)
            margins = margins_of(favourable, view.network, said.dtype, person.lost, view.largest)
            if margins is None:
                continue
            sums = person.sums(made.astype(float)) @ margins.forms.T + margins.offsets
            possible = margins.possible(sums + np.abs(margins.forms) @ person.own_lost[-1])
            assert possible[favourable.holds(said, favourable.score(said))].all(), seed
            asked += len(made)
    assert asked


def _at_least(threshold: np.float32, said: np.ndarray) -> Favourable:
    if said.shape[1] == 1:
        return FavourableInterval(float(threshold), None)
    return FavourableClasses((1,), (0,), float(threshold))


def test_a_plane_over_a_box_lies_above_every_subset_in_it():
    for seed in Seeds(scaled(30), first=183_000):
        rng, view, made, _ = _seen(seed)
        person, decided = view.person, int(rng.integers(0, MOVES))
        forms = rng.normal(0, 1, (2, len(person.lost)))
        chosen = rng.random((4, decided)) < 0.5
        boxes = Boxes(person, person.start + chosen @ person.steps[:decided], person.steps[decided:])
        boxes.tighten(with_planes=rng.random() < 0.7)
        planes = boxes.planes(forms)
        sums = person.sums(made.astype(float)) @ forms.T
        for box, first in enumerate(chosen):
            inside = (made[:, :decided] == first).all(axis=1)
            bound = planes.constant[box] + made[inside][:, decided:] @ planes.coefficients[box].T
            assert (sums[inside] <= bound).all(), seed
            assert (bound <= planes.highest()[box] + 1e-9 * (1 + np.abs(bound))).all(), seed
