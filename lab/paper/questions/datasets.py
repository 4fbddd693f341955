"""The data sets of the paper's section 5, read, labelled and split as in its experiments; values in their own units."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.training import hcv, network, synthetic, thyroid

Values = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class DataSet:
    """Rows with their labels, 1 being favourable, and which of them the models learn from."""

    rows: Values
    labels: network.Labels
    trains: Truths

    @property
    def split(self) -> network.Split:
        rows, labels, trains = self.rows, self.labels, self.trains
        return network.Split(rows[trains], rows[~trains], labels[trains], labels[~trains])


@dataclass(frozen=True)
class Recipe:
    """How one data set is made into questions.

    `settings` are those of the authors' networks. Every method is asked about `most_people` at the most, and the
    published search alone about `most_compared` for each network. `file` has to lie in the data folder, and comes from
    `download`; both are empty where nothing is needed.
    """

    name: str
    registry: str
    features: tuple[str, ...]
    settings: network.Settings
    read: Callable[[Path, network.Settings], DataSet]
    most_people: int | None = None
    most_compared: int = 400
    file: str = ""
    download: str = ""


def _settings(
    hidden: tuple[int, ...], learning_rate: float, epochs: int, *, balanced: bool = False
) -> network.Settings:
    return network.Settings(hidden, learning_rate, epochs, penalty=0.0, balanced=balanced, seed=42)


# Points that a first model scores between the two are dropped.
UNSURE = (0.1, 0.9)


def _synthetic(_: Path, settings: network.Settings) -> DataSet:
    rows, labels = synthetic.generate()
    first = network.fit(network.split(rows, labels, settings.seed), replace(settings, seed=settings.seed - 1))
    scores = first.predict_proba(rows)[:, 1]
    sure = (scores < UNSURE[0]) | (scores > UNSURE[1])
    return _stratified(rows[sure], labels[sure], settings.seed)


def _hcv(folder: Path, settings: network.Settings) -> DataSet:
    rows, labels, _ = hcv.read(folder / "hcv.csv")
    return _stratified(rows, labels, settings.seed)


def _thyroid(folder: Path, _: network.Settings) -> DataSet:
    rows, labels = thyroid.read(folder / "thyroid.csv")
    # The authors take the first seven tenths as they come.
    return DataSet(rows, labels, np.arange(len(rows)) < round(0.7 * len(rows)))


def _stratified(rows: Values, labels: network.Labels, seed: int) -> DataSet:
    places = np.arange(len(rows))[:, np.newaxis]
    split = network.split(places, labels, seed)
    return DataSet(rows, labels, np.isin(places[:, 0], split.train_rows[:, 0]))


RECIPES = (
    Recipe(
        "synthetic", "synthetic", tuple(synthetic.FEATURES), _settings((20, 20), 2e-2, 100), _synthetic, most_people=100
    ),
    Recipe(
        "hcv",
        "hcv-paper-tight",
        tuple(hcv.FEATURES),
        _settings((20, 10), 1e-3, 100, balanced=True),
        _hcv,
        file="hcv.csv",
        download="https://archive.ics.uci.edu/dataset/571",
    ),
    Recipe(
        "thyroid",
        "thyroid",
        tuple(thyroid.FEATURES),
        _settings((32, 16), 3e-3, 200),
        _thyroid,
        file="thyroid.csv",
        download="https://archive.ics.uci.edu/dataset/102, as lab/training/README.md says",
    ),
)
