"""One bit for each subset of the moves, 64 subsets to a word: formulas, supersets and minimal sets of all at once.

A subset goes by its number, in which each move has a bit.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from app.core.formula import Changed, Constant, Count, Formula, Not, Odd

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]

# A word holds the subsets of so many moves.
IN_A_WORD = 6
# For each bit of a number, the places in a word of the numbers that are without it.
WITHOUT = tuple(
    np.uint64(word)
    for word in (
        0x5555555555555555,
        0x3333333333333333,
        0x0F0F0F0F0F0F0F0F,
        0x00FF00FF00FF00FF,
        0x0000FFFF0000FFFF,
        0x00000000FFFFFFFF,
    )
)
# For each size the places in a word of the numbers with so many bits.
SIZED = np.array(
    [sum(1 << number for number in range(64) if number.bit_count() == size) for size in range(IN_A_WORD + 1)],
    dtype=np.uint64,
)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)


def holding(formula: Formula, bit_of: Callable[[int], int], words: NDArray[np.int64]) -> Words:
    """Which subsets satisfy the formula, in these words; `bit_of` says which bit of a number stands for a move."""
    match formula:
        case Constant(value):
            return np.full(len(words), ALL if value else NONE)
        case Changed(position):
            return _changed(bit_of(position), words)
        case Not(part):
            return ~holding(part, bit_of, words)
        case Odd(parts):
            odd = np.zeros(len(words), dtype=np.uint64)
            for part in parts:
                odd ^= holding(part, bit_of, words)
            return odd
        case Count(low, high, parts):
            return _counted(low, high, [holding(part, bit_of, words) for part in parts], len(words))


def _changed(bit: int, words: NDArray[np.int64]) -> Words:
    if bit < IN_A_WORD:
        return np.full(len(words), ~WITHOUT[bit])
    return np.where(words >> (bit - IN_A_WORD) & 1, ALL, NONE)


def _counted(low: int, high: int, parts: Sequence[Words], length: int) -> Words:
    """Count in binary, one array a digit, for all subsets of a word at once."""
    digits = [np.zeros(length, dtype=np.uint64) for _ in range(len(parts).bit_length())]
    for part in parts:
        carry = part
        for place, digit in enumerate(digits):
            digits[place], carry = digit ^ carry, digit & carry
    return _at_least(low, digits, length) & ~_at_least(high + 1, digits, length)


def _at_least(number: int, digits: Sequence[Words], length: int) -> Words:
    if number <= 0:
        return np.full(length, ALL)
    if number.bit_length() > len(digits):
        return np.full(length, NONE)
    more, same = np.full(length, NONE), np.full(length, ALL)
    for place in range(len(digits) - 1, -1, -1):
        if number >> place & 1:
            same &= digits[place]
        else:
            more |= same & digits[place]
            same &= ~digits[place]
    return more | same


def of_size(size: int, words: NDArray[np.int64]) -> Words:
    """The subsets of so many moves, in these words."""
    left = size - np.bitwise_count(words).astype(np.int64)
    return np.where((left >= 0) & (left <= IN_A_WORD), SIZED[np.clip(left, 0, IN_A_WORD)], NONE)


def with_supersets(words: Words, moves: int) -> Words:
    """These subsets and all of their supersets: one move after the other is added to all of them at once."""
    closed = words.copy()
    for bit in range(min(moves, IN_A_WORD)):
        closed |= (closed & WITHOUT[bit]) << np.uint64(1 << bit)
    for bit in range(IN_A_WORD, moves):
        halves = closed.reshape(-1, 2, 1 << (bit - IN_A_WORD))
        halves[:, 1] |= halves[:, 0]
    return closed


def proper_supersets(words: Words, moves: int) -> Words:
    """The supersets alone."""
    closed = with_supersets(words, moves)
    larger = np.zeros_like(closed)
    for bit in range(min(moves, IN_A_WORD)):
        larger |= (closed & WITHOUT[bit]) << np.uint64(1 << bit)
    for bit in range(IN_A_WORD, moves):
        shape = (-1, 2, 1 << (bit - IN_A_WORD))
        larger.reshape(shape)[:, 1] |= closed.reshape(shape)[:, 0]
    return larger


def numbers_of(words: Words) -> Numbers:
    """The subsets whose bits are set, by number. Most words have none."""
    places = np.flatnonzero(words)
    bits = np.unpackbits(words[places].view(np.uint8).reshape(len(places), 8), axis=1, bitorder="little")
    rows, columns = np.nonzero(bits)
    return (places[rows] << IN_A_WORD) + columns


def of_numbers(numbers: Numbers, moves: int) -> Words:
    """The same the other way round."""
    words = np.zeros(length(moves), dtype=np.uint64)
    np.bitwise_or.at(words, numbers >> IN_A_WORD, np.uint64(1) << (numbers & 63).astype(np.uint64))
    return words


def length(moves: int) -> int:
    """How many words there are."""
    return int(2 ** max(0, moves - IN_A_WORD))


def is_set(words: Words, numbers: Numbers) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = words[numbers >> IN_A_WORD] >> (numbers & 63).astype(np.uint64) & np.uint64(1) == 1
    return found
