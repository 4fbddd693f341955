"""Made-up people who show a drafted model at work."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.answering.service import Service
from app.cohorts.solving.one_by_one import Refused, ask
from app.core.favourable import Bools
from app.onboarding.drafting.features import Drafted
from app.onboarding.drafting.made_up import MadeUp, usual_fact
from app.onboarding.failures import Unfit
from app.onboarding.reading.outcomes import Outcomes
from app.onboarding.reading.table import Table

# People who are made up until one will do as an example.
MOST_MADE_UP = 200
SEED = 7
WIDEN = ": let more features change (categories too, in the file of ranges), or learn limits with --policy"


class Examples:
    """Looks for made-up people who show the model at work: one of each outcome, as the model judges them."""

    def __init__(
        self,
        service: Service,
        model: str,
        features: Sequence[Drafted],
        outcomes: Outcomes,
        table: Table,
        keys: set[str],
    ) -> None:
        self._service = service
        self._chosen = service.model(model)
        self._outcomes = outcomes
        self._features = features
        self._table = table
        self._keys = keys
        self.notes: list[str] = []

    def found(self) -> tuple[dict[str, dict[str, Any]], str]:
        """The examples by name, and the one that is worth an answer."""
        favourable = self._one(self._outcomes.accepted, {"already_favourable"})
        refused = self._one(self._outcomes.refused, {"found"})
        if refused is None:
            refused = self._one(self._outcomes.refused, {"no_recourse", "unknown"})
            told = "refuses none of them" if refused is None else f"leaves none of them a way out{WIDEN}"
            self.notes.append(f"Of {MOST_MADE_UP} made-up people like the refused the model {told}.")
        if favourable is None:
            self.notes.append(f"Of {MOST_MADE_UP} made-up people like the accepted the model accepts none.")
        named = {"favourable": favourable, "refused": refused}
        examples = {name: body for name, body in named.items() if body is not None}
        if not examples:
            raise Unfit(
                "no example can be made up: the model answers for nobody like the people of the table, or every row "
                "that can be made up is the row of one to four of them"
            )
        return examples, "refused" if refused is not None else "favourable"

    def _one(self, group: Bools, wanted: set[str]) -> dict[str, Any] | None:
        made_up = MadeUp(self._features, group, np.random.default_rng(SEED))
        context = {key: usual_fact(self._table.columns[key], group) for key in sorted(self._keys)}
        for instance in made_up.people(MOST_MADE_UP):
            body = {"instance": instance, **({"context": context} if context else {})}
            try:
                told = ask(self._service, self._chosen, body)
            except Refused:
                continue
            if told.finished.summary.outcome in wanted:
                return body
        return None
