"""How often the published search gives just the minimal sets, over everyone whom a network refuses."""

from collections.abc import Iterable
from dataclasses import astuple

import numpy as np

from lab.paper.every_subset import EverySubset
from lab.paper.methods import Subset, published
from lab.paper.questions.seeds import stream
from lab.paper.results import Agreement
from lab.paper.study import Study, favours


def everyone(study: Study, number: int) -> Agreement:
    """Hold the two against each other for the people whom one network refuses; a random few, where these are many."""
    trained = study.networks[number]
    refused = np.flatnonzero(~favours(trained, study.data.rows))
    mixed = stream(study.recipe.name, "agreement", str(number)).permutation(refused)
    held = []
    for person in mixed[: study.recipe.most_compared].tolist():
        posed = study.posed(study.data.rows[person])
        truth = EverySubset(posed, trained.judge)
        held.append(compared(truth.minimal, published(trained, posed).answers(), monotone=truth.monotone))
    return total(held)


def compared(true: Iterable[Subset], returned: Iterable[Subset], *, monotone: bool) -> Agreement:
    """Hold the sets of one person against each other."""
    minimal, found = set(true), set(returned)
    return Agreement(
        asked=1,
        same=int(minimal == found),
        true=len(minimal),
        missed=len(minimal - found),
        returned=len(found),
        wrong=len(found - minimal),
        not_monotone=int(not monotone),
    )


def total(agreements: Iterable[Agreement]) -> Agreement:
    """Add up what was counted."""
    counts = np.array([astuple(agreement) for agreement in agreements], dtype=np.int64).reshape(-1, 7).sum(axis=0)
    return Agreement(*counts.tolist())
