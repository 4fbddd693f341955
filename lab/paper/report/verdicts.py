"""Whether the exact answers stay the same best, said in sentences: also where they do not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from lab.paper.report.titles import METHODS, data_set, methods_of, number, sigmas_of
from lab.paper.results import DataSetResults, Mean, Robustness

OURS = "exact"
# The same method in other forms, and no rivals of each other.
RELATED = ("exact", "robust", "published")
Standing = Literal["lowest", "shared", "behind", "unknown"]


def verdicts(results: Sequence[DataSetResults], ours: str = OURS) -> str:
    """How often one of our methods is ahead of every baseline; then, for each data set and change, who has."""
    changes = [_changes(one, ours) for one in results]
    lines = [_summary([found for one in changes for found in one.values()], ours), ""]
    for one, kinds in zip(results, changes, strict=True):
        lines.append(f"- **{data_set(one)}** (`{one.registry}`)")
        lines += [f"  - {words}: {verdict(found, ours)}" for words, found in kinds.items()]
    return "\n".join(lines)


def _changes(results: DataSetResults, ours: str) -> dict[str, dict[str, Robustness]]:
    """Each kind of change in words, and what our method and every baseline showed after it."""
    methods = [method for method in methods_of([results]) if method == ours or method not in RELATED]
    changes = {"after retraining": {method: results.methods[method].changes.retrained for method in methods}}
    for sigma in sigmas_of([results]):
        noisy = {method: results.methods[method].changes.noise for method in methods}
        changes[f"at sigma {sigma:g}"] = {method: found[sigma] for method, found in noisy.items() if sigma in found}
    return changes


def _summary(changes: Sequence[Mapping[str, Robustness]], ours: str) -> str:
    counts = Counter(_standing(found, ours) for found in changes)
    words = [f"is ahead of every baseline in {counts['lowest']} of {len(changes)} comparisons"]
    words += [f"shares it in {counts['shared']}"] if counts["shared"] else []
    words += [f"cannot be compared in {counts['unknown']}"] if counts["unknown"] else []
    compared = f"{METHODS[ours].title} {', '.join(words)} and is behind a baseline in {counts['behind']}."
    others = " and ".join(METHODS[method].title for method in RELATED if method != ours)
    return f"{compared} {others} are the same method in other forms and are not counted among the baselines."


def _standing(found: Mapping[str, Robustness], ours: str) -> Standing:
    known = _known(found)
    others = [_value(mean) for method, mean in known.items() if method != ours]
    if ours not in known or not others:
        return "unknown"
    own = _value(known[ours])
    return "shared" if own == min(others) else "lowest" if own < min(others) else "behind"


def _known(found: Mapping[str, Robustness]) -> dict[str, Mean]:
    return {method: one.inconsistency for method, one in found.items() if one.inconsistency.value is not None}


def verdict(found: Mapping[str, Robustness], method: str = OURS) -> str:
    """One sentence on one kind of change."""
    known = _known(found)
    if method not in known:
        return f"nothing can be said: {METHODS[method].title} has no inconsistency that is defined."
    others = {name: mean for name, mean in known.items() if name != method}
    if not others:
        return "nothing to hold it against: no other method has an inconsistency that is defined."
    ours, lowest = known[method], min(map(_value, others.values()))
    nearest = [name for name, mean in others.items() if _value(mean) == lowest]
    names, other = " and ".join(METHODS[name].title for name in nearest), others[nearest[0]]
    if _value(ours) == lowest:
        return f"{METHODS[method].title} shares the lowest inconsistency, {number(lowest)}, with {names}."
    apart = f"{_difference(_value(ours), lowest)}{_overlap(ours, other)}"
    if _value(ours) < lowest:
        return f"{METHODS[method].title} is ahead of every baseline, {_against(ours, other)} of {names}, {apart}."
    ahead = [name for name, mean in others.items() if _value(mean) < _value(ours) and name not in nearest]
    also = f" Also ahead: {', '.join(METHODS[name].title for name in ahead)}." if ahead else ""
    leads = f"{names} {'is' if len(nearest) == 1 else 'are'} ahead"
    return f"{leads}, {_against(other, ours)} of {METHODS[method].title}, {apart}.{also}"


def _value(mean: Mean) -> float:
    assert mean.value is not None
    return mean.value


def _against(lower: Mean, higher: Mean) -> str:
    """The two means, and on how many people each rests where that differs."""
    if lower.people == higher.people:
        return f"{number(_value(lower))} against {number(_value(higher))}"
    return f"{number(_value(lower))} ({lower.people} people) against {number(_value(higher))} ({higher.people} people)"


def _difference(first: float, second: float) -> str:
    """By how much, and what part of the larger that is."""
    low, high = sorted((first, second))
    return f"lower by {number(high - low)} ({(high - low) / high:.0%})"


def _overlap(first: Mean, second: Mean) -> str:
    """Whether the intervals leave it open which of the two is lower."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return ""
    if first.low <= second.high and second.low <= first.high:
        return "; the 95 % intervals overlap"
    return ""
