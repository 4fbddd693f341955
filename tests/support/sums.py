"""Models that are random sums of tables: what a search sees through, and the model itself, which adds in float32."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.problem import Move
from app.core.through.view import Kind, Sums, Table

OUTPUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {}


@dataclass
class Addend:
    """Depends on some features: the number that it adds for each way in which they may lie above their splits."""

    features: tuple[int, ...]
    splits: tuple[float, ...]
    values: np.ndarray

    def of(self, rows: np.ndarray) -> np.ndarray:
        above = rows[:, self.features] > np.array(self.splits)
        return self.values[above @ (1 << np.arange(len(self.features))[::-1])]


@dataclass
class TableModel:
    """Adds its tables in float32, from the last to the first, and gives one value, two classes or several."""

    addends: list[Addend]
    start: np.ndarray
    kind: str = "classes"
    batch_rows: int = 16_384
    dtype: np.dtype = np.dtype(np.float64)
    asked: int = 0

    def columns(self, position: int) -> tuple[int, ...]:
        return (position,)

    def cells(self, position: int, value: float) -> tuple[float, ...]:
        return (value,)

    def runs(self, rows: int) -> int:
        return 1

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.asked += len(rows)
        total = np.tile(self.start.astype(np.float32), (len(rows), 1))
        for addend in reversed(self.addends):
            total += addend.of(np.asarray(rows)).astype(np.float32)
        if self.kind == "sigmoid":
            share = (1 / (1 + np.exp(-total[:, 0].astype(np.float64)))).astype(np.float32)
            return np.stack([np.float32(1) - share, share], axis=1)
        return total

    def view(self, instance: Sequence[float]) -> Callable[[Sequence[Move]], "TableView"]:
        return lambda moves: TableView.of(self, instance, moves)


@dataclass
class TableView:
    """The same model for one person: the sums in float64, and bounds that hold for float32."""

    sums: Sums
    error: np.ndarray
    is_sigmoid: bool
    kind: Kind = Kind.TREES
    rising: tuple[bool, ...] | None = None
    tables: list[Table] = field(default_factory=list)

    @classmethod
    def of(cls, model: TableModel, instance: Sequence[float], moves: Sequence[Move]) -> "TableView":
        constant, tables = model.start.astype(np.float64), []
        scale = np.abs(model.start).astype(np.float64)
        for addend in model.addends:
            scale = scale + np.abs(addend.values).max(axis=0)
            table = _seen(addend, instance, moves)
            if table.moves:
                tables.append(table)
            else:
                constant = constant + table.values[0]
        error = scale * (len(model.addends) + 2) * 2.0**-23
        return cls(Sums(constant, tuple(tables)), error, model.kind == "sigmoid")

    def outputs(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = low - self.error, high + self.error
        if not self.is_sigmoid:
            return low, high
        low, high = 1 / (1 + np.exp(-low[:, 0])) - 1e-6, 1 / (1 + np.exp(-high[:, 0])) + 1e-6
        return np.stack([1 - high, low], axis=1), np.stack([1 - low, high], axis=1)


def _seen(addend: Addend, instance: Sequence[float], moves: Sequence[Move]) -> Table:
    """An addend as a table over the moves that take a feature over its split."""
    place = {move.position: index for index, move in enumerate(moves)}
    over = [
        feature
        for feature, split in zip(addend.features, addend.splits, strict=True)
        if feature in place and (moves[place[feature]].target > split) != (instance[feature] > split)
    ]
    over.sort(key=lambda feature: place[feature])
    rows = np.tile(np.array(instance, dtype=float), (2 ** len(over), 1))
    for bit, feature in enumerate(over):
        made = np.arange(len(rows)) >> (len(over) - 1 - bit) & 1 == 1
        rows[made, feature] = moves[place[feature]].target
    return Table(tuple(place[feature] for feature in over), addend.of(rows).astype(np.float64))


def random_model(
    rng: np.random.Generator, values: Sequence[float], targets: dict[int, float], forms: int
) -> TableModel:
    """Some addends of whole numbers, so that sums tie often, or of any numbers; some models are linear."""
    whole, linear = rng.random() < 0.5, rng.random() < 0.3
    width = len(values)
    addends = []
    for _ in range(int(rng.integers(1, 14))):
        features = tuple(
            int(i) for i in rng.permutation(width)[: 1 if linear else int(rng.integers(1, 1 + min(4, width)))]
        )
        splits = tuple((values[i] + targets.get(i, values[i] + 1)) / 2 for i in features)
        numbers = (
            rng.integers(-3, 4, (2 ** len(features), forms)) if whole else rng.normal(size=(2 ** len(features), forms))
        )
        addends.append(Addend(features, splits, np.asarray(numbers, dtype=np.float64).astype(np.float32).astype(float)))
    start = (rng.integers(-4, 5, forms) if whole else rng.normal(size=forms)).astype(np.float32)
    return TableModel(addends, start)
