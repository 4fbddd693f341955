"""Models of a test, read and held against ONNX Runtime itself, subset by subset."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.onnx import OnnxGraph
from app.adapters.graphs.scorer import ModelScorer
from app.adapters.structures.reading import Opaque, structure_of
from app.adapters.structures.sums.structure import Structure
from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.networks.view import NetworkView
from app.core.through.view import View


def numbers(count: int, **fields: Any) -> tuple[ModelFeature, ...]:
    return tuple(ModelFeature(f"f{place}", None, None, "number", **fields) for place in range(count))


class Held:
    """A graph that is served, and what was read in it."""

    def __init__(
        self,
        content: bytes,
        features: Sequence[ModelFeature],
        outputs: int,
        tensor: str | None = "scores",
        activation: str = "none",
        classes: Sequence[str] = (),
    ) -> None:
        self.features = tuple(features)
        names = tuple(classes) or tuple(f"class {place}" for place in range(outputs if outputs > 1 else 0))
        graph = OnnxGraph(content, self.features, tensor, names)
        self.scorer = ModelScorer(graph, self.features, activation, outputs)
        self.scorer.warm_up()
        self.outputs = outputs
        served = self.scorer.served(content, names)
        self.structure: Structure | Opaque = structure_of(served, self.scorer, self.features, self.scorer.dtype)

    @property
    def favourable(self) -> Favourable:
        if self.outputs == 1:
            return FavourableInterval(0.0, None)
        return FavourableClasses((self.outputs - 1,), tuple(range(self.outputs - 1)))

    def check(self, now: Sequence[float], then: dict[int, float]) -> float:
        """Hold every subset of these moves against the runtime; returns the widest bounds."""
        cells = [cell for place, value in enumerate(now) for cell in self.scorer.cells(place, value)]
        row = np.array(cells).astype(self.scorer.dtype)
        moves = [
            MoveCells(self.scorer.columns(place), self.scorer.cells(place, value)) for place, value in then.items()
        ]
        view = self.structure.view(row, moves, self.favourable)
        subsets = list(product((False, True), repeat=len(moves)))
        rows = np.array([_moved(row, moves, subset) for subset in subsets])
        said = self.scorer(rows).astype(np.float64)
        if isinstance(view, NetworkView):
            low, high = view.outputs_of(np.array(subsets))
            assert _within(said, low, high)
            return float((high - low).max())
        forms = np.array([form_of(view, subset) for subset in subsets])
        low, high = view.outputs(forms, forms)
        assert said.shape == low.shape
        assert _within(said, low, high)
        _check_boxes(view, forms, said)
        return float((high - low).max())


def _within(said: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether bounds hold what the runtime says; infinite ones do not even claim that it is a number."""
    return bool(((low <= said) & (said <= high) | np.isneginf(low) & np.isposinf(high)).all())


def form_of(view: View, subset: Sequence[bool]) -> np.ndarray:
    """The sums of one subset, as `Table` defines them."""
    total = view.sums.constant.copy()
    for table in view.sums.tables:
        number = int("".join(str(int(subset[move])) for move in table.moves), 2)
        total += table.values[number]
    return total


def _moved(row: np.ndarray, moves: Sequence[MoveCells], subset: Sequence[bool]) -> np.ndarray:
    changed = row.copy()
    for move, made in zip(moves, subset, strict=True):
        if made:
            changed[list(move.columns)] = move.values
    return changed


def _check_boxes(view: View, forms: np.ndarray, said: np.ndarray) -> None:
    """Bounds on all subsets together hold what the runtime says of each; outputs rise or fall as they say."""
    low, high = view.outputs(forms.min(axis=0)[None], forms.max(axis=0)[None])
    assert _within(said, low, high)
    if view.rising is not None:
        order = np.argsort(forms[:, 0])
        bounds, _ = view.outputs(forms[order], forms[order])
        bounds = bounds[np.isfinite(bounds).all(axis=1)]
        for column, rises in enumerate(view.rising):
            steps = np.diff(bounds[:, column])
            assert ((steps if rises else -steps) >= -1e-15).all()
