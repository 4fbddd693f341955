"""What happens while a question is answered. Every answer begins with `Started` and ends with `Finished` or `Failed`.

They are values, in no form: `app/writing` turns them into what is sent, others use them as they are. They are tuples,
because one is made for each counterfactual.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.asking.posing.question import Question
from app.core.budget import Limits, StoppedBy
from app.core.facts import Engine, Explained, Found, Guarantee, ProvedBy
from app.core.least.turning import Turn
from app.core.robust.telling import Stability
from app.core.search.verdict import Verdict


class Started(NamedTuple):
    """The question is posed, and this is what the model says of the instance as it stands."""

    question: Question
    prediction: Verdict
    engine: Engine
    limits: Limits


class Counterfactual(NamedTuple):
    """A minimal set of changes was found; `rank` counts from 1."""

    rank: int
    found: Found
    # None where it is not told whether it holds.
    stability: Stability | None = None
    # Of each change what would be enough; None where that is not asked, or where there was no time.
    enough: Sequence[Turn | None] | None = None


class Progress(NamedTuple):
    """So far has the search come: every minimal answer of at most so many changes has been found."""

    complete_up_to: int
    model_rows: int
    elapsed_ms: float


class Told(NamedTuple):
    """Of how many plans it was told whether they hold, and how many rows the model was asked about for that."""

    plans: int
    model_rows: int


class Elapsed(NamedTuple):
    """Milliseconds: all in all, searching, in the model, in the solver."""

    total: float
    search: float
    model: float
    solver: float


class Proof(NamedTuple):
    """What the proof rests on, how many sets were looked at, and the features that no answer can need."""

    by: ProvedBy
    nodes: int
    inert: Sequence[str]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the search has come to, in the order in which an answer tells it."""

    outcome: str
    count: int
    complete: bool
    complete_up_to: int
    stopped_by: StoppedBy | None
    guarantee: Guarantee
    engine: Engine
    model_rows: int
    model_calls: int
    solver_checks: int
    elapsed_ms: Elapsed
    # In how many answers each feature changes, of those that change in any.
    changed_in: Mapping[str, int]
    # None if nothing is proved for this model.
    proof: Proof | None


class Finished(NamedTuple):
    """The search has ended; where it ended by itself and found nothing, with an explanation."""

    summary: Summary
    explained: Explained | None
    # None where nothing is asked of plans that hold; and what is told of the best sets, where there is no plan.
    told: Told | None = None
    best: Stability | None = None
    best_without_rules: Stability | None = None


class Failed(NamedTuple):
    """The search broke down."""

    error: Exception


Event = Started | Counterfactual | Progress | Finished | Failed
