"""Random problems in which values are missing, some of which could be provided."""

from dataclasses import replace
from math import nan

import numpy as np

from tests.support.brute_force import Case, feasible_sets, missing_target, movable, nearest_whole
from tests.support.constrained import with_constraints
from tests.support.networks import Network, random_case


def gapped_case(seed: int) -> tuple[Case, Network]:
    """A person with 1 to 10 movable features, at least one of them missing, and constraints that can be met."""
    for attempt in range(1_000):
        rng = np.random.default_rng((seed, attempt))
        case, network = random_case(seed * 1_000 + attempt)
        case = with_constraints(rng, with_gaps(rng, case))
        lack = [i for i in movable(case) if np.isnan(case.values[i])]
        if lack and len(movable(case)) <= 10 and feasible_sets(case):
            stands = float(network.value(np.nan_to_num(np.array(case.values), nan=network.unseen)))
            network.second_bias -= stands + float(rng.integers(0, 12))
            return case, network
    raise AssertionError(f"no problem for seed {seed}")


def with_gaps(rng: np.random.Generator, case: Case) -> Case:
    """The same person with some values gone, and for most of them a word of what they would become."""
    values, said = list(case.values), {}
    for i in range(len(values)):
        if rng.random() < 0.35:
            values[i] = nan
            if (become := _if_missing(rng, case, i)) is not None and rng.random() < 0.8:
                said[i] = become
    return replace(case, values=values, if_missing=said)


def _if_missing(rng: np.random.Generator, case: Case, i: int) -> float | str | None:
    if rng.random() < 0.5 and missing_target(replace(case, if_missing={i: "target"}), i) is not None:
        return "target"
    known = case.ranges[i]
    if known is None:
        return float(rng.integers(-3, 4))
    low, high = known
    inside = rng.uniform(high - 3 if low is None else low, low + 3 if high is None else high)
    return nearest_whole(inside, low, high)
