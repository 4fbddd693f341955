"""Normal ranges, the target of an abnormal value, and the choice of the range that applies to a person."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol, TypeVar


class Status(StrEnum):
    """A value compared with its normal range."""

    NORMAL = "normal"
    LOW = "low"
    HIGH = "high"
    NOT_ALLOWED = "not_allowed"
    UNKNOWN = "unknown"


class Policy(StrEnum):
    """The point of a normal range that an abnormal value is moved to."""

    NEAREST = "nearest"
    MIDPOINT = "midpoint"
    MARGIN = "margin"
    VALUE = "value"
    STEPS = "steps"
    ANY_OF = "any_of"


@dataclass(frozen=True, slots=True)
class NormalRange:
    """A closed interval [low, high]; a side that is None is open. The paper's [a, b]."""

    low: float | None
    high: float | None

    def status(self, value: float) -> Status:
        if self.low is not None and value < self.low:
            return Status.LOW
        if self.high is not None and value > self.high:
            return Status.HIGH
        return Status.NORMAL

    def flaw(self) -> str | None:
        """Say what is wrong with the interval, if anything is."""
        if self.low is None and self.high is None:
            return "needs a low, a high, or both"
        if self.low is not None and self.high is not None and self.low > self.high:
            return "low is above high"
        return None

    def whole(self) -> "NormalRange":
        """The same range for a feature that only takes whole numbers."""
        return NormalRange(
            None if self.low is None else float(math.ceil(self.low)),
            None if self.high is None else float(math.floor(self.high)),
        )


@dataclass(frozen=True, slots=True)
class Allowed:
    """The normal values of a category, by their codes; an abnormal one moves to the first."""

    codes: tuple[float, ...]

    def status(self, value: float) -> Status:
        return Status.NORMAL if value in self.codes else Status.NOT_ALLOWED


@dataclass(frozen=True, slots=True)
class MoveTo:
    """How the target is chosen inside a range; `amount` belongs to `margin` and `value`.

    `steps` are the values on the way, the nearest first, or the `count` of them if they are evenly spaced. `any_of` has
    its values in `steps` too. The values of a category are its names in a file, and its codes here.
    """

    policy: Policy = Policy.NEAREST
    amount: float = 0.0
    steps: tuple[Any, ...] = ()
    count: int = 0

    def flaw(self, normal: NormalRange) -> str | None:
        """Say why this choice does not fit the range, if it does not."""
        two_sided = normal.low is not None and normal.high is not None
        match self.policy:
            case Policy.MIDPOINT if not two_sided:
                return "midpoint needs a range with a low and a high"
            case Policy.MARGIN if self.amount < 0:
                return "margin must not be negative"
            case Policy.MARGIN if two_sided and 2 * _exact(self.amount) > _width(normal):
                return "margin is more than half the width of the range"
            case Policy.VALUE if normal.status(self.amount) is not Status.NORMAL:
                return "value lies outside the range"
            case Policy.MARGIN if not all(map(math.isfinite, self._ends(normal))):
                return "margin is too large: the target would not be finite"
            case Policy.ANY_OF:
                return "any_of belongs to a category; a number has steps"
            case Policy.STEPS if any(isinstance(step, str) for step in self.steps):
                return "steps of a number must be numbers"
            case Policy.STEPS if self.steps and not _go_one_way(self.steps):
                return "steps must go one way, the nearest first"
            case Policy.STEPS if self.steps and normal.status(self.steps[-1]) is not Status.NORMAL:
                return "the last step lies outside the range"
        return None

    def only_target(self, normal: NormalRange) -> float | None:
        """The target, if it is the same from below and from above: what is missing comes from neither side."""
        ends = set(self._ends(normal))
        return ends.pop() if len(ends) == 1 else None

    def _ends(self, normal: NormalRange) -> list[float]:
        sides = ((normal.low, Status.LOW), (normal.high, Status.HIGH))
        return [self.target(normal, side) for end, side in sides if end is not None]

    def target(self, normal: NormalRange, status: Status) -> float:
        """The value that an abnormal feature is moved to: the paper's eta, generalised.

        Sums are made in decimals, so that 0.3 less a margin of 0.1 is 0.2 and is printed so.
        """
        policy, steps = self.policy, self.steps
        if policy is Policy.NEAREST or (policy is Policy.STEPS and not steps):
            end = normal.low if status is Status.LOW else normal.high
            assert end is not None
            # Plus nought: no negative nought is printed.
            return float(end) + 0.0
        if policy is Policy.VALUE:
            return self.amount
        if steps:
            return float(steps[-1])
        if policy is Policy.MIDPOINT:
            assert normal.low is not None, "a midpoint has two sides"
            assert normal.high is not None, "a midpoint has two sides"
            return _midpoint(normal.low, normal.high)
        margin = _exact(self.amount)
        return float(_low(normal) + margin if status is Status.LOW else _high(normal) - margin)

    def on_the_way(self, value: float, target: float, whole: bool) -> tuple[float, ...]:
        """The values that a number may stop at on the way to its target, the target last."""
        between = evenly_spaced(value, target, self.count) if self.count else self.steps[:-1]
        low, high = min(value, target), max(value, target)
        rounded = [float(math.floor(step + 0.5)) for step in between] if whole else between
        return (*dict.fromkeys(step for step in rounded if low < step < high), target)


