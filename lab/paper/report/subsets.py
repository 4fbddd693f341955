"""All subsets of one person's movable features, scored: which of them are minimal, and which maximal."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

MOST = 6


@dataclass(frozen=True)
class Subset:
    """The features that are moved, by position, the score that this gives, and whether that turns the decision."""

    positions: frozenset[int]
    score: float
    favourable: bool


@dataclass(frozen=True)
class Lattice:
    """One person: the names of the movable features, and all 2^n subsets of them."""

    name: str
    features: tuple[str, ...]
    subsets: tuple[Subset, ...]


def minimal(subsets: Collection[Subset]) -> frozenset[frozenset[int]]:
    """The favourable sets that have no favourable proper subset."""
    favourable = [one.positions for one in subsets if one.favourable]
    return frozenset(one for one in favourable if not any(other < one for other in favourable))


def maximal(subsets: Collection[Subset]) -> frozenset[frozenset[int]]:
    """The unfavourable sets that have no unfavourable proper superset."""
    unfavourable = [one.positions for one in subsets if not one.favourable]
    return frozenset(one for one in unfavourable if not any(other > one for other in unfavourable))


def check(features: Sequence[str], subsets: Sequence[Subset]) -> None:
    """Refuse what is not one score for each subset of a few features."""
    if len(features) > MOST:
        raise ValueError(f"{len(features)} features: a diagram of more than {MOST} cannot be read")
    inside = all(one.positions <= set(range(len(features))) for one in subsets)
    if not inside or len(subsets) != 2 ** len(features) or len({one.positions for one in subsets}) != len(subsets):
        raise ValueError(f"each of the {2 ** len(features)} subsets is needed, once")
