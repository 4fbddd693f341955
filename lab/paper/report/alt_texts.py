"""What is seen in each figure, in words: for those who cannot see it."""

from collections.abc import Iterable, Mapping, Sequence

from lab.paper.report.subsets import Lattice, maximal, minimal
from lab.paper.report.titles import METHODS, METRICS, data_set, methods_of, number, sigmas_of
from lab.paper.results import DataSetResults, Mean

QUALITY = ("sparsity", "aps", "diversity", "c_diversity")


def quality(results: Sequence[DataSetResults]) -> str:
    words = [f"Bars of {len(methods_of(results))} methods on {_listed([data_set(one) for one in results])}."]
    for metric in QUALITY:
        title = METRICS[metric]
        found = [f"{data_set(one)} {_best(_means(one, metric), title.better == 'higher')}" for one in results]
        words.append(f"Best {title.title} ({title.better} is better): {'; '.join(found)}.")
    return " ".join(words)


def retraining(results: Sequence[DataSetResults]) -> str:
    words = ["Bars of the inconsistency after retraining, lower is better."]
    for one in results:
        means = {method: found.changes.retrained.inconsistency for method, found in one.methods.items()}
        words.append(f"{data_set(one)}: lowest {_best(means, False)}, highest {_best(means, True)}.")
    return " ".join(words)


def noise(results: Sequence[DataSetResults]) -> str:
    words = ["Lines of the inconsistency against the strength of the noise, lower is better."]
    for one in results:
        parts = []
        for sigma in sigmas_of([one]):
            changes = {method: found.changes.noise for method, found in one.methods.items()}
            noisy = {method: found[sigma] for method, found in changes.items() if sigma in found}
            means = {method: found.inconsistency for method, found in noisy.items()}
            parts.append(f"{_best(means, False)} at sigma {sigma:g}")
        words.append(f"Lowest on {data_set(one)}: {'; '.join(parts)}.")
    return " ".join(words)


def subsets(lattice: Lattice) -> str:
    favourable = sum(one.favourable for one in lattice.subsets)
    answers, highest = _sets(lattice, minimal(lattice.subsets)), _sets(lattice, maximal(lattice.subsets))
    return (
        f"The {len(lattice.subsets)} subsets of {_listed(lattice.features)} as boxes in rows by size; {favourable} "
        f"are favourable. Minimal favourable: {answers}. Maximal unfavourable: {highest}."
    )


def _means(results: DataSetResults, metric: str) -> Mapping[str, Mean]:
    return {method: found.metrics[metric] for method, found in results.methods.items() if metric in found.metrics}


def _best(means: Mapping[str, Mean], highest: bool) -> str:
    known = {method: mean.value for method, mean in means.items() if mean.value is not None}
    if not known:
        return "not defined"
    value = max(known.values()) if highest else min(known.values())
    names = [METHODS[method].title for method in METHODS if known.get(method) == value]
    return f"{_listed(names)} ({number(value)})"


def _sets(lattice: Lattice, found: Iterable[frozenset[int]]) -> str:
    """Sets of changes by the names of their features, the smallest first."""
    ordered = sorted(map(sorted, found), key=lambda places: (len(places), places))
    return _listed([" + ".join(lattice.features[place] for place in places) or "no change" for places in ordered])


def _listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words) or "none"
    return f"{', '.join(words[:-1])} and {words[-1]}"
