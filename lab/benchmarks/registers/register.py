"""A register of a given length: everybody who is drawn, or only those whom the shipped model refuses."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from app.adapters.catalog import load_catalog
from app.adapters.graphs.models import Model
from lab.benchmarks.registers.drawing import blocks

ROOT = Path(__file__).parents[3]


def register(model: str, count: int, seed: int, *, refused: bool = False) -> pa.Table:
    """So many people in one table."""
    return pa.Table.from_batches(batches(model, count, seed, refused=refused))


def batches(model: str, count: int, seed: int, *, refused: bool = False) -> Iterator[pa.RecordBatch]:
    """So many people, some at a time. Who is refused keeps the name that he has among all."""
    drawn = blocks(model, seed)
    left = count
    for people in _refused(drawn, shipped(model)) if refused else drawn:
        yield people.slice(0, left)
        left -= people.num_rows
        if left <= 0:
            return


def shipped(model: str) -> Model:
    return load_catalog(ROOT / "models", ROOT / "normal_ranges").models[model]


def _refused(drawn: Iterator[pa.RecordBatch], model: Model) -> Iterator[pa.RecordBatch]:
    for people in drawn:
        features = [people[feature.name].to_numpy(zero_copy_only=False) for feature in model.features]
        outputs = model.scorer(np.stack(features, axis=1).astype(model.scorer.dtype))
        favourable = model.favourable.holds(outputs, model.favourable.score(outputs))
        yield people.filter(pa.array(~favourable))
