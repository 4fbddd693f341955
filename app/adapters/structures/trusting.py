"""Trust is earned: a view must hold what the model itself says, on thousands of rows that are made to be hard."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.features import ModelFeature
from app.adapters.structures.graph import NotUnderstood
from app.adapters.structures.networks import NetworkStructure
from app.adapters.structures.sums.structure import Structure, SumsView
from app.core.favourable import FavourableClasses, FavourableInterval, Floats
from app.core.subsets.candidate_rows import MoveCells
from app.core.through.networks.view import NetworkView
from app.core.through.view import Numbers, Unseen

Rows = NDArray[Any]
Bools = NDArray[np.bool_]

# So many made-up people, with so many subsets of their moves each. For some of them the model is not seen through.
PEOPLE = 40
TRIES = 100
SUBSETS = 64
# Of a person's features so many move at most, for most people.
FEW = 10
# Bounds of this width would decide nothing.
WIDE = 0.02


def forms_of(view: SumsView, made: Bools) -> Numbers:
    """The forms of some subsets, given by a row of truths each."""
    forms = np.tile(view.sums.constant, (len(made), 1))
    for table in view.sums.tables:
        weights = 1 << np.arange(len(table.moves))[::-1]
        forms += table.values[made[:, list(table.moves)] @ weights]
    return forms


class Trial:
    """Holds a structure against the model that it was read from."""

    def __init__(
        self,
        structure: Structure | NetworkStructure,
        scorer: Callable[[Rows], Floats],
        features: Sequence[ModelFeature],
        places: Sequence[tuple[int, ...]],
        dtype: np.dtype[Any],
        outputs: int,
    ) -> None:
        self._structure = structure
        self._scorer = scorer
        self._features = features
        self._places = places
        self._dtype = dtype
        several = FavourableClasses((outputs - 1,), tuple(range(outputs - 1)))
        self._favourable = several if outputs > 1 else FavourableInterval(0.0, None)
        self._rng = np.random.default_rng(17)
        self._hard = structure.hard_values(len(features))

    def run(self) -> None:
        """`NotUnderstood` if a view misses what the model says, or is too wide to be of use."""
        found = (self._bounds(person) for person in range(TRIES))
        seen = list(islice((each for each in found if each is not None), PEOPLE))
        if len(seen) < PEOPLE / 4:
            raise NotUnderstood("for most people too much of it depends on too many features at once")
        rows, low, high = (np.concatenate(parts) for parts in zip(*seen, strict=True))
        said = self._scorer(rows).astype(np.float64)
        if said.shape != low.shape:
            raise NotUnderstood("it gives other scores than what was read in its graph")
        if not ((low <= said) & (said <= high)).all():
            raise NotUnderstood("its scores are not what was read in its graph")
        if isinstance(self._structure, NetworkStructure):
            # Whatever its bounds allow, the model itself is asked about: wide ones cost time, not truth.
            return
        narrow = (high - low) <= WIDE * (np.ptp(said, axis=0) + np.abs(said).mean())
        if narrow.mean() < 0.5:
            raise NotUnderstood("its scores lose too much to rounding to be bounded closely")

    def _bounds(self, person: int) -> tuple[Rows, Numbers, Numbers] | None:
        """The rows of some subsets for one person, and the bounds on what the model says of them."""
        now, then = self._row(), self._row()
        count = len(self._features)
        moving = count if person % 8 == 0 else int(self._rng.integers(1, min(count, FEW) + 1))
        chosen = np.sort(self._rng.permutation(count)[:moving])
        moves = [MoveCells(self._places[at], then[list(self._places[at])].tolist()) for at in chosen]
        try:
            view = self._structure.view(now, moves, self._favourable)
        except Unseen:
            return None
        made = self._rng.random((SUBSETS, len(moves))) < self._rng.random((SUBSETS, 1))
        rows = np.tile(now, (SUBSETS, 1))
        for place, at in enumerate(chosen):
            columns = list(self._places[at])
            rows[np.ix_(made[:, place], columns)] = then[columns]
        low, high = self._outputs(view, made)
        return rows, low, high

    @staticmethod
    def _outputs(view: SumsView | NetworkView, made: Bools) -> tuple[Numbers, Numbers]:
        if isinstance(view, NetworkView):
            return view.outputs_of(made)
        forms = forms_of(view, made)
        return view.outputs(forms, forms)

    def _row(self) -> Rows:
        cells = [cell for place in range(len(self._features)) for cell in self._cells(place)]
        return np.array(cells).astype(self._dtype)

    def _cells(self, place: int) -> tuple[float, ...]:
        """What the columns of a feature might hold: often what a split of a tree asks about, or its neighbour."""
        feature, hard = self._features[place], self._hard[place]
        if feature.sees_missing and self._rng.random() < 0.1:
            return feature.cells(float("nan"))
        if feature.type == "category" or not len(hard) or self._rng.random() < 0.3:
            return feature.some_cells(self._rng)
        value = self._rng.choice(hard)
        near = np.array(value, dtype=self._dtype if self._dtype.kind == "f" else np.float64)
        value = float((near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf))[self._rng.integers(3)])
        return feature.cells(float(round(value)) if feature.whole else value)
