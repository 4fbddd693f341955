"""A data set with its five networks and its normal ranges: who is asked about, and what with."""

from functools import cached_property
from pathlib import Path

import numpy as np

from app.adapters.files.snapshots import take_snapshot
from app.adapters.rules.registries import load_registry
from app.core.constraints import Item
from app.core.findings import Feature
from app.core.problem import Problem, pose
from lab.paper.conditions import Condition
from lab.paper.questions.datasets import DataSet, Recipe, Truths, Values
from lab.paper.questions.posing import Posed
from lab.paper.questions.question import Spread
from lab.paper.questions.seeds import stream
from lab.paper.retraining import COMMITTEE, MODELS, Trained, load

RANGES = Path(__file__).parents[2] / "normal_ranges"


class Study:
    """Reads the networks from the folder that they were prepared in."""

    def __init__(self, folder: Path, recipe: Recipe, data: DataSet) -> None:
        self.recipe = recipe
        self.data = data
        snapshot = take_snapshot(folder, RANGES)
        trained = [load(network_folder(folder, number), snapshot) for number in range(MODELS * COMMITTEE)]
        self.networks = trained[:MODELS]
        # For each of the five, those that judge along with it.
        self.companions = [trained[number + MODELS :: MODELS] for number in range(MODELS)]
        self.registry = load_registry(RANGES / f"{recipe.registry}.toml", snapshot)

    @cached_property
    def people(self) -> list[int]:
        """Rows of the test part that the first network rightly refuses; a random few of them where there are many."""
        data = self.data
        places = np.flatnonzero(~favours(self.networks[0], data.rows) & ~data.trains & (data.labels == 0))
        most = self.recipe.most_people
        if most is not None and len(places) > most:
            places = np.sort(stream(self.recipe.name, "people").permutation(places)[:most])
        return [int(place) for place in places]

    @cached_property
    def accuracies(self) -> tuple[float, ...]:
        """The share of the test part that each network gets right."""
        split = self.data.split
        judged = (favours(trained, split.test_rows) for trained in self.networks)
        return tuple(float((favoured == split.test_labels).mean()) for favoured in judged)

    @cached_property
    def standardised(self) -> Values:
        """The whole data set; all networks have learnt from the same rows, so their scale is one."""
        return self.networks[0].scale.standardised(self.data.rows)

    @cached_property
    def spread(self) -> Spread:
        rows = self.standardised
        deviations = np.median(np.abs(rows - np.median(rows, axis=0)), axis=0)
        return Spread(rows.min(axis=0), rows.max(axis=0), deviations)

    def values(self, condition: Condition, person: int) -> Values:
        """A person's values under a condition, in the units of the data."""
        row = self.data.rows[person]
        if not condition.sigma:
            return row
        scale = self.networks[condition.network].scale
        noise = stream(self.recipe.name, condition.name, str(person)).normal(0, condition.sigma, len(row))
        return scale.measured(scale.standardised(row) + noise)

    def problem(self, values: Values, items: tuple[Item, ...] = ()) -> Problem:
        """The problem as the service poses it; what is abnormal is judged from these very values."""
        features = []
        for name, value in zip(self.recipe.features, values.tolist(), strict=True):
            known = self.registry.features[name]
            (only,) = known.ranges
            features.append(Feature(value, only.normal, known.move_to))
        return pose(tuple(features), items)

    def posed(self, values: Values) -> Posed:
        """The same as the yardsticks see it."""
        moves = self.problem(values).moves
        return Posed(values.astype(np.float32), {move.position: move.target for move in moves})


def favours(trained: Trained, rows: Values) -> Truths:
    """What the model file says of rows in the units of the data."""
    scores = trained.judge.scores(rows.astype(np.float32))
    favoured: Truths = scores[:, 1] > scores[:, 0]
    return favoured


def network_folder(folder: Path, number: int) -> Path:
    return folder / f"network-{number}"
