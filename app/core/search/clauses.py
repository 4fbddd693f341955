"""Formulas as clauses, for a solver that reads nothing else.

Every part of a formula gets a literal that stands for it. A count sorts the literals of its parts, true ones first, and
looks at one or two places: those tell whether enough parts hold, and not too many. Halves are sorted and merged: small
ones by a clause for each pair of places, large ones by their even and their odd places apart (Batcher). A count of n
parts that looks at place k takes at most 2 n (log2 k + 2)^2 clauses. Whatever some parts decide about the others, the
solver concludes without a guess.
"""

from array import array
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from app.core.formula import Changed, Constant, Count, Formula, Not, Odd

# A clause is met by any one of its literals: the number of a variable, negative where it must be false.
Clause = list[int]
# Which half of a literal's meaning is needed: that the formula holds where the literal is true, that it fails where the
# literal is false, or both.
Sense = tuple[bool, bool]
# The work pauses after about so many clauses: 1 to 3 ms.
PAUSE = 1_000
# A pair of halves is merged place by place where that takes at most so many clauses for each of their places.
DIRECT = 4


class Clauses:
    """Clauses as they are written: move i is variable i + 1, and everything else has a higher number."""

    def __init__(self, moves: int) -> None:
        self._moves = moves
        self._last = moves
        # One after the other, each with a nought behind it: a tenth of the memory that lists would take.
        self._written = array("i")
        self.count = 0
        self._pause_at = PAUSE

    def literals(self, formulas: Sequence[Formula], sense: Sense = (True, False)) -> Generator[None, None, list[int]]:
        """The literals that stand for formulas."""
        literals = []
        for formula in formulas:
            literal = yield from self._literal(formula, sense)
            literals.append(literal)
        return literals

    def _literal(self, formula: Formula, sense: Sense) -> Generator[None, None, int]:
        yield from self._pause()
        match formula:
            case Constant(value):
                always = self._new()
                self._add(always)
                return always if value else -always
            case Changed(position):
                return position + 1
            case Not(part):
                return -(yield from self._literal(part, sense[::-1]))
            case Odd(parts):
                return self._odd((yield from self.literals(parts, (True, True))))
            case Count():
                return (yield from self._counted(formula, sense))

    def number(self, literal: int) -> int:
        """The same literal for the solver: there the moves come last, because it decides the highest numbers first."""
        variable = abs(literal)
        number = variable + self._others if variable <= self._moves else variable - self._moves
        return number if literal > 0 else -number

    def blocks(self) -> Iterator[Iterator[Clause]]:
        """All clauses, by the solver's numbers, some at a time; each is made when its turn comes, and kept nowhere."""
        written = np.frombuffer(self._written, dtype=np.intc)
        ends = np.flatnonzero(written == 0)
        first = 0
        for start in range(0, len(ends), PAUSE):
            block = ends[start : start + PAUSE]
            part = written[first : block[-1] + 1]
            variables = np.abs(part)
            numbers = np.where(variables <= self._moves, variables + self._others, variables - self._moves)
            yield _split((numbers * np.sign(part)).tolist(), (block - first).tolist())
            first = block[-1] + 1

    @property
    def _others(self) -> int:
        return self._last - self._moves

    def _pause(self) -> Generator[None, None, None]:
        if self.count >= self._pause_at:
            self._pause_at = self.count + PAUSE
            yield

    def _new(self) -> int:
        self._last += 1
        return self._last

    def _add(self, *literals: int) -> None:
        self._written.extend(literals)
        self._written.append(0)
        self.count += 1

    def _odd(self, literals: list[int]) -> int:
        """One literal after the other: whether their number so far is odd."""
        odd, *others = literals
        for literal in others:
            before, odd = odd, self._new()
            self._add(-odd, before, literal)
            self._add(-odd, -before, -literal)
            self._add(odd, -before, literal)
            self._add(odd, before, -literal)
        return odd

    def _counted(self, count: Count, sense: Sense) -> Generator[None, None, int]:
        parts, low, high = len(count.parts), max(count.low, 0), min(count.high, len(count.parts))
        if low > high or (low == 0 and high == parts):
            return (yield from self._literal(Constant(low <= high), sense))
        # For "at least" a part means what the count does, for "at most" the opposite.
        least, most = low > 0, high < parts
        holds, fails = sense
        sense = (least and holds) or (most and fails), (least and fails) or (most and holds)
        literals = yield from self.literals(count.parts, sense)
        if _places(parts - high, parts - low, parts) < _places(low, high, parts):
            # Fewer places tell how many fail than how many hold.
            literals, sense = [-literal for literal in literals], sense[::-1]
            low, high, least, most = parts - high, parts - low, most, least
        places = yield from self._sorted(literals, _places(low, high, parts), sense)
        if not most:
            return places[low - 1]
        return self._both(places[low - 1], -places[high]) if least else -places[high]

    def _both(self, one: int, other: int) -> int:
        both = self._new()
        self._add(-both, one)
        self._add(-both, other)
        self._add(both, -one, -other)
        return both

    def _sorted(self, literals: list[int], most: int, sense: Sense) -> Generator[None, None, list[int]]:
        """The first places of the literals in order: place k is true where more than k of them are."""
        if len(literals) <= 1:
            return literals
        if most == 1:
            return [self._any(literals, sense)]
        half = len(literals) // 2
        one = yield from self._sorted(literals[:half], most, sense)
        other = yield from self._sorted(literals[half:], most, sense)
        return (yield from self._merged(one, other, most, sense))

    def _any(self, literals: list[int], sense: Sense) -> int:
        found = self._new()
        if sense[0]:
            self._add(-found, *literals)
        if sense[1]:
            for literal in literals:
                self._add(-literal, found)
        return found

    def _merged(self, one: list[int], other: list[int], most: int, sense: Sense) -> Generator[None, None, list[int]]:
        """The first places of two sorted lists together, in order."""
        one, other = one[:most], other[:most]
        if not one or not other:
            return one or other
        yield from self._pause()
        most = min(most, len(one) + len(other))
        if len(one) * len(other) <= DIRECT * (len(one) + len(other)):
            return self._merged_directly(one, other, most, sense)
        # Taken in turn from the even places of both and from the odd ones, only neighbours may stand wrong.
        even = yield from self._merged(one[::2], other[::2], most // 2 + 1, sense)
        odd = yield from self._merged(one[1::2], other[1::2], most // 2, sense)
        places = even[:1]
        for left, right in zip(even[1:], odd, strict=False):
            places += self._ordered(left, right, min(2, most - len(places)), sense)
        rest = even[len(odd) + 1 :] or odd[len(even) - 1 :]
        return (places + rest)[:most]

    def _merged_directly(self, one: list[int], other: list[int], most: int, sense: Sense) -> list[int]:
        places = [self._new() for _ in range(most)]
        for a in range(len(one) + 1):
            for b in range(len(other) + 1):
                if sense[0] and a + b < most:
                    # At most a of the one and b of the other hold: the place after them is false.
                    self._add(-places[a + b], *one[a : a + 1], *other[b : b + 1])
                if sense[1] and 0 < a + b <= most:
                    # At least a of the one and b of the other hold.
                    above = [-literal for literal in (*one[a - 1 : a], *other[b - 1 : b])]
                    self._add(places[a + b - 1], *above)
        return places

    def _ordered(self, left: int, right: int, wanted: int, sense: Sense) -> list[int]:
        """Whether one of two holds, and whether both do; only the first, or neither, where no more are wanted."""
        places = [self._new() for _ in range(wanted)]
        for place in places[:1]:
            if sense[0]:
                self._add(-place, left, right)
            if sense[1]:
                self._add(-left, place)
                self._add(-right, place)
        for place in places[1:]:
            if sense[0]:
                self._add(-place, left)
                self._add(-place, right)
            if sense[1]:
                self._add(-left, -right, place)
        return places


def most_clauses(formula: Formula) -> int:
    """More clauses than this a formula never takes."""
    match formula:
        case Constant():
            return 1
        case Changed():
            return 0
        case Not(part):
            return most_clauses(part)
        case Odd(parts):
            return sum(map(most_clauses, parts)) + 4 * len(parts)
        case Count(low, high, parts):
            count = len(parts)
            places = min(_places(low, high, count), _places(count - high, count - low, count))
            return sum(map(most_clauses, parts)) + 2 * count * (max(places, 0).bit_length() + 1) ** 2 + 3


def _places(low: int, high: int, parts: int) -> int:
    """How many places of the sorted parts tell whether their number is in these bounds."""
    return high + 1 if high < parts else low


def _split(literals: list[int], ends: list[int]) -> Iterator[Clause]:
    starts = (0, *(end + 1 for end in ends))
    return (literals[start:end] for start, end in zip(starts, ends, strict=False))
