"""What follows in every row from what is changed: effects move along with their causes, derived features are computed.

A feature that the plan itself changes is where the plan says. Any other effect moves by the sum over its causes of
factor times what the cause has moved by, its own consequences included; then come the derived features.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from app.core.following.arithmetic import Arithmetic, features_of, result

# The value of each feature, a number or an array of them.
ValueOf = Callable[[int], Any]
# Sums are told in so many digits: 0.31 - 0.02 is 0.29.
DIGITS = 12


class Shift(NamedTuple):
    """An effect that moves along with its cause: by `factor` times what that moves by."""

    cause: int
    effect: int
    factor: float
    # Whether the file that says so lets an effect move that is otherwise immutable.
    even_if_immutable: bool = False


class Cycle(Exception):
    """Features that follow from each other in a ring."""


@dataclass(frozen=True, slots=True, eq=False)
class Following:
    """All that follows: the values before any change, of one person or of many, and how others come about."""

    before: tuple[Any, ...]
    shifts: Mapping[int, tuple[Shift, ...]]
    derived: Mapping[int, Arithmetic]
    whole: frozenset[int] = frozenset()
    # The normal ranges of what follows, where they are known.
    ranges: Mapping[int, tuple[float | None, float | None]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        before: Sequence[Any],
        shifts: Sequence[Shift],
        derived: Mapping[int, Arithmetic],
        whole: frozenset[int] = frozenset(),
        ranges: Mapping[int, tuple[float | None, float | None]] | None = None,
    ) -> "Following":
        """In an order in which everything comes after what it follows from; `Cycle` if there is none."""
        by_effect: dict[int, tuple[Shift, ...]] = {}
        for shift in shifts:
            by_effect[shift.effect] = (*by_effect.get(shift.effect, ()), shift)
        causes = {effect: [shift.cause for shift in own] for effect, own in by_effect.items()}
        parts = {feature: features_of(arithmetic) for feature, arithmetic in derived.items()}
        return cls(
            tuple(before),
            {effect: by_effect[effect] for effect in in_order(causes)},
            {feature: derived[feature] for feature in in_order(parts)},
            whole,
            ranges or {},
        )

    def __contains__(self, feature: object) -> bool:
        return feature in self.shifts or feature in self.derived

    def direct(self, feature: int) -> tuple[int, ...]:
        """What a feature follows from directly: its causes, or what it is computed from."""
        if feature in self.derived:
            return features_of(self.derived[feature])
        return tuple(dict.fromkeys(shift.cause for shift in self.shifts.get(feature, ())))

    def sources(self, features: Sequence[int]) -> tuple[int, ...]:
        """Every feature whose own changes decide the values of these, those among them included."""
        found: dict[int, None] = {}
        open_still = list(features)
        while open_still:
            feature = open_still.pop()
            if feature not in found:
                found[feature] = None
                open_still += self.direct(feature)
        return tuple(sorted(found))

    def follows_any(self, moved: Sequence[int]) -> bool:
        """Whether any value follows from changes of these features."""
        return any(set(self.sources([feature])) & {*moved} - {feature} for feature in (*self.shifts, *self.derived))

    def after(self, own: ValueOf) -> dict[int, Any]:
        """The values of all features that follow; `own` is where each feature is by the plan's own changes."""
        found: dict[int, Any] = {}

        def value_of(feature: int) -> Any:
            return found[feature] if feature in found else own(feature)

        for effect, shifts in self.shifts.items():
            found[effect] = self._moved_along(own(effect), shifts, value_of)
        for feature, arithmetic in self.derived.items():
            value = result(arithmetic, value_of)
            found[feature] = np.rint(value) if feature in self.whole else value
        return found

    def seen(self, own: ValueOf) -> ValueOf:
        """The value of every feature in the row."""
        found = self.after(own)
        return lambda feature: found[feature] if feature in found else own(feature)

    def _moved_along(self, own: Any, shifts: Sequence[Shift], value_of: ValueOf) -> Any:
        before = np.float64(self.before[shifts[0].effect])
        total: Any = before
        moves: Any = np.False_
        with np.errstate(all="ignore"):
            for cause, _, factor, _ in shifts:
                by = value_of(cause) - np.float64(self.before[cause])
                # What was missing has not moved: it has become known.
                has_moved = np.not_equal(by, 0) & ~np.isnan(by)
                total = total + np.where(has_moved, np.float64(factor) * by, 0.0)
                moves = moves | has_moved
        total = np.rint(total) if shifts[0].effect in self.whole else rounded(total)
        # Causes that cancel out leave it where it was, however many digits that has.
        has_left = moves & np.not_equal(total, rounded(before))
        return np.where(np.equal(own, before) & has_left, total, own)


def in_order(parts: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """These features, each after those that it follows from; `Cycle` where there is no such order."""
    left = dict(parts)
    while left:
        ready = [feature for feature, others in left.items() if not any(other in left for other in others)]
        if not ready:
            raise Cycle(next(iter(left)))
        for feature in ready:
            del left[feature]
            yield feature


def rounded(values: Any) -> Any:
    """Numbers with so many digits as are told."""
    with np.errstate(all="ignore"):
        digits = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        # Whole powers of ten are exact, so that what comes out is the number nearest to its decimal.
        scaled = np.where(digits >= 0, np.rint(values * 10.0**digits) / 10.0**digits, values)
    return np.where(np.isfinite(scaled), scaled, values)
