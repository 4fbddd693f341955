"""Certificates over boxes of rows, against the models themselves: random points, and for trees every cell there is."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from app.adapters.files.snapshots import take_snapshot
from app.adapters.graphs.models import load_model
from app.adapters.structures.networks import NetworkStructure
from app.adapters.structures.sums.structure import Structure
from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.robust.certifying import Certifier
from app.core.search.oracle import Scorer
from app.core.search.verdict import Verdict
from app.core.through.over import Rows
from app.core.through.view import Kind, Unseen
from tests.support import layered, served_sums
from tests.support.random_trees import VALUES
from tests.support.scale import scaled
from tests.support.seeds import Seeds

BOXES = 12
POINTS = 2_000
# Beyond so many cells of a box, a part of them is drawn.
MOST_CELLS = 4_000


class Boxed:
    """A model, and a box of rows about a random one."""

    def __init__(
        self,
        rng: np.random.Generator,
        scorer: Scorer,
        structure: Structure | NetworkStructure,
        favourable: Favourable,
        row: Rows,
        columns: list[int],
    ) -> None:
        self.scorer, self.structure, self.favourable, self._rng = scorer, structure, favourable, rng
        self.noisy = [column for column in columns if rng.random() < 0.6][:4]
        self.whole = frozenset(column for column in self.noisy if rng.random() < 0.3)
        self.low, self.high = row.copy(), row.copy()
        for column in self.noisy:
            reach = rng.choice([0.1, 0.3, 1.0, rng.uniform(0, 2)])
            self.low[column], self.high[column] = row[column] - reach, row[column] + reach
            if column in self.whole:
                self.low[column], self.high[column] = np.rint(self.low[column]), np.rint(self.high[column])

    def judge(self, rows: Rows) -> Verdict:
        return Verdict.of(self.scorer(rows), self.favourable)

    def certified(self) -> tuple[bool | None, Rows | None]:
        certifier = Certifier(self.judge, self.favourable, self.structure, self.whole)
        found = certifier.certify(self.low[None].copy(), self.high[None].copy())
        assert not (found.proved[0] and found.breaking[0] is not None)
        return True if found.proved[0] else None if found.breaking[0] is None else False, found.breaking[0]

    def points(self, count: int) -> Rows:
        """Random rows of the box, its corners among them."""
        share = self._rng.random((count, len(self.low)))
        share[: count // 4] = np.rint(share[: count // 4])
        rows = np.clip(self.low + share * (self.high - self.low), self.low, self.high).astype(self.low.dtype)
        return self._with_whole(np.where(np.isnan(self.low), self.low, rows))

    def cells(self) -> tuple[Rows, bool]:
        """A row for every cell between the splits of trees that split at `VALUES`; and whether these are all."""
        near = np.concatenate([VALUES, *(np.nextafter(VALUES.astype(np.float32), side) for side in (-9, 9))])
        sides = []
        for column in self.noisy:
            ends = self.low[column], self.high[column]
            between = np.unique(np.append(near.astype(self.low.dtype), ends))
            if column in self.whole:
                between = np.arange(ends[0], ends[1] + 1)
            sides.append(between[(between >= ends[0]) & (between <= ends[1])])
        found = list(product(*sides)) if np.prod([len(side) for side in sides]) <= MOST_CELLS else None
        if found is None:
            return self.points(MOST_CELLS), False
        rows = np.tile(self.low, (len(found), 1))
        rows[:, self.noisy] = np.array(found).reshape(len(found), -1)
        return rows, True

    def _with_whole(self, rows: Rows) -> Rows:
        rows[:, list(self.whole)] = np.rint(rows[:, list(self.whole)])
        return rows

    def holds(self, row: Rows) -> bool:
        """Whether a row lies in the box."""
        inside = ((row >= self.low) & (row <= self.high)) | (np.isnan(row) & np.isnan(self.low))
        return bool(inside.all()) and all(float(row[column]).is_integer() for column in self.whole)


def decision(rng: np.random.Generator, usual: Favourable, outputs: np.ndarray) -> Favourable:
    """One that the middle of the box reaches, mostly with little to spare."""
    score = usual.score(outputs)
    near = float(np.quantile(score, rng.choice([0.0, 0.01, 0.2])))
    if isinstance(usual, FavourableClasses):
        return FavourableClasses(usual.classes, usual.others, None if rng.random() < 0.3 else near)
    high = float(np.quantile(score, 1.0)) if rng.random() < 0.5 else None
    return FavourableInterval(near, high)


def sums_box(seed: int, folder: Path) -> Boxed | None:
    rng = np.random.default_rng(seed)
    graph = served_sums.random_graph(rng)
    graph.write(folder / f"m{seed}", [f"c{seed % graph.outputs}"])
    model = load_model(folder / f"m{seed}", take_snapshot(folder, folder))
    if model.structure.kind is Kind.OPAQUE:
        return None
    scorer = model.scorer
    values = [float(rng.choice(VALUES)) if kind == "number" else float(rng.integers(0, 3)) for kind in graph.kinds]
    row = np.array([cell for i, value in enumerate(values) for cell in scorer.cells(i, value)], dtype=scorer.dtype)
    columns = [scorer.columns(i)[0] for i, kind in enumerate(graph.kinds) if kind == "number"]
    boxed = Boxed(rng, scorer, model.structure, model.favourable, row, columns)
    boxed.favourable = decision(rng, model.favourable, scorer(boxed.points(200)))
    return boxed


def network_box(seed: int) -> Boxed:
    rng = np.random.default_rng(seed)
    columns, ending = int(rng.integers(1, 6)), str(rng.choice(["none", "softmax", "sigmoid", "two_sided"]))
    outputs = 2 if ending == "two_sided" else int(rng.integers(1 if ending != "softmax" else 2, 4))
    scorer, structure = layered.served(layered.random_graph(rng, columns, outputs, ending), columns, outputs)
    usual = FavourableInterval(0.0, None) if outputs == 1 else FavourableClasses((0,), tuple(range(1, outputs)))
    row = rng.normal(0, 1, columns).astype(np.float32)
    boxed = Boxed(rng, scorer, structure, usual, row, list(range(columns)))
    boxed.favourable = decision(rng, usual, scorer(boxed.points(200)))
    return boxed


def compare(boxed: Boxed, rows: Rows) -> bool | None:
    """Hold a certificate against what the model says of many rows of the box."""
    certified, breaking = boxed.certified()
    held = boxed.judge(rows).favourable
    if certified:
        assert held.all()
    if breaking is not None:
        assert boxed.holds(breaking)
        assert not boxed.judge(breaking[None]).favourable[0]
    low, high, *_ = boxed.structure.over(boxed.low[None], boxed.high[None], boxed.favourable)
    outputs = boxed.scorer(rows)
    assert (outputs >= low).all()
    assert (outputs <= high).all()
    return certified


def test_trees_and_linear_models_are_certified_exactly(tmp_path):
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(BOXES), first=360_000):
        boxed = sums_box(seed, tmp_path)
        if boxed is None:
            continue
        rows, are_all = boxed.cells()
        try:
            certified = compare(boxed, rows)
        except Unseen:
            seen["unseen"] += 1
            continue
        compare(boxed, boxed.points(POINTS))
        if boxed.structure.kind is Kind.TREES and are_all:
            assert certified == boxed.judge(rows).favourable.all(), seed
        seen[f"{boxed.structure.kind} {certified}"] += 1
    print(dict(seen))  # noqa: T201  # `pytest -rP` shows how many
    assert seen["trees True"]
    assert seen["trees False"]


def test_networks_are_certified_by_bounds():
    seen: Counter[str] = Counter()
    for seed in Seeds(scaled(BOXES), first=370_000):
        boxed = network_box(seed)
        seen[str(compare(boxed, boxed.points(POINTS)))] += 1
    print(dict(seen))  # noqa: T201
    assert seen["True"]
    assert seen["False"]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_box_that_is_one_row_is_what_the_model_says_of_it(seed: int):
    boxed = network_box(seed)
    boxed.low = boxed.high
    certified, _ = boxed.certified()
    assert certified == boxed.judge(boxed.low[None]).favourable[0]
