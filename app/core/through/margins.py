"""Where a model's decision lies, in numbers that are sums of tables: along a line, or among several sums."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np

from app.core.favourable import Bools, Favourable
from app.core.subsets.masks import Indices
from app.core.through.decision import Decided, decided
from app.core.through.view import Numbers, Table, View

# Sums that differ from multiples of one sum by no more than this share of its range count as one.
ALIKE = 1e-5
# Points that are looked at in each round of looking for a cut.
POINTS = 257
# No part of a line.
NEVER = (inf, inf)
# The searches add differences of tables, more numbers than there are tables: never more than so many a move or table.
ADDITIONS = 1024


# Bounds on the model's outputs, from bounds on what decides.
Outputs = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]


class Margin(Protocol):
    """Numbers for each subset, and what they say of the decision."""

    @property
    def constant(self) -> Numbers: ...

    @property
    def tables(self) -> Sequence[Table]: ...

    @property
    def sides(self) -> Numbers:
        """One column for each direction that needs an upper bound: how much of each number it takes."""
        ...

    def sorted_out(self, values: Numbers, error: float = 0.0) -> tuple[Bools, Bools]:
        """Which rows of numbers are surely favourable, and of which only the model knows; give or take an error."""
        ...

    def outputs(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Bounds on the model's outputs, from bounds on the numbers."""
        ...

    def possible(self, bounds: Numbers) -> Bools:
        """Whether anything within these bounds, one for each side, may be favourable."""
        ...


class Cuts(NamedTuple):
    """Favourable from `yes_from` to `yes_to`, not up to `no_to` and from `no_from`; elsewhere only the model knows."""

    no_to: float
    yes_from: float
    yes_to: float
    no_from: float


@dataclass(frozen=True, slots=True)
class Line:
    """One number decides. Where one end of the line is favourable, it is the upper one."""

    constant: Numbers
    tables: tuple[Table, ...]
    sides: Numbers
    cuts: Cuts
    outputs: Outputs

    @property
    def is_rising(self) -> bool:
        """Whether more can never turn a favourable decision."""
        return self.cuts.yes_to == inf and self.sides.shape[1] == 1

    def sorted_out(self, values: Numbers, error: float = 0.0) -> tuple[Bools, Bools]:
        value, cuts = values[:, 0], self.cuts
        yes, open_still = value >= cuts.yes_from + error, value > cuts.no_to - error
        if cuts.yes_to < inf or cuts.no_from < inf:
            yes &= value <= cuts.yes_to - error
            open_still &= value < cuts.no_from + error
        return yes, open_still & ~yes

    def possible(self, bounds: Numbers) -> Bools:
        held: Bools = bounds[:, 0] > self.cuts.no_to
        return held if bounds.shape[1] == 1 else held & (-bounds[:, 1] < self.cuts.no_from)