@dataclass(frozen=True, slots=True)
class IfMissing:
    """What a missing value would become: this value, or without one what its range or guide leads to."""

    value: float | None = None

    def flaw(self, normal: NormalRange | Allowed, move_to: MoveTo) -> str | None:
        """Say why this does not fit the range, if it does not."""
        is_range = isinstance(normal, NormalRange)
        if self.value is not None and normal.status(self.value) is not Status.NORMAL:
            return "value lies outside the range" if is_range else "value is not one of the allowed values"
        if self.value is None and isinstance(normal, NormalRange) and move_to.only_target(normal) is None:
            return "a missing value is neither low nor high, and the range has a target for each: give a value"
        return None


def whole_target(target: float, normal: NormalRange) -> float:
    """Round a target to the nearest whole number that is still inside the range."""
    inside = normal.whole()
    rounded = math.floor(target + 0.5)
    if inside.high is not None:
        rounded = min(rounded, int(inside.high))
    if inside.low is not None:
        rounded = max(rounded, int(inside.low))
    return float(rounded)


@dataclass(frozen=True, slots=True)
class Equals:
    """A condition on a text, a number or a truth value."""

    value: str | float | bool

    def holds(self, fact: object) -> bool:
        # True == 1 in Python, but in a registry a truth value is not a number.
        return isinstance(fact, bool) == isinstance(self.value, bool) and fact == self.value


# An interval is a condition too: on a number, ends included.
Condition = Equals | NormalRange


class ContextError(Exception):
    """A range cannot be chosen from what the request says of the person."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class ContextLacks(ContextError):
    """A condition needs a fact that the request does not give, and no other range fits."""


class ContextNotANumber(ContextError):
    """A condition on an interval met a fact that is not a number."""


@dataclass(frozen=True, slots=True)
class ConditionalRange:
    """A normal range for people who meet every condition; without conditions, for everyone."""

    normal: NormalRange
    when: Mapping[str, Condition]
    source: str | None = None


class Conditional(Protocol):
    """Anything that applies to people who meet every condition."""

    @property
    def when(self) -> Mapping[str, Condition]:
        """The conditions by the fact that they look at."""
        ...


C = TypeVar("C", bound=Conditional)


def _holds(key: str, condition: Condition, fact: object) -> bool:
    if isinstance(condition, Equals):
        return condition.holds(fact)
    if isinstance(fact, bool) or not isinstance(fact, int | float):
        raise ContextNotANumber(key)
    return condition.status(fact) is Status.NORMAL


def choose(ranges: Sequence[C], facts: Mapping[str, object]) -> C | None:
    """The first range whose conditions hold; None if the person meets none.

    Skips a range whose conditions need unknown facts if a later one fits; otherwise raises `ContextLacks`.
    """
    lacking: str | None = None
    for candidate in ranges:
        when = candidate.when
        if not when:
            return candidate
        # A known fact may already rule a range out, whatever else its conditions need.
        if any(key in facts and not _holds(key, condition, facts[key]) for key, condition in when.items()):
            continue
        missing = [key for key in when if key not in facts]
        if not missing:
            return candidate
        lacking = lacking or missing[0]
    if lacking is not None:
        raise ContextLacks(lacking)
    return None


def evenly_spaced(value: float, target: float, count: int) -> list[float]:
    """What divides the way into so many equal steps; in decimals, of 12 digits at the most."""
    begin, way = _exact(value), _exact(target) - _exact(value)
    return [float(f"{begin + way * place / count:.12g}") for place in range(1, count)]


def _go_one_way(steps: Sequence[float]) -> bool:
    rises = [after > before for before, after in pairwise(steps)]
    return len(set(steps)) == len(steps) and len(set(rises)) <= 1


@lru_cache(maxsize=1024)
def _midpoint(low: float, high: float) -> float:
    """Cached: it is the same for everyone with this range."""
    return float((_exact(low) + _exact(high)) / 2)


def _exact(value: float) -> Decimal:
    return Decimal(repr(value))


def _low(normal: NormalRange) -> Decimal:
    assert normal.low is not None
    return _exact(normal.low)


def _high(normal: NormalRange) -> Decimal:
    assert normal.high is not None
    return _exact(normal.high)


def _width(normal: NormalRange) -> Decimal:
    return _high(normal) - _low(normal)
