"""The served model held against the trainer's own scores."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.adapters.graphs.models import Model
from app.onboarding.comparing.reasons import CLOSE, Compared, likely_reason
from app.onboarding.comparing.served import favourable_score, raw_scores, read_people
from app.onboarding.failures import Unfit
from app.onboarding.reading.table import Table

# Rows that are named.
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """A row whose scores differ."""

    row: int
    served: float
    trained: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many people were compared, for how many the scores are equal, and what is wrong with the others."""

    people: int
    # Who could not be read, or has no score of the trainer's.
    left_out: int
    equal: int
    largest: float
    first: tuple[Difference, ...]
    reason: str | None


def compare(model: Model, table: Table, score: str, columns: Mapping[str, str]) -> Comparison:
    """Ask the model about everybody and compare its scores with a column; `Unfit` if nobody can be compared."""
    trained = table.column(score, "--score")
    if not trained.number_count:
        raise Unfit(f"--score {score}: holds no numbers")
    people = read_people(model, table, columns)
    known = people.readable & np.isfinite(trained.numbers)
    if not known.any():
        raise Unfit("nobody in the table can be compared: nobody has both a score and values that the model takes")
    values = people.values[known]
    scores = raw_scores(model, values)
    compared = Compared(model, values, scores, favourable_score(model, scores), trained.numbers[known])
    distance = np.abs(compared.served - compared.trained)
    # A score that is no number is never equal.
    differ = ~(distance <= CLOSE * np.maximum(1, np.abs(compared.trained)))
    places = table.places[known]
    first = [
        Difference(int(places[at]), float(compared.served[at]), float(compared.trained[at]))
        for at in np.flatnonzero(differ)[:MOST_NAMED]
    ]
    return Comparison(
        people=int(known.sum()),
        left_out=table.kept - int(known.sum()),
        equal=int((~differ).sum()),
        largest=float(distance.max()),
        first=tuple(first),
        reason=likely_reason(compared) if differ.any() else None,
    )
