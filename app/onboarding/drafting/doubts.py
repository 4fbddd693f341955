"""What a person should look at before a draft is served: each a line that begins with "Look"."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.adapters.files.names import listed
from app.core.favourable import Bools
from app.onboarding.drafting.features import Drafted
from app.onboarding.drafting.matching import Matching
from app.onboarding.drafting.outputs import fit
from app.onboarding.reading.outcomes import Outcomes

# No feature that is known beforehand tells the outcomes apart so well.
TOO_GOOD = 0.995


def doubts_about(matching: Matching, features: Sequence[Drafted], outcomes: Outcomes, usable: Bools) -> Iterator[str]:
    """About the columns, where the draft may be wrong; `usable` are the people who were scored."""
    yield from _passed_over(matching)
    yield from _codes(features)
    yield from _leaks(features, outcomes, usable)


def _passed_over(matching: Matching) -> Iterator[str]:
    if names := listed(matching.passed_over):
        yield f"Look: not taken for features: {names}. If the graph reads them, name all features with --features."


def _codes(features: Sequence[Drafted]) -> Iterator[str]:
    """Numbers that may stand for missing values: as numbers they spoil ranges, bounds and examples."""
    for column in (drafted.column for drafted in features):
        if codes := listed([f"{code:g}" for code in column.codes]):
            told = f"{column.name} holds {codes}, far from its other values"
            yield f"Look: {told}. If that stands for a missing value, leave those cells empty and start again."


def _leaks(features: Sequence[Drafted], outcomes: Outcomes, usable: Bools) -> Iterator[str]:
    """Features that give the outcome away: probably known only after it."""
    for each in features:
        values = each.values()[usable]
        known = ~np.isnan(values)
        alone = fit(values[known, None], outcomes.accepted[usable][known])
        if alone >= TOO_GOOD:
            told = "alone nearly tells the outcomes apart"
            yield f"Look: {each.feature.name} {told} (AUC {alone:.3f}). Is it known before the outcome?"