@dataclass(frozen=True, slots=True)
class Space:
    """Several numbers decide together. Each has an upper bound and a lower one."""

    constant: Numbers
    tables: tuple[Table, ...]
    sides: Numbers
    judge: Callable[[Numbers, Numbers], Decided]
    slack: Numbers
    view: View

    def outputs(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        return self.view.outputs(low - self.slack, high + self.slack)

    def sorted_out(self, values: Numbers, error: float = 0.0) -> tuple[Bools, Bools]:
        said = self.judge(values - self.slack - error, values + self.slack + error)
        return said.yes, ~(said.yes | said.no)

    def possible(self, bounds: Numbers) -> Bools:
        forms = len(self.constant)
        possible: Bools = ~self.judge(-bounds[:, forms:] - self.slack, bounds[:, :forms] + self.slack).no
        return possible


def margin_of(view: View, favourable: Favourable, dtype: np.dtype[Any]) -> Line | Space | None:
    """What decides, for outputs of this type; None if the sums are not finite."""
    sums = view.sums
    spread = _Spread.of(sums.constant, sums.tables)
    if not np.isfinite(spread.total).all():
        return None

    def judge(low: Numbers, high: Numbers) -> Decided:
        return decided(favourable, *view.outputs(low, high), dtype)

    slack = spread.total * ((len(sums.tables) + ADDITIONS) * 2.0**-52)
    alike = _alike(spread, slack)
    if alike is not None:
        return _line(spread, alike, lambda low, high: view.outputs(*alike.forms(low, high)), judge)
    eye = np.eye(len(sums.constant))
    return Space(sums.constant, sums.tables, np.hstack([eye, -eye]), judge, slack, view)


@dataclass(frozen=True, slots=True)
class _Spread:
    """The sums, and how far they reach: all tables below each other, and where each one starts."""

    constant: Numbers
    tables: tuple[Table, ...]
    rows: Numbers
    starts: Indices
    low: Numbers
    high: Numbers
    total: Numbers

    @classmethod
    def of(cls, constant: Numbers, tables: tuple[Table, ...]) -> "_Spread":
        if not tables:
            nothing = np.zeros((0, len(constant)))
            return cls(constant, tables, nothing, np.zeros(0, dtype=np.intp), constant, constant, np.abs(constant))
        rows = np.concatenate([table.values for table in tables])
        starts = np.cumsum([0, *(len(table.values) for table in tables[:-1])])
        low, high = (each.reduceat(rows, starts).sum(axis=0) for each in (np.minimum, np.maximum))
        total = np.abs(constant) + np.maximum.reduceat(np.abs(rows), starts).sum(axis=0)
        return cls(constant, tables, rows, starts, constant + low, constant + high, total)

    def with_rows(self, rows: Numbers) -> tuple[Table, ...]:
        """The tables with other rows in the place of theirs."""
        if rows is self.rows:
            return self.tables
        starts = self.starts.tolist()
        parts = map(rows.__getitem__, map(slice, starts, [*starts[1:], None]))
        return tuple(map(Table, [table.moves for table in self.tables], parts))


class _Alike(NamedTuple):
    """Every sum as a multiple of one of them, give or take its `error`."""

    base: int
    offset: Numbers
    slope: Numbers
    error: Numbers

    def forms(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        one, other = low * self.slope + self.offset, high * self.slope + self.offset
        return np.minimum(one, other) - self.error, np.maximum(one, other) + self.error


def _alike(spread: _Spread, slack: Numbers) -> _Alike | None:
    """The sums as multiples of the one that varies most; None if they are not."""
    base = int(np.argmax(spread.high - spread.low))
    forms = len(spread.constant)
    if forms == 1 or not len(spread.rows):
        return _Alike(
            base, np.zeros(forms) if forms == 1 else spread.constant, np.full(forms, float(forms == 1)), slack
        )
    first = spread.rows[spread.starts]
    sizes = np.diff([*spread.starts.tolist(), len(spread.rows)])
    moved = spread.rows - np.repeat(first, sizes, axis=0)
    along = moved[:, base]
    slope = along @ moved / (along @ along or 1.0)
    slope[base] = 1.0
    off = np.maximum.reduceat(np.abs(moved - along[:, None] * slope), spread.starts).sum(axis=0)
    if (off > ALIKE * (spread.high - spread.low)[base]).any():
        return None
    at_start = spread.constant + first.sum(axis=0)
    offset = at_start - slope * at_start[base]
    return _Alike(base, offset, slope, off + 4 * (slack + np.abs(slope) * slack[base]))


def _line(spread: _Spread, alike: _Alike, outputs: Outputs, judge: Callable[[Numbers, Numbers], Decided]) -> Line:
    low, high = float(spread.low[alike.base]), float(spread.high[alike.base])
    slack = float(alike.error[alike.base])
    cuts = _cuts(lambda one, other: judge(*alike.forms(one[:, None], other[:, None])), low - slack, high + slack)
    base = slice(alike.base, alike.base + 1)
    constant, rows = spread.constant[base], spread.rows if len(spread.constant) == 1 else spread.rows[:, base]
    if cuts.no_to == -inf and cuts.no_from < inf:
        # The lower end is favourable: turn the line round.
        cuts, turned = _turned(cuts), spread.with_rows(-rows)
        return Line(-constant, turned, _sides(cuts), cuts, lambda low, high: outputs(-high, -low))
    return Line(constant, spread.with_rows(rows), _sides(cuts), cuts, outputs)


def _sides(cuts: Cuts) -> Numbers:
    return np.array([[1.0, -1.0]] if cuts.no_from < inf else [[1.0]])


def _turned(cuts: Cuts) -> Cuts:
    yes_from, yes_to = NEVER if cuts.yes_from == inf else (-cuts.yes_to, -cuts.yes_from)
    return Cuts(-cuts.no_from, yes_from, yes_to, -cuts.no_to)


def _cuts(judge: Callable[[Numbers, Numbers], Decided], low: float, high: float) -> Cuts:
    """Cuts of the line from `low` to `high`. Each part that they name was judged as a whole."""

    def up_to(points: Numbers, start: float = low) -> Decided:
        return judge(np.full_like(points, start), points)

    def down_to(points: Numbers, end: float = high) -> Decided:
        return judge(points, np.full_like(points, end))

    no_to = _farthest(lambda points: up_to(points).no, low, high)
    no_from = -_farthest(lambda points: down_to(-points).no, -high, -low)
    yes_from = -_farthest(lambda points: down_to(-points).yes, -high, -low)
    if yes_from < inf:
        return Cuts(no_to, yes_from, inf, no_from)
    yes_to = _farthest(lambda points: up_to(points).yes, low, high)
    if yes_to > -inf:
        return Cuts(no_to, -inf, yes_to, no_from)
    return Cuts(no_to, *_between(judge, max(low, no_to), min(high, no_from)), no_from)


def _between(judge: Callable[[Numbers, Numbers], Decided], low: float, high: float) -> tuple[float, float]:
    """A favourable part of the line with both ends unfavourable, as an interval of a regression has it."""
    if not low < high:
        return NEVER
    points = np.linspace(low, high, POINTS)
    held = np.flatnonzero(judge(points, points).yes)
    if not len(held):
        return NEVER
    start = float(points[held[len(held) // 2]])
    top = _farthest(lambda points: judge(np.full_like(points, start), points).yes, start, high)
    bottom = -_farthest(lambda points: judge(-points, np.full_like(points, top)).yes, -start, -low)
    return (bottom, top) if bottom <= top < inf else NEVER


def _farthest(holds: Callable[[Numbers], Bools], low: float, high: float) -> float:
    """The farthest point up to which it holds, from `low` on; infinite if it holds everywhere or nowhere."""
    ends = holds(np.array([low, high]))
    if not ends[0]:
        return -inf
    if ends[1]:
        return inf
    while True:
        points = np.linspace(low, high, POINTS)
        last = int(np.argmin(holds(points))) - 1
        if last < 0 or (points[last] <= low and points[last + 1] >= high):
            return low
        low, high = float(points[last]), float(points[last + 1])
