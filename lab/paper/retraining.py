"""The networks of a data set: trained alike from other seeds, written as the service's models, read back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline

from app.adapters.files.snapshots import Snapshot
from app.adapters.graphs.models import Model, load_model
from lab.paper.questions.datasets import DataSet, Recipe, Values
from lab.paper.questions.network import Layer, Network
from lab.paper.questions.row_judge import RowJudge
from lab.training import network
from lab.training.export import graph_of

MODELS = 5
# So many networks judge together, on each side of a change, where plans must hold for all: the one that is asked, and
# others that were trained like it. No network is on two sides.
COMMITTEE = 5
DESCRIPTION = """\
title = "{title}"
version = "1"

[output]
kind = "classification"
tensor = "probabilities"
classes = ["unfavourable", "favourable"]
favourable = ["favourable"]
"""
FEATURE = """
[[features]]
name = "{name}"
type = "number"
"""


@dataclass(frozen=True)
class Scale:
    """Standardised units: by the mean and the deviation of the rows that the network has learnt from."""

    mean: Values
    deviation: Values

    def standardised(self, values: Values) -> Values:
        return (values - self.mean) / self.deviation

    def measured(self, standardised: Values) -> Values:
        return standardised * self.deviation + self.mean


@dataclass(frozen=True)
class Trained:
    """One network: as the service loads it, as a yardstick asks it, and as the methods that go downhill see it."""

    model: Model
    judge: RowJudge
    network: Network
    scale: Scale


def train(folder: Path, recipe: Recipe, data: DataSet, number: int) -> None:
    """Write one network to its folder."""
    fitted = network.fit(data.split, replace(recipe.settings, seed=recipe.settings.seed + number))
    title = f"{recipe.name}, network {number}"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(graph_of(recipe.name, fitted, len(recipe.features)))
    features = [FEATURE.format(name=name) for name in recipe.features]
    (folder / "model.toml").write_text("".join([DESCRIPTION.format(title=title), *features]), encoding="utf-8")
    np.savez(folder / "network.npz", *_arrays(fitted))


def load(folder: Path, snapshot: Snapshot) -> Trained:
    """Read one network back, as the service reads its models."""
    with np.load(folder / "network.npz") as stored:
        mean, deviation, *arrays = [stored[name] for name in stored.files]
    layers = [Layer(weights, biases) for weights, biases in zip(arrays[::2], arrays[1::2], strict=True)]
    return Trained(
        load_model(folder, snapshot), RowJudge(folder / "model.onnx"), Network(layers), Scale(mean, deviation)
    )


def _arrays(fitted: Pipeline) -> Sequence[Values]:
    """The scaler's two rows, then weights and biases, layer by layer."""
    scaler, mlp = fitted["scaler"], fitted["network"]
    layers = zip(mlp.coefs_, mlp.intercepts_, strict=True)
    return [scaler.mean_, scaler.scale_, *(array for layer in layers for array in layer)]
