"""Sets of moves that take the same ways through all trees: the model adds the same leaves, so it says the same of them.

Where a forest ties with its threshold, only the model knows what it decides, and very many sets tie. They take few
different ways: it is enough to ask about one set of each.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.subsets.masks import Indices, Masks, as_bytes
from app.core.through.searches.groups import gathered
from app.core.through.view import Ways

Kinds = NDArray[np.int16]
Places = NDArray[np.int32]


# Ways that are looked at together: a truth value for each of them and each subset of a part's moves.
AT_A_TIME = 256

# Looks at the clock.
Check = Callable[[], None]


class _Part(NamedTuple):
    """For each subset of some moves: the number of the ways that it takes, and a random word for that number."""

    moves: tuple[int, ...]
    kinds: Kinds
    words: NDArray[np.uint64]


class Alike:
    """Tells which sets of moves take the same ways. A way asks about few moves: groups of them have a table each."""

    def __init__(self, ways: Ways, moves: int, check: Check = lambda: None) -> None:
        rng = np.random.default_rng(0)
        self._parts = [_part(group, made, left, rng, check) for group, made, left in _grouped(ways)]
        self._places = place_tables([part.moves for part in self._parts], moves)
        # The refused sets by their words, which rise.
        self._words = np.zeros(0, dtype=np.uint64)
        self._refused = np.zeros((len(self._parts), 0), dtype=np.int16)

    @property
    def held(self) -> int:
        """Bytes of what is remembered."""
        tables = sum(part.kinds.nbytes + part.words.nbytes for part in self._parts)
        return tables + self._words.nbytes + self._refused.nbytes

    def firsts(self, masks: Masks) -> tuple[Indices, Indices]:
        """The first of all sets that are alike; and for each set which of these it is like."""
        if not len(masks) or not self._parts:
            return np.arange(min(1, len(masks))), np.zeros(len(masks), dtype=np.intp)
        kinds, words = self._kinds(masks)
        order = np.argsort(words, kind="stable")
        # Words may be the same by chance; the ways themselves decide.
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = words[order[1:]] != words[order[:-1]]
        for kind in kinds:
            ordered = kind[order]
            new[1:] |= ordered[1:] != ordered[:-1]
        like = np.empty(len(order), dtype=np.intp)
        like[order] = np.cumsum(new) - 1
        return order[new], like

    def refuse(self, masks: Masks) -> None:
        """Remember that the model does not favour these sets, nor any that is like one of them."""
        kinds, words = self._kinds(masks)
        newer = np.array(kinds, dtype=np.int16).reshape(len(self._parts), len(masks))
        words = np.concatenate([self._words, words])
        order = np.argsort(words, kind="stable")
        self._words = words[order]
        self._refused = np.concatenate([self._refused, newer], axis=1)[:, order]

    def refused(self, masks: Masks) -> Bools:
        """Which of these are like a refused set."""
        if not len(self._words):
            return np.zeros(len(masks), dtype=np.bool_)
        kinds, words = self._kinds(masks)
        at = np.minimum(np.searchsorted(self._words, words), len(self._words) - 1)
        same: Bools = self._words[at] == words
        for kind, known in zip(kinds, self._refused, strict=True):
            same &= known[at] == kind
        return same

    def _kinds(self, masks: Masks) -> tuple[list[Kinds], NDArray[np.uint64]]:
        sets = as_bytes(masks)
        kinds, words = [], np.zeros(len(sets), dtype=np.uint64)
        for number, part in enumerate(self._parts):
            places = self._places[0][number].take(sets[:, 0])
            for byte, table in enumerate(self._places[1:], start=1):
                places += table[number].take(sets[:, byte])
            kinds.append(part.kinds.take(places))
            words += part.words.take(kinds[-1])
        return kinds, words


def place_tables(groups: Sequence[tuple[int, ...]], moves: int) -> list[Places]:
    """For each byte of a set: by group and value of the byte, what it adds to the set's number within the group."""
    tables = [np.zeros((len(groups), 256), dtype=np.int32) for _ in range(max(1, -(-moves // 8)))]
    values = np.arange(256)
    for number, group in enumerate(groups):
        for place, move in enumerate(group):
            held = values >> (7 - move % 8) & 1
            tables[move // 8][number] += (held << (len(group) - 1 - place)).astype(np.int32)
    return tables


def _grouped(ways: Ways) -> list[tuple[tuple[int, ...], Bools, Bools]]:
    """The ways that part sets of moves, few moves at a time: which they make, and which they leave out."""
    scopes, scope_of = np.unique(ways.made | ways.left, axis=0, return_inverse=True)
    places = {tuple(np.flatnonzero(scope).tolist()): place for place, scope in enumerate(scopes)}
    found = []
    for moves, members in gathered([moves for moves in places if moves]):
        own = np.isin(scope_of.reshape(-1), [places[each] for each in members])
        found.append((moves, ways.made[own][:, moves], ways.left[own][:, moves]))
    return found


def _part(moves: tuple[int, ...], made: Bools, left: Bools, rng: np.random.Generator, check: Check) -> _Part:
    subsets = np.arange(2 ** len(moves))
    bits = 1 << np.arange(len(moves) - 1, -1, -1)
    wanted, avoided = np.unique([made @ bits, left @ bits], axis=1)
    kinds, count = np.zeros(len(subsets), dtype=np.intp), 1
    for start in range(0, len(wanted), AT_A_TIME):
        if count == len(subsets):
            # All of them take different ways.
            break
        check()
        some = slice(start, start + AT_A_TIME)
        takes = (subsets[:, None] & (wanted[some] | avoided[some])) == wanted[some]
        kinds, count = _parted(kinds, takes)
    words = rng.integers(0, 2**64, count, dtype=np.uint64)
    return _Part(moves, kinds.astype(np.int16), words)


def _parted(kinds: Indices, takes: Bools) -> tuple[Indices, int]:
    """The kinds, parted further by which of some ways each subset takes; and how many there are now."""
    rows = np.packbits(takes, axis=1)
    _, more = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))).reshape(-1), return_inverse=True)
    different, parted = np.unique(kinds * len(kinds) + more, return_inverse=True)
    return parted, len(different)
