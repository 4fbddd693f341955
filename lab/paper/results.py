"""What came out for one data set: the figures that the page, its tables and its charts are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Mean:
    """A mean over people with its 95 % interval. With nobody to rest on, all three are None."""

    value: float | None
    low: float | None
    high: float | None
    people: int


@dataclass(frozen=True)
class Robustness:
    """Inconsistency after one kind of change; `undefined` of `pairs` had an empty set on one side."""

    inconsistency: Mean
    pairs: int
    undefined: int


@dataclass(frozen=True)
class Changes:
    """What a method showed after the network was retrained, and after noise of each sigma on the input."""

    retrained: Robustness
    noise: Mapping[float, Robustness]


@dataclass(frozen=True)
class MethodResults:
    """One method on one data set.

    `metrics` by name: sparsity, aps, diversity, c_diversity, valid, minimal_found, returned_minimal, milliseconds.
    For `changes` chances were drawn anew on either side of a change, for `same_seed` they were the same. `cut_short`
    answers ran into the time limit.
    """

    metrics: Mapping[str, Mean]
    changes: Changes
    same_seed: Changes
    cut_short: int


@dataclass(frozen=True)
class Agreement:
    """The published search held against the definition, person by person and model by model.

    `same` of `asked` gave just the minimal sets; `missed` of `true` minimal sets were not found; `wrong` of `returned`
    sets are not minimal; `not_monotone` of `asked` break the paper's assumption.
    """

    asked: int
    same: int
    true: int
    missed: int
    returned: int
    wrong: int
    not_monotone: int


@dataclass(frozen=True)
class DataSetResults:
    """One data set: how well its networks do, who was asked about, and what each method answered.

    `agreement` rests on the people asked about, `everyone` on all whom a network refuses; both on all networks.
    """

    name: str
    registry: str
    accuracies: tuple[float, ...]
    people: int
    without_recourse: int
    mean_answers: float
    agreement: Agreement
    everyone: Agreement
    methods: Mapping[str, MethodResults]


def with_same_seed(results: DataSetResults) -> DataSetResults:
    """The same results with the changes that were measured with the same seed on both sides."""
    methods = {name: replace(method, changes=method.same_seed) for name, method in results.methods.items()}
    return replace(results, methods=methods)
