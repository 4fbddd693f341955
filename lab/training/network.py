"""Training of the small neural networks behind the hcv, thyroid and synthetic models."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """What may differ from one network to the next."""

    hidden: tuple[int, ...]
    learning_rate: float
    epochs: int
    penalty: float
    balanced: bool
    seed: int


@dataclass(frozen=True)
class Split:
    """Rows and labels, seven parts to learn from and three parts to test on."""

    train_rows: Rows
    test_rows: Rows
    train_labels: Labels
    test_labels: Labels


def split(rows: Rows, labels: Labels, seed: int) -> Split:
    """Split 7:3, with the same share of each class on both sides."""
    return Split(*train_test_split(rows, labels, test_size=0.3, stratify=labels, random_state=seed))


def fit(data: Split, settings: Settings) -> Pipeline:
    """Train a scaler and a network on the training part; the scaler stays part of the model."""
    network = MLPClassifier(
        hidden_layer_sizes=settings.hidden,
        alpha=settings.penalty,
        batch_size=32,
        learning_rate_init=settings.learning_rate,
        max_iter=settings.epochs,
        random_state=settings.seed,
    )
    weights = compute_sample_weight("balanced", data.train_labels) if settings.balanced else None
    model = Pipeline([("scaler", StandardScaler()), ("network", network)])
    with warnings.catch_warnings():
        # The number of epochs is a choice here, not a failure to converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.train_rows, data.train_labels, network__sample_weight=weights)
    return model
